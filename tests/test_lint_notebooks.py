"""Notebooks are linted cell by cell, and never changed."""

from __future__ import annotations

import json

import pytest

from tests.samples import NET

SETUP = "%matplotlib inline\n!pip install torch\nimport torch\nfrom torch import nn\n"
MODEL = """\
class Net(nn.Module):
    def forward(self, x, scale=2.0):
        y = [lambda: 1]
        return x * scale
"""


@pytest.fixture
def notebook(folder):
    """A notebook whose third cell holds a model with a blocker in its third line."""
    cells = [
        {"cell_type": "markdown", "source": "# A model"},
        {"cell_type": "code", "source": SETUP.splitlines(keepends=True)},
        {"cell_type": "code", "source": MODEL},
    ]
    path = folder / "model.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}))
    return path


def test_places_are_named_by_cell_and_line(tsguard, notebook):
    ran = tsguard("lint", "--select", "TSG1", "--output-format", "concise")
    assert "model.ipynb:cell 3:3:14: TSG148 a lambda does not compile\n" in ran.out
    assert ran.status == 1


def test_the_excerpt_is_the_cells_line(tsguard, notebook):
    text = tsguard("lint", "--select", "TSG148").out
    assert " --> model.ipynb:cell 3:3:14\n" in text
    assert "3 |         y = [lambda: 1]\n" in text


def test_the_report_names_cells(lint, notebook):
    report = lint().report
    (found,) = [f for f in report["findings"] if f["code"] == "TSG148"]
    assert (found["path"], found["cell"], found["line"]) == ("model.ipynb", 3, 3)
    (target,) = report["targets"]
    assert (target["target"], target["cell"], target["line"]) == ("model.ipynb:Net", 3, 1)
    assert lint("model.ipynb:Net").targets == ["model.ipynb:Net"]


@pytest.mark.parametrize("format", ["github", "gitlab", "sarif", "junit", "html"])
def test_formats_that_know_no_cells_say_the_cell_in_words(tsguard, notebook, format):
    assert "cell 3" in tsguard("lint", "--output-format", format).out


def test_fix_leaves_notebooks_alone_and_says_so(tsguard, folder, notebook):
    before = notebook.read_bytes()
    (folder / "net.py").write_text(NET)
    for options in (["--fix", "--unsafe-fixes"], ["--diff"], ["--add-ignore"]):
        ran = tsguard("lint", *options)
        assert notebook.read_bytes() == before
        if options != ["--add-ignore"]:
            assert "1 notebook left unchanged" in ran.err
    found = tsguard("lint", "--output-format", "json").report["findings"]
    assert {finding["path"] for finding in found} == {notebook.name}
    assert {finding["fix"] for finding in found} == {None}


def test_comments_suppress_in_cells_and_a_baseline_holds(tsguard, folder, notebook):
    arguments = ("lint", "--select", "TSG1", "--baseline", "known.json")
    assert tsguard(*arguments, "--update-baseline").status == 0
    assert tsguard(*arguments).status == 0
    content = notebook.read_text().replace("[lambda: 1]", "[lambda: 1]  # tsguard: ignore[TSG148]")
    notebook.write_text(content)
    assert "TSG148" not in tsguard("lint").out


def test_what_is_no_notebook_is_a_finding(lint, folder):
    (folder / "bad.ipynb").write_text("{")
    ran = lint()
    assert (ran.status, ran.codes) == (1, ["TSG002"])


def test_a_syntax_error_is_named_by_its_cell(lint, folder, notebook):
    notebook.write_text(notebook.read_text().replace("class Net", "class Net Net"))
    (found,) = lint().report["findings"]
    assert (found["code"], found["cell"], found["line"]) == ("TSG001", 3, 1)


def test_the_cells_beside_a_broken_one_are_linted(lint, notebook):
    content = json.loads(notebook.read_text())
    content["cells"][1:1] = [{"cell_type": "code", "source": text} for text in ("x = = 1\n", "y = (")]
    notebook.write_text(json.dumps(content))
    ran = lint("--select", "TSG0,TSG148")
    places = [(f["code"], f["cell"], f["line"]) for f in ran.report["findings"]]
    assert places == [("TSG001", 2, 1), ("TSG001", 3, 1), ("TSG148", 5, 3)]
    assert ran.targets == ["model.ipynb:Net"]


def test_a_name_that_a_broken_cell_may_define_is_not_said_to_be_missing(lint, notebook):
    content = json.loads(notebook.read_text())
    broken = "def helper(x):\n    return x +\n"
    uses = "class Other(nn.Module):\n    def forward(self, x):\n        return helper(abs(x))\n"
    content["cells"] += [{"cell_type": "code", "source": text} for text in (broken, uses)]
    notebook.write_text(json.dumps(content))
    report = lint().report
    assert [f["code"] for f in report["findings"] if f["cell"] > 3] == ["TSG001"]
    script = report["targets"][1]["script"]
    assert script["verdict"] == "unknown"
    assert "cell 4 does not parse" in script["unknown"][0]["why"]


def test_a_notebook_is_not_read_from_standard_input(tsguard):
    ran = tsguard("lint", "-", "--stdin-filename", "model.ipynb", stdin=b"{}")
    assert ran.status == 2
    assert "pass its file name" in ran.err
