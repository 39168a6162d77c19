"""Every format says everything that it can, in the form that its readers parse."""

from __future__ import annotations

import importlib.util
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema.validators import validator_for

from tests.formats.reports import EVERYTHING, FINE, NET, NOTHING, SOURCES, finding
from tests.samples import BROKEN, STALE
from tests.samples import NET as NET_TEXT
from tsguard.formats import View, render
from tsguard.formats.intervals import drawing, scale
from tsguard.report import (
    BaselineEntry,
    BaselineUse,
    Report,
    ScriptJudgement,
    Speedup,
    TargetReport,
    TraceJudgement,
    Unknown,
)
from tsguard.settings.config import FORMATS

SCHEMA = Path(importlib.util.find_spec("tsguard").origin).parent / "formats" / "report.schema.json"
TOOLS = Path(__file__).parents[2] / "tools"


def shown(report: Report, format: str, **view: bool) -> str:
    return render(report, format, View(SOURCES, **view))


def reaching_into_a_package(target: TargetReport) -> Report:
    """A report on one target, of three findings inside an installed package."""
    chains = {"far": ("a", "b", "c"), "near": ("a",), "farther": ("a", "b", "c", "d")}
    findings = tuple(
        finding(
            message=text,
            path="env/site-packages/lib/blocks.py",
            line=line,
            chain=chain,
            targets=(NET.target,),
        )
        for line, (text, chain) in enumerate(chains.items(), 1)
    )
    return replace(NOTHING, findings=findings, targets=(target,))


def test_a_function_that_goes_on_calling_itself_stands_once_in_the_way_to_a_place():
    chain = ("Net.forward", "scan", "scan", "scan", "combined")
    report = replace(NOTHING, findings=(finding(chain=chain, targets=(NET.target,)),), targets=(NET,))
    assert "Net.forward -> scan (3 times) -> combined" in shown(report, "text")
    assert json.loads(shown(report, "json"))["findings"][0]["chain"] == list(chain)


@pytest.mark.parametrize("format", FORMATS)
def test_an_empty_report_is_well_formed(format):
    text = shown(NOTHING, format)
    if format in ("json", "sarif", "gitlab"):
        json.loads(text)
    elif format == "junit":
        ElementTree.fromstring(text)
    elif format == "html":
        assert "None." in text
    else:
        assert text == ""


@pytest.mark.parametrize("format", [f for f in FORMATS if f not in ("text", "html")])
def test_color_and_verbosity_do_not_touch_what_machines_read(format):
    assert shown(EVERYTHING, format, color=True, quiet=True) == shown(EVERYTHING, format, verbose=True)


@pytest.mark.parametrize("format", ["text", "html"])
def test_verdicts_for_export_stand_under_its_name(format):
    for_export = shown(replace(EVERYTHING, purpose="export"), format)
    gap = r"(\s|<[^>]*>)+"
    heads = {
        purpose: re.compile(rf"target{gap}script{gap}{shown}{gap}mode")
        for purpose, shown in (("trace", "trace"), ("export", f"export{gap}open sizes"))
    }
    assert heads["export"].search(for_export)
    assert not heads["trace"].search(for_export)
    assert heads["trace"].search(shown(EVERYTHING, format))
    assert json.loads(shown(replace(EVERYTHING, purpose="export"), "json"))["purpose"] == "export"


