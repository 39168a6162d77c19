"""``tsguard lint``: what it takes, what it prints, how it exits."""

from __future__ import annotations

import json

import pytest

from tests.samples import BROKEN, NET, STALE


class TestPaths:
    def test_a_file_is_judged_with_all_its_module_classes(self, lint, folder):
        (folder / "net.py").write_text(NET)
        assert lint("net.py").targets == ["net.py:Net", "net.py:Other"]

    def test_a_folder_is_judged_with_all_its_files(self, lint, folder):
        (folder / "pkg").mkdir()
        (folder / "pkg" / "b.py").write_text(NET)
        (folder / "pkg" / "a.py").write_text(NET)
        assert lint("pkg").targets == ["pkg/a.py:Net", "pkg/a.py:Other", "pkg/b.py:Net", "pkg/b.py:Other"]

    def test_standard_input_has_the_name_it_is_given(self, lint, folder):
        ran = lint("-", "--stdin-filename", "pkg/net.py", stdin=NET.encode())
        assert ran.targets == ["pkg/net.py:Net", "pkg/net.py:Other"]

    def test_standard_input_needs_no_name(self, lint):
        assert lint("-", stdin=NET.encode()).targets == ["<stdin>:Net", "<stdin>:Other"]

    def test_standard_input_finds_its_neighbours(self, lint, folder):
        (folder / "base.py").write_text(NET)
        text = b"from base import Net\n\n\nclass Sub(Net):\n    pass\n"
        assert lint("-", "--stdin-filename", "sub.py", stdin=text).targets == ["sub.py:Sub"]

    def test_the_same_file_is_judged_once(self, lint, folder):
        (folder / "net.py").write_text(NET)
        ran = lint("net.py", ".", str(folder / "net.py"))
        assert ran.targets == ["net.py:Net", "net.py:Other"]
        assert ran.report["summary"]["files"] == 1

    def test_paths_below_the_working_folder_are_shown_relative_to_it(self, lint, folder):
        (folder / "net.py").write_text(NET)
        assert lint(str(folder / "net.py")).targets[0] == "net.py:Net"

    def test_a_relative_path_out_of_the_working_folder_stays_relative(self, lint, folder):
        (folder.parent / "net.py").write_text(NET)
        assert lint("../net.py").targets[0] == "../net.py:Net"


class TestTargets:
    @pytest.mark.parametrize(
        "spec",
        [
            "net.py:Net",
            "net.py:Net(64)",
            "net.py:Net(width = 2*8 )",
            "net:Other",
            "pkg.net:Net",
            "net.py:double",
        ],
    )
    def test_a_target_is_shown_as_it_was_given_and_judged_alone(self, lint, folder, spec):
        (folder / "net.py").write_text(NET)
        (folder / "pkg").mkdir()
        (folder / "pkg" / "net.py").write_text(NET)
        ran = lint(spec)
        assert ran.status == 0
        assert ran.targets == [spec]

    def test_a_dotted_target_is_looked_for_in_src(self, lint, folder):
        (folder / "src" / "pkg").mkdir(parents=True)
        (folder / "src" / "pkg" / "__init__.py").write_text(NET)
        ran = lint("pkg:Net")
        assert ran.targets == ["pkg:Net"]
        assert ran.report["targets"][0]["path"] == "src/pkg/__init__.py"

    def test_many_targets_of_one_file(self, lint, folder):
        (folder / "net.py").write_text(NET)
        specs = [f"net.py:Net({width})" for width in range(200)]
        assert lint(*specs).targets == specs

    def test_a_file_and_a_target_in_it_are_both_judged(self, lint, folder):
        (folder / "net.py").write_text(NET)
        assert lint("net.py:Net(3)", "net.py").targets == ["net.py:Net", "net.py:Other", "net.py:Net(3)"]

    def test_an_unknown_target_names_the_nearest_and_the_rest_is_done(self, lint, folder):
        (folder / "net.py").write_text(NET)
        ran = lint("net.py:Nett", "net.py:Other")
        assert ran.status == 2
        assert "did you mean 'Net'" in ran.err
        assert ran.targets == ["net.py:Other"]

    @pytest.mark.parametrize("spec", ["net.py:Net(", "net.py:1 + 1", "net.py:"])
    def test_what_is_no_target_is_said(self, lint, folder, spec):
        (folder / "net.py").write_text(NET)
        ran = lint(spec)
        assert ran.status == 2
        assert "class, function or constructor call" in ran.err

    def test_an_unknown_module_is_said(self, lint):
        ran = lint("no.such.module:Net")
        assert ran.status == 2
        assert "no module no.such.module" in ran.err

    def test_a_target_in_a_folder_is_said(self, lint, folder):
        (folder / "a.py").mkdir()
        ran = lint("a.py:Net")
        assert ran.status == 2
        assert "a target lies in a file" in ran.err
        assert "no Python files" not in ran.err


