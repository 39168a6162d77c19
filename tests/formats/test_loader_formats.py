"""What was measured about a DataLoader, as people and programs read it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from tsguard.formats import View, render
from tsguard.report import (
    Attempt,
    AttemptError,
    BatchCost,
    LoaderReport,
    LoaderSettings,
    Report,
    Speedup,
    Throughput,
)
from tsguard.settings.config import FORMATS

FASTER = Speedup(1.97, 1.91, 2.02, 12, "faster")
LOADER = LoaderReport(
    "train.py:loader",
    dataset="Images",
    length=4096,
    batch_size=16,
    collate="gather",
    cores=2,
    cost=BatchCost(16, 196_608, 0.032, 0.016, 0.0004, item_waiting_seconds=0.016),
    collating=(
        Attempt("script", "cpu", "eval", "forward", "failed", AttemptError("RuntimeError", "no <lists>")),
    ),
    throughput=(
        Throughput(0, "ok", 250.4, 241.0, 260.0, 12, 0.04),
        Throughput(2, "ok", 493.1, 471.0, 505.0, 12, 0.2, FASTER),
        Throughput(4, "crashed", error=AttemptError("Crash", "a worker exited with status 3", "train.py", 7)),
    ),
    recommended=LoaderSettings(2, persistent_workers=True),
    gain=FASTER,
    recommendation="num_workers=2: 493 items/s against 250 with 0: 1.97x [1.91, 2.02] faster",
    notes=("other processes used 30% of the cores meanwhile",),
)
REPORT = Report("1.0", "2.13", loaders=(LOADER,))
STOPPED = LoaderReport(
    "train.py:loader",
    step="first batch",
    error=AttemptError("ValueError", "image 3 is corrupt", "train.py", 7),
)


def shown(format: str, report: Report = REPORT) -> str:
    return render(report, format, View())


def test_json_is_as_the_schema_says():
    schema = json.loads((Path(__file__).parents[2] / "tsguard/formats/report.schema.json").read_text())
    value = json.loads(shown("json"))
    jsonschema.validate(value, schema)
    [loader] = value["loaders"]
    assert loader["recommended"]["num_workers"] == 2
    assert loader["collating"][0]["pass"] == "forward"


@pytest.mark.parametrize(
    "said",
    [
        "train.py:loader: Images (map, 4096 items) in batches of 16 by gather",
        "one batch in one process: items 32 ms (50% of it waiting), collate 400 us; 16 items, 197 kB",
        "0 now          250 [241, 260]  40 ms",
        "2 recommended  493 [471, 505]  200 ms       1.97x [1.91, 2.02] faster",
        "train.py:7: Crash: a worker exited with status 3",
        "RuntimeError: no <lists>",
        "note: other processes used 30% of the cores meanwhile",
        "recommendation: num_workers=2",
    ],
)
def test_text_tells_it_in_tables_and_sentences(said: str):
    assert said in shown("text")


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_holds_the_measurement(format: str):
    assert "num_workers=2: 493 items/s against 250 with 0" in shown(format)
    assert "image 3 is corrupt" in shown(format, replace(REPORT, loaders=(STOPPED,)))


def test_junit_counts_what_stopped_as_a_failure():
    suite = ElementTree.fromstring(shown("junit"))[0]
    assert [case.get("name") for case in suite] == [
        "loader",
        "0 now workers",
        "2 recommended workers",
        "4 workers",
    ]
    assert [case.find("failure") is not None for case in suite] == [False, False, False, True]
    stopped = ElementTree.fromstring(shown("junit", replace(REPORT, loaders=(STOPPED,))))[0]
    assert stopped.get("failures") == "1"


def test_annotations_stand_at_the_file():
    assert "::notice title=tsguard loader,file=train.py::train.py:loader: num_workers=2" in shown("github")
    (issue,) = json.loads(shown("gitlab"))
    assert (issue["check_name"], issue["location"]["path"], issue["severity"]) == (
        "loader",
        "train.py",
        "info",
    )
    (stopped,) = json.loads(shown("gitlab", replace(REPORT, loaders=(STOPPED,))))
    assert stopped["severity"] == "major"


def test_text_tells_where_the_measurement_stopped():
    report = replace(REPORT, loaders=(STOPPED,))
    assert "stopped at first batch: train.py:7: ValueError: image 3 is corrupt" in shown("text", report)


def test_html_draws_the_throughput_over_the_workers():
    page = shown("html")
    drawing = re.search(r'<svg class="throughput".*?</svg>', page, re.DOTALL)
    assert drawing is not None
    root = ElementTree.fromstring(drawing[0])
    circles = root.findall("circle")
    assert [circle.find("title").text for circle in circles] == [  # type: ignore[union-attr]
        "0 workers: 250 items/s",
        "2 workers: 493 items/s",
    ]
    assert [circle.get("class") for circle in circles] == [None, "chosen"]
    first, second = circles
    assert float(first.get("cx", 0)) < float(second.get("cx", 0))
    assert float(first.get("cy", 0)) > float(second.get("cy", 0))
    assert root.find("line[@class='cores']") is not None


def test_html_holds_nothing_from_elsewhere_and_escapes_what_it_shows():
    page = shown("html")
    assert "no &lt;lists&gt;" in page
    assert not re.search(r"(src|href)=.(https?:)?//", page.partition("<h2>Rules")[0])


def test_html_of_a_loader_that_could_not_be_measured():
    page = shown("html", replace(REPORT, loaders=(STOPPED,)))
    assert "image 3 is corrupt" in page
    assert "<svg" not in page