class TestText:
    def test_a_finding(self):
        expected = """\
error[TSG003] [*] "scale" is float, not <Tensor>: 100%, é
 --> pkg/net 1.py:3:3
  |
3 |         scale = 1.0  # 変数
  |         ^^^^^
  = when: norm is None
  = reached: Net.forward -> attend
  = help: write it like this
  = torch: confirms this
"""
        assert shown(EVERYTHING, "text").startswith(expected)

    def test_a_finding_over_several_lines_is_marked_to_the_end_of_the_first(self):
        assert "4 |         return (x +\n  |                ^^^^\n" in shown(EVERYTHING, "text")

    def test_a_place_without_width_has_one_caret(self):
        assert "2 |     def forward(self, x):\n  |                        ^\n" in shown(EVERYTHING, "text")

    def test_wide_characters_take_two_columns(self):
        wide = replace(NOTHING, findings=(finding(column=18, end_column=20),))
        assert "  |                        ^^^^\n" in shown(wide, "text")

    def test_a_line_of_megabytes_is_cut_round_the_place(self):
        long = finding(path="long.py", line=1, column=200_005, end_line=1, end_column=200_006)
        lines = shown(replace(NOTHING, findings=(long,)), "text").splitlines()
        assert lines[3].endswith("+ y")
        assert lines[4].index("^") == lines[3].index("y")
        assert len(lines[3]) < 200

    def test_control_characters_do_not_reach_the_terminal(self):
        evil = replace(NOTHING, findings=(finding(message="a\x1b[2Jb"),))
        assert "\x1b" not in shown(evil, "text")

    def test_one_rule_at_one_place_is_shown_once(self):
        twice = [
            finding(id=i, message=f"{kind} is fixed", help="help")
            for i, kind in enumerate(("dtype", "device"))
        ]
        report = replace(NOTHING, findings=(*twice, finding(id=2, line=4, message="elsewhere")))
        text = shown(report, "text")
        assert text.count("scale = 1.0") == 1
        assert text.count("= help: help") == 1
        assert "error[TSG003] dtype is fixed\n" in text
        assert "  = also: device is fixed\n" in text
        page = shown(report, "html")
        assert page.count('<div class="finding error"') == 2
        assert all(f'id="finding-{i}"' in page for i in range(3))

    @pytest.mark.parametrize("width", [40, 80, 120])
    def test_a_recommendation_is_told_in_full(self, width):
        words = "Script it: equal to eager and 1.50x [1.48, 1.52] in eval on cpu. " * 8 + "Do not trace it."
        report = replace(NOTHING, targets=(replace(FINE, recommendation=words),))
        text = render(report, "text", View(SOURCES, width=width))
        lines = text[text.index("recommendation") :].rstrip("\n").split("\n")
        assert all(len(line) <= width for line in lines)
        assert " ".join(line.strip() for line in lines) == f"recommendation: {words}"

    def test_long_expressions_are_cut(self):
        report = replace(NOTHING, targets=(replace(NET, inputs="--input '" + "torch.rand(3), " * 100 + "'"),))
        assert max(map(len, shown(report, "text").splitlines())) < 200
        assert "torch.rand(3), " * 100 in shown(report, "text", verbose=True)

    def test_of_many_inputs_as_many_are_shown_whole_as_there_is_room_for(self):
        inputs = " ".join(["--input 'torch.randn(2, 3)'"] * 30)
        target = replace(EVERYTHING.targets[0], constructor="Net(3)", inputs=inputs, guessed=True)
        text = shown(replace(EVERYTHING, targets=(target,)), "text")
        line = next(line for line in text.splitlines() if "--input" in line)
        assert line.endswith("'torch.randn(2, 3)' and 27 more --input (guessed; --verbose shows all)")
        assert line.count("--input 'torch.randn(2, 3)'") == 3
        long = replace(
            target, constructor=f"Net({'1, ' * 99})", inputs=f"--input '{'1 + ' * 99}1'", guessed=False
        )
        text = shown(replace(EVERYTHING, targets=(long,)), "text")
        assert " with Net(...) and 1 --input (--verbose shows all)\n" in text

    def test_of_an_installed_package_the_nearest_finding_stands_for_all(self):
        text = shown(reaching_into_a_package(NET), "text")
        assert re.findall(r"^\w+\[.*\] .*", text, re.M) == ["error[TSG003] near"]
        assert "and 2 more inside lib (--verbose lists them)\n" in text

    def test_a_finding_in_ones_own_code_makes_those_inside_packages_superfluous(self):
        report = reaching_into_a_package(NET)
        own = finding(message="own", targets=(NET.target,))
        text = shown(replace(report, findings=(*report.findings, own)), "text")
        assert re.findall(r"^\w+\[.*\] .*", text, re.M) == ["error[TSG003] own"]
        assert "3 findings inside lib (--verbose lists them)\n" in text

    def test_all_findings_inside_packages_are_listed_when_asked(self):
        assert shown(reaching_into_a_package(NET), "text", verbose=True).count("error[TSG003]") == 3
        assert len(json.loads(shown(reaching_into_a_package(NET), "json"))["findings"]) == 3

    def test_nothing_is_folded_of_a_package_that_is_linted_itself(self):
        inside = replace(NET, path="env/site-packages/lib/net.py")
        assert shown(reaching_into_a_package(inside), "text").count("error[TSG003]") == 3

    def test_verdicts_attempts_and_recommendation(self):
        text = shown(EVERYTHING, "text")
        assert re.search(r"pkg/net 1.py:Net  blocked \(1\)  hazardous \(1\)  dependent\n", text)
        assert "pkg/net 1.py:Net with Net(3) --input 'torch.rand(2, 3)' (guessed)\n" in text
        assert re.search(
            r"script +cpu +eval +forward +ok +equal on 2 inputs +1.80x \[1.74, 1.86\] faster\n", text
        )
        assert "differs from eager on sign\n" in text
        assert "pkg/net 1.py:3: RuntimeError: no Tensor\n" in text
        assert "recommendation: Script it.\n" in text

    def test_breakdown(self):
        text = shown(EVERYTHING, "text")
        assert re.search(r"layers.0 +nn.Linear +3 +42% +ok +ok +1.50x \[1.40, 1.60\] faster\n", text)
        assert "  with layers.0 scripted: 1.20x [1.10, 1.30] faster\n" in text
        assert "    (the whole): script: RuntimeError: no Tensor\n" in text
        assert "    drop: not timed: below 2% of the time\n" in text

    def test_speeds_come_with_what_they_were_measured_on(self):
        report = replace(EVERYTHING, environment=(("torch", "2.13.0"), ("threads", "1")))
        assert "\nmeasured with torch 2.13.0, threads 1\n" in shown(report, "text")

    def test_lines_have_no_trailing_blanks(self):
        assert not re.search(r"[ \t]\n", shown(EVERYTHING, "text"))

    def test_color_changes_nothing_but_colour(self):
        colored = shown(EVERYTHING, "text", color=True)
        assert re.sub(r"\x1b\[[\d;]*m", "", colored) == shown(EVERYTHING, "text")

    def test_quiet_shows_findings_only(self):
        assert "recommendation" not in shown(EVERYTHING, "text", quiet=True)

    def test_a_cause_of_unknown_verdicts_is_one_line_for_all_its_targets(self):
        place = Unknown("net.py", 2, "foolib cannot be found", "install it")
        target = TargetReport(
            "net.py:A", "net.py", "A", 5, "module", ScriptJudgement("unknown", (), (place,))
        )
        other = replace(target, target="net.py:B", trace=TraceJudgement("unknown", (), (place,)))
        report = Report("0.1.0", "2.13", targets=(target, other))
        text = shown(report, "text")
        assert "unknown: net.py:2: foolib cannot be found; install it (2 targets)\n" in text
        assert text.count("foolib") == 1
        assert "no blocker was found in the code that was read where the script verdict is unknown\n" in text
        assert [cause["targets"] for cause in json.loads(shown(report, "json"))["causes"]] == [
            ["net.py:A", "net.py:B"]
        ]
        assert report.summary()["unknown"] == 2
        (run,) = json.loads(shown(report, "sarif"))["runs"]
        (note,) = run["invocations"][0]["toolExecutionNotifications"]
        assert (note["level"], note["locations"][0]["physicalLocation"]["region"]) == (
            "note",
            {"startLine": 2},
        )

    def test_what_a_decided_verdict_leaves_open_is_no_cause(self):
        assert "what x is" not in shown(EVERYTHING, "text", verbose=True)

    def test_of_many_causes_the_first_are_shown(self):
        places = tuple(Unknown("net.py", line, "what x is") for line in range(1, 31))
        target = TargetReport("net.py:A", "net.py", "A", 5, "module", ScriptJudgement("unknown", (), places))
        report = Report("0.1.0", "2.13", targets=(target,))
        assert "and 10 more causes (--verbose shows them)" in shown(report, "text")
        assert shown(report, "text", verbose=True).count("what x is") == 30

    def test_of_many_targets_those_to_look_at_are_shown(self):
        many = replace(
            EVERYTHING, targets=(*EVERYTHING.targets, *[replace(FINE, target=f"{n}:F") for n in range(30)])
        )
        assert "and 31 more (--verbose shows them)" in shown(many, "text")
        assert "17:F" in shown(many, "text", verbose=True)