class TestStatus:
    def test_nothing_found_is_0(self, lint, folder):
        (folder / "net.py").write_text(NET)
        assert lint("net.py").status == 0

    def test_a_warning_is_1(self, lint, folder):
        (folder / "stale.py").write_text(STALE)
        assert lint("stale.py").status == 1

    def test_a_warning_below_the_fail_level_is_0(self, lint, folder):
        (folder / "stale.py").write_text(STALE)
        assert lint("--fail-level", "error", "stale.py").status == 0

    def test_an_unknown_verdict_is_1_where_all_must_be_known(self, lint, folder):
        (folder / "net.py").write_text(f"import foolib\n{NET}")
        assert lint("--require-known", "net.py").status == 0
        unread = "import foolib\n\n\n@torch.jit.script\ndef act(x):\n    return foolib.act(x)\n"
        (folder / "unread.py").write_text(f"import torch\n{unread}")
        assert lint("unread.py").status == 0
        assert lint("--require-known", "unread.py").status == 1
        (folder / "tsguard.toml").write_text("require-known = true\n")
        assert lint("unread.py").status == 1
        assert lint("--exit-zero", "unread.py").status == 0

    def test_exit_zero_is_0_with_findings(self, lint, folder):
        (folder / "broken.py").write_text(BROKEN)
        assert lint("--exit-zero", "broken.py").status == 0

    def test_exit_zero_does_not_hide_what_could_not_be_done(self, lint):
        assert lint("--exit-zero", "missing.py").status == 2

    @pytest.mark.parametrize("option", ["--no-such-option", "--output-format=yaml", "--jobs=-1"])
    def test_a_wrong_option_is_2(self, tsguard, option):
        assert tsguard("lint", option, ".").status == 2


class TestSelection:
    @pytest.fixture(autouse=True)
    def files(self, folder):
        (folder / "broken.py").write_text(BROKEN)
        (folder / "stale.py").write_text(STALE)

    def test_all_rules_are_on(self, lint):
        assert lint(".").codes == ["TSG001", "TSG003"]

    @pytest.mark.parametrize("selector", ["TSG003", "tsg003", "TSG00", "unused-suppression"])
    def test_ignore_takes_codes_beginnings_and_names(self, lint, selector):
        assert "TSG003" not in lint("--ignore", selector, ".").codes

    def test_select_leaves_out_the_others(self, lint):
        assert lint("--select", "TSG001", "stale.py").codes == []

    def test_select_does_not_hide_that_a_file_was_not_judged(self, lint):
        assert lint("--select", "TSG003", ".").codes == ["TSG001", "TSG003"]

    def test_the_longer_beginning_wins(self, lint):
        assert lint("--ignore", "TSG", "--select", "TSG003", ".").codes == ["TSG003"]

    def test_several_codes_in_one_option(self, lint):
        assert lint("--ignore", "TSG001,TSG003", ".").codes == []

    def test_an_unknown_code_names_the_nearest(self, tsguard):
        ran = tsguard("lint", "--select", "TSG0011", ".")
        assert ran.status == 2
        assert "did you mean 'TSG001'" in ran.err

    def test_an_unknown_name_names_the_nearest(self, tsguard):
        ran = tsguard("lint", "--ignore", "unused-supression", ".")
        assert ran.status == 2
        assert "did you mean 'unused-suppression'" in ran.err


class TestOutput:
    def test_findings_go_to_standard_output_and_the_summary_to_standard_error(self, tsguard, folder):
        (folder / "stale.py").write_text(STALE)
        ran = tsguard("lint", "stale.py")
        assert "warning[TSG003]" in ran.out
        assert ran.err == "1 warning; 0 targets in 1 file\n[*] 1 fixable with tsguard lint --fix\n"

    def test_quiet_leaves_the_findings(self, tsguard, folder):
        (folder / "stale.py").write_text(STALE + NET)
        ran = tsguard("lint", "--quiet", "stale.py")
        assert "warning[TSG003]" in ran.out
        assert "Net" not in ran.out
        assert ran.err == ""

    def test_a_file_takes_the_report(self, tsguard, folder):
        (folder / "stale.py").write_text(STALE)
        ran = tsguard("lint", "--output-format", "json", "-o", "report.json", "stale.py")
        assert ran.out == ""
        assert json.loads((folder / "report.json").read_text())["findings"][0]["code"] == "TSG003"

    def test_a_file_that_cannot_be_written_is_said(self, tsguard, folder):
        (folder / "stale.py").write_text(STALE)
        ran = tsguard("lint", "-o", "no/such/folder/report.txt", "stale.py")
        assert ran.status == 2
        assert "cannot be written" in ran.err

    def test_the_environment_chooses_the_format(self, tsguard, folder, monkeypatch):
        (folder / "stale.py").write_text(STALE)
        monkeypatch.setenv("TSGUARD_OUTPUT_FORMAT", "concise")
        assert tsguard("lint", "stale.py").out.startswith("stale.py:1:8: TSG003 ")

    def test_statistics_count_the_rules(self, tsguard, folder):
        (folder / "stale.py").write_text(STALE * 3)
        assert "     3  TSG003  unused-suppression\n" in tsguard("lint", "--statistics", "stale.py").err

    @pytest.mark.parametrize(
        ("arguments", "environment", "colored"),
        [
            ([], {}, False),  # a pipe
            ([], {"FORCE_COLOR": "1"}, True),
            ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
            (["--color", "always"], {"NO_COLOR": "1"}, True),
            (["--color", "never"], {"FORCE_COLOR": "1"}, False),
        ],
    )
    def test_color(self, tsguard, folder, monkeypatch, arguments, environment, colored):
        (folder / "stale.py").write_text(STALE)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        assert ("\x1b[" in tsguard("lint", *arguments, "stale.py").out) is colored


class TestSuppression:
    """On real findings; what counts as a suppression is told in test_suppressions and test_assembly."""

    BLOCKED = """\
import torch


class Blocked(torch.nn.Module):
    def forward(self, x: torch.Tensor, **options: int) -> torch.Tensor:{}
        return 2 * x{}
"""

    def lint(self, lint, folder, first: str, second: str = "", *arguments: str):
        (folder / "net.py").write_text(self.BLOCKED.format(first, second))
        return lint(*arguments, "net.py")

    def test_without_one_the_finding_is_reported(self, lint, folder):
        assert self.lint(lint, folder, "").codes == ["TSG103"]

    @pytest.mark.parametrize(
        "comment", ["  # tsguard: ignore[TSG103]", "  # noqa: TSG103", "  # tsguard: ignore"]
    )
    def test_the_finding_is_hidden_and_the_verdict_stays(self, lint, folder, comment):
        ran = self.lint(lint, folder, comment)
        assert (ran.codes, ran.status) == ([], 0)
        judged = ran.report["targets"][0]["script"]
        assert (judged["verdict"], judged["findings"], judged["unknown"]) == ("blocked", [], [])

    def test_selection_leaves_the_verdict_too(self, lint, folder):
        ran = self.lint(lint, folder, "", "", "--ignore", "TSG1")
        assert ran.report["targets"][0]["script"]["verdict"] == "blocked"

    def test_one_that_hides_nothing_is_reported(self, lint, folder):
        ran = self.lint(lint, folder, "  # tsguard: ignore[TSG103]", "  # tsguard: ignore[TSG103]")
        assert [(f["code"], f["line"]) for f in ran.report["findings"]] == [("TSG003", 6)]

    def test_one_that_is_needed_for_a_rule_that_is_off_is_not(self, lint, folder):
        assert self.lint(lint, folder, "  # tsguard: ignore[TSG103]", "", "--ignore", "TSG103").codes == []

    def test_add_ignore_hides_all_that_is_found(self, lint, folder):
        assert self.lint(lint, folder, "", "", "--add-ignore").status == 0
        assert "  # tsguard: ignore[TSG103]\n" in (folder / "net.py").read_text()
        assert lint("net.py").codes == []