def test_concise():
    assert shown(EVERYTHING, "concise").splitlines() == [
        'pkg/net 1.py:3:3: TSG003 [*] "scale" is float, not <Tensor>: 100%, é (when norm is None)',
        "pkg/net 1.py:4:16: TSG003 message",
        "pkg/net 1.py:2:24: TSG777 message",
    ]


def test_github():
    first, second, third = shown(EVERYTHING, "github").splitlines()
    assert first == (
        "::error title=tsguard (TSG003),file=pkg/net 1.py,line=3,col=3,endLine=3,endColumn=8::"
        'pkg/net 1.py:3:3: TSG003 "scale" is float, not <Tensor>: 100%25, é (when norm is None)'
        "%0Ahelp: write it%0Alike this"
    )
    assert second.startswith("::warning ")
    assert third.startswith("::notice ")


class TestJson:
    @pytest.fixture
    def validator(self):
        schema = json.loads(SCHEMA.read_text())
        kind = validator_for(schema)
        kind.check_schema(schema)
        return kind(schema)

    @pytest.mark.parametrize("report", [EVERYTHING, NOTHING])
    def test_reports_fit_the_shipped_schema(self, validator, report):
        validator.validate(json.loads(shown(report, "json")))

    @pytest.mark.parametrize("report", [EVERYTHING, replace(EVERYTHING, findings=(), targets=())])
    def test_it_is_written_as_json_writes_it(self, report: Report) -> None:
        assert shown(report, "json") == json.dumps(report.to_json(), indent=1) + "\n"

    def test_a_real_run_fits_the_shipped_schema(self, validator, lint, folder):
        for name, text in (("net.py", NET_TEXT), ("stale.py", STALE), ("broken.py", BROKEN)):
            (folder / name).write_text(text)
        validator.validate(lint(".", "gone.py").report)

    def test_the_schema_refuses_what_is_no_report(self, validator):
        damaged = json.loads(shown(EVERYTHING, "json"))
        damaged["targets"][0]["script"]["verdict"] = "perhaps"
        assert not validator.is_valid(damaged)
        assert not validator.is_valid({})

    def test_the_shipped_schema_is_that_of_the_classes(self):
        spec = importlib.util.spec_from_file_location("report_schema", TOOLS / "report_schema.py")
        generator = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(generator)
        assert json.loads(SCHEMA.read_text()) == generator.schema(), "run python tools/report_schema.py"