class TestBaseline:
    def test_accepted_findings_are_not_reported_again(self, lint, folder):
        (folder / "stale.py").write_text(STALE)
        assert lint("--baseline", "accepted.json", "--update-baseline", ".").status == 0
        assert lint("--baseline", "accepted.json", ".").codes == []

    def test_a_new_finding_is(self, lint, folder):
        (folder / "stale.py").write_text(STALE)
        lint("--baseline", "accepted.json", "--update-baseline", ".")
        (folder / "stale.py").write_text(f"y = 2\n{STALE}z = 3  # tsguard: ignore[TSG998]\n")
        ran = lint("--baseline", "accepted.json", ".")
        assert ran.status == 1
        assert [finding["line"] for finding in ran.report["findings"]] == [3]

    def test_a_second_finding_like_an_accepted_one_is_new(self, lint, folder):
        (folder / "stale.py").write_text(STALE)
        lint("--baseline", "accepted.json", "--update-baseline", ".")
        (folder / "stale.py").write_text(STALE * 2)
        assert lint("--baseline", "accepted.json", ".").codes == ["TSG003"]

    def test_it_serves_from_any_working_folder(self, lint, folder, monkeypatch):
        (folder / "pkg").mkdir()
        (folder / "pkg" / "stale.py").write_text(STALE)
        lint("--baseline", "accepted.json", "--update-baseline", ".")
        monkeypatch.chdir(folder / "pkg")
        assert lint("--baseline", "../accepted.json", "stale.py").codes == []

    @pytest.mark.parametrize("content", [None, "not json", "[]", '{"version": 99, "findings": []}'])
    def test_a_file_that_is_no_baseline_is_said(self, tsguard, folder, content):
        if content is not None:
            (folder / "accepted.json").write_text(content)
        ran = tsguard("lint", "--baseline", "accepted.json", ".")
        assert ran.status == 2
        assert "--update-baseline" in ran.err

    def test_an_update_needs_the_name_of_the_file(self, tsguard):
        ran = tsguard("lint", "--update-baseline", ".")
        assert ran.status == 2
        assert "--baseline FILE" in ran.err


DYNAMIC = """\
from torch import nn


class Base(nn.Module):
    def forward(self, x, mask):
        return x * mask


class Net(Base):
    pass
"""


class TestInputsWithOpenSizes:
    """``--dynamic`` names an input: one that no target has is an error that tells which there are."""

    @pytest.fixture(autouse=True)
    def net(self, folder):
        (folder / "net.py").write_text(DYNAMIC)

    @pytest.mark.parametrize("target", ["net.py", "net.py:Net", "net.py:Net()"])
    def test_a_name_that_none_has(self, tsguard, target):
        ran = tsguard("lint", "--for", "export", "--dynamic", "image: {0: n}", target)
        assert ran.status == 2
        assert "--dynamic: no input is called 'image'; there are x, mask" in ran.err
        assert "net.py:Net" in ran.out

    def test_a_name_that_is_nearly_one(self, tsguard):
        ran = tsguard("lint", "--for", "export", "--dynamic", "maks[0]: {0: n}", "net.py")
        assert "no input is called 'maks'; did you mean 'mask'?" in ran.err

    def test_names_that_there_are(self, tsguard):
        ran = tsguard(
            "lint", "--for", "export", "--dynamic", "mask: {0: n}", "--dynamic", "x: {0: n}", "net.py"
        )
        assert (ran.status, "no input" in ran.err) == (0, False)

    def test_the_configuration_may_be_of_other_files(self, tsguard, folder):
        (folder / "tsguard.toml").write_text('dynamic = ["image: {0: n}"]\n')
        ran = tsguard("lint", "--for", "export", "net.py")
        assert (ran.status, "no input" in ran.err) == (0, False)

    def test_an_input_of_any_name(self, tsguard, folder):
        (folder / "net.py").write_text(DYNAMIC.replace("x, mask)", "x, **mask)"))
        ran = tsguard("lint", "--for", "export", "--dynamic", "image: {0: n}", "net.py")
        assert "no input" not in ran.err

    def test_a_report_on_traces_does_not_show_it(self, tsguard):
        assert (
            "--dynamic is about torch.export: pass --for export"
            in tsguard("lint", "--dynamic", "x: {0: n}", "net.py").err
        )