class TestSarif:
    @pytest.fixture
    def run(self):
        return json.loads(shown(EVERYTHING, "sarif"))["runs"][0]

    def test_rules_come_with_their_pages(self, run):
        known, unknown = run["tool"]["driver"]["rules"]
        assert known["id"] == "TSG003"
        assert "## What it does" in known["help"]["markdown"]
        assert unknown == {"id": "TSG777"}

    def test_results_point_to_places_by_relative_uris(self, run):
        physical = run["results"][0]["locations"][0]["physicalLocation"]
        assert physical["artifactLocation"] == {"uri": "pkg/net%201.py", "uriBaseId": "SRCROOT"}
        assert physical["region"] == {"startLine": 3, "startColumn": 3, "endLine": 3, "endColumn": 8}

    def test_results_have_levels_and_rules(self, run):
        assert [result["level"] for result in run["results"]] == ["error", "warning", "note"]
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])

    def test_fixes_are_edits(self, run):
        (change,) = run["results"][0]["fixes"][0]["artifactChanges"]
        assert change["replacements"][0]["insertedContent"]["text"] == "torch.tensor(1.0)"

    def test_rules_link_to_the_published_page(self, run):
        known, _ = run["tool"]["driver"]["rules"]
        assert known["helpUri"].startswith(run["tool"]["driver"]["informationUri"])
        assert known["helpUri"].endswith("/TSG003-unused-suppression/")

    def test_without_a_baseline_nothing_is_said_of_one(self, run):
        assert not any("baselineState" in result for result in run["results"])

    def test_a_result_in_a_notebook_is_on_its_first_line(self):
        finding = replace(EVERYTHING.findings[0], path="net.ipynb", cell=2, line=9)
        (result,) = json.loads(shown(replace(EVERYTHING, findings=(finding,)), "sarif"))["runs"][0]["results"]
        assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
        assert result["message"]["text"].startswith("(cell 2, line 9)")

    def test_rules_have_severities_that_github_knows(self):
        page = replace(EVERYTHING.findings[0], code="TSG501", severity="info")
        run = json.loads(shown(replace(EVERYTHING, findings=(page,)), "sarif"))["runs"][0]
        assert run["tool"]["driver"]["rules"][0]["properties"]["problem.severity"] in (
            "error",
            "warning",
            "recommendation",
        )

    def test_github_is_told_of_what_is_new_alone(self, monkeypatch):
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        use = BaselineUse(EVERYTHING.findings[1:], (BaselineEntry("pkg/old.py", "TSG003", "0" * 32),))
        report = replace(EVERYTHING, findings=EVERYTHING.findings[:1], baseline=use)
        results = json.loads(shown(report, "sarif"))["runs"][0]["results"]
        assert [result["baselineState"] for result in results] == ["new"]

    def test_a_baseline_tells_what_is_new_known_and_gone(self, monkeypatch):
        monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
        gone = BaselineEntry("pkg/old.py", "TSG003", "0" * 32)
        use = BaselineUse(accepted=EVERYTHING.findings[1:], stale=(gone,))
        report = replace(EVERYTHING, findings=EVERYTHING.findings[:1], baseline=use)
        results = json.loads(shown(report, "sarif"))["runs"][0]["results"]
        assert [result["baselineState"] for result in results] == ["new", "unchanged", "unchanged", "absent"]
        assert ["suppressions" in result for result in results] == [False, True, True, False]

    @pytest.mark.parametrize("baseline", [None, BaselineUse(EVERYTHING.findings[:1])])
    def test_it_holds_to_the_schema(self, baseline):
        schema = json.loads(Path(__file__).with_name("sarif-schema-2.1.0.json").read_text())
        log = json.loads(shown(replace(EVERYTHING, baseline=baseline), "sarif"))
        validator = validator_for(schema)
        assert [error.message for error in validator(schema).iter_errors(log)] == []

    def test_what_could_not_be_done_is_a_notification(self, run):
        (invocation,) = run["invocations"]
        assert not invocation["executionSuccessful"]
        assert "gone.py" in invocation["toolExecutionNotifications"][0]["message"]["text"]

    def test_fingerprints_survive_lines_added_above(self, tsguard, folder):
        def marks(text: str) -> list[str]:
            (folder / "stale.py").write_text(text)
            log = json.loads(tsguard("lint", "--output-format", "sarif", ".").out)
            return [result["partialFingerprints"]["tsguard/v1"] for result in log["runs"][0]["results"]]

        before = marks(STALE * 2)
        assert marks("y = 2\n" + STALE * 2) == before
        assert len(set(before)) == 2


def test_gitlab(tsguard, folder):
    issues = json.loads(shown(EVERYTHING, "gitlab"))
    assert [issue["severity"] for issue in issues] == ["major", "minor", "info"]
    assert issues[1]["location"] == {
        "path": "pkg/net 1.py",
        "positions": {"begin": {"line": 4, "column": 16}, "end": {"line": 5, "column": 23}},
    }
    assert len({issue["fingerprint"] for issue in issues}) == 3


class TestJunit:
    @pytest.fixture
    def root(self):
        return ElementTree.fromstring(shown(EVERYTHING, "junit"))

    def failed(self, suite) -> list[str]:
        return [case.get("name") for case in suite if case.find("failure") is not None]

    def test_each_file_is_a_suite_and_so_is_what_could_not_be_done(self, root):
        assert [suite.get("name") for suite in root] == ["fine.py", "pkg/net 1.py", "tsguard"]

    def test_errors_warnings_and_bad_attempts_fail(self, root):
        assert self.failed(root[1]) == [
            "TSG003:3:3",
            "TSG003:4:16",
            "pkg/net 1.py:Net trace cpu eval forward",
            "pkg/net 1.py:Net script cuda:0 train forward+backward",
        ]
        assert root[1].get("failures") == "4"

    def test_a_target_without_findings_passes(self, root):
        assert [case.get("name") for case in root[0]] == ["fine.py:Fine"]
        assert self.failed(root[0]) == []

    def test_a_skipped_attempt_is_skipped(self, root):
        assert root[1].get("skipped") == "1"

    def test_characters_that_xml_cannot_hold_are_replaced(self):
        evil = replace(NOTHING, findings=(finding(message="a\x00\x1bb"),))
        assert ElementTree.fromstring(shown(evil, "junit"))[0][0].find("failure").get("message") == "a��b"


class TestHtml:
    def test_everything_is_there_and_escaped(self):
        text = shown(EVERYTHING, "html")
        for part in (
            "not &lt;Tensor&gt;",
            "<mark>scale</mark>",
            "Net.forward → attend",
            "Script it.",
            "layers.0",
            "gone.py",
        ):
            assert part in text

    def test_it_needs_no_other_file(self):
        text = shown(EVERYTHING, "html")
        assert not re.search(r"<(link|img|iframe)\b|<script\s|\bsrc=|@import|url\(|fetch\(", text)
        assert "default-src 'none'" in text

    def test_the_answer_comes_first_with_links_to_what_it_is_about(self):
        text = shown(EVERYTHING, "html")
        places = [text.index(f'id="{name}"') for name in ("answers", "targets", "findings", "rules")]
        assert places == sorted(places)
        linked = set(re.findall(r'href="#([^"]+)"', text)) - {"TSG777"}
        assert linked <= set(re.findall(r'id="([^"]+)"', text))
        assert {"target-0", "target-1", "finding-0", "TSG003"} <= linked

    def test_what_made_it_is_told(self):
        view = View(SOURCES, command="tsguard check 'a b.py' --input '<x>'", date="2026-01-02 03:04 UTC")
        text = render(EVERYTHING, "html", view)
        assert "tsguard check &#39;a b.py&#39; --input &#39;&lt;x&gt;&#39;" in text
        assert "2026-01-02 03:04 UTC" in text
        assert "torch 2.13.0" in text

    def test_notes_are_folded(self):
        folded = re.search(r'<details class="notes">.*?</details>', shown(EVERYTHING, "html"), re.DOTALL)
        assert folded is not None
        assert "TSG777" in folded[0]
        assert "TSG003" not in folded[0]

    def test_findings_inside_packages_are_folded(self):
        page = shown(reaching_into_a_package(NET), "html")
        assert "<summary>3 findings inside lib</summary>" in page

    def test_intervals_stand_on_one_axis(self):
        drawings = re.findall(r'<svg class="interval.*?</svg>', shown(EVERYTHING, "html"), re.DOTALL)
        axes = {tuple(re.findall(r"<text[^>]*>([^<]*)</text>", drawing)) for drawing in drawings}
        assert axes == {("0.5x", "1x", "2x")}
        wide = scale([Speedup(6.0, 5.0, 9.0, 20, "faster")])
        assert "1x" in drawing(Speedup(6.0, 5.0, 9.0, 20, "faster"), wide)
        assert wide.x(0.5) < wide.x(1) < wide.x(9) <= 150

    def test_tags_are_balanced(self):
        open_tags: list[str] = []

        class Balance(HTMLParser):
            def handle_starttag(self, tag, attrs):
                if tag not in ("meta", "br", "hr", "input"):
                    open_tags.append(tag)

            def handle_endtag(self, tag):
                assert open_tags.pop() == tag

        Balance().feed(shown(EVERYTHING, "html"))
        assert open_tags == []
