"""From findings of single targets to one report: merged, suppressed, numbered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tsguard.inspection.inspecting import InspectedTarget, Inspection
from tsguard.linting.assembly import condensed, merge, number, suppress
from tsguard.report import Edit, Finding, Fix, ModeJudgement, ScriptJudgement, TargetReport, TraceJudgement
from tsguard.source.sources import Sources

FINDING = Finding(
    code="TSG001",
    name="syntax-error",
    family="script",
    severity="error",
    message="no",
    help=None,
    path="net.py",
    line=4,
    column=9,
    end_line=4,
    end_column=12,
    targets=("net.py:Net",),
)
NET = TargetReport(
    target="net.py:Net",
    path="net.py",
    qualname="Net",
    line=1,
    kind="module",
    script=ScriptJudgement("blocked"),
    trace=TraceJudgement("safe"),
    mode=ModeJudgement("independent"),
)


def inspection(target: TargetReport = NET, whole: bool = True) -> Inspection:
    return Inspection("net.py", whole, targets=(InspectedTarget(target, (), 10),))


def left(text: str, *findings: Finding, judged: Inspection | None = None) -> list[tuple[str, int]]:
    """Code and line of what is left of findings in a file of this text."""
    kept = suppress(findings, [judged or inspection()], Sources({"net.py": text}))
    return [(finding.code, finding.line) for finding in kept]


class TestMerge:
    def test_one_place_in_two_targets_is_one_finding_of_both(self):
        (merged,) = merge([replace(FINDING, targets=("b",)), replace(FINDING, targets=("a",))])
        assert merged.targets == ("a", "b")

    def test_the_shortest_chain_is_shown_whatever_the_order(self):
        long, short = (
            replace(FINDING, chain=chain) for chain in (("A.forward", "f", "g"), ("B.forward", "g"))
        )
        assert merge([long, short]) == merge([short, long])
        assert merge([long, short])[0].chain == ("B.forward", "g")

    def test_what_a_trace_bakes_is_told_once_in_the_words_of_the_nearest_target(self):
        inner, outer = (
            replace(FINDING, family="trace", message=message, chain=chain, targets=(target,))
            for message, chain, target in (
                ("a size of features", ("Head.forward",), "Head"),
                ("a size of images", ("Net.forward", "Head.forward"), "Net"),
            )
        )
        (merged,) = merge([outer, inner])
        assert (merged.message, merged.targets) == ("a size of features", ("Head", "Net"))

    @pytest.mark.parametrize(
        "change",
        [{"line": 5}, {"column": 1}, {"code": "TSG002"}, {"message": "other"}, {"when": "n is None"}],
    )
    def test_what_differs_stays_apart(self, change):
        assert len(merge([FINDING, replace(FINDING, **change)])) == 2

    def test_the_order_is_that_of_path_line_column_code(self):
        ordered = [
            replace(FINDING, path="a.py", line=9),
            replace(FINDING, line=3, column=5),
            replace(FINDING, line=3, column=10),
            replace(FINDING, line=20, code="TSG001"),
            replace(FINDING, line=20, code="TSG002"),
        ]
        assert merge(reversed(ordered)) == ordered

    def test_what_is_merged_file_by_file_is_as_what_is_merged_at_once(self):
        by_name, by_type = (Fix("safe", text, (Edit("net.py", 4, 9, 4, 12, text),)) for text in ("a", "b"))
        ones = [
            replace(FINDING, targets=("a",), chain=("A.forward", "g"), fix=by_name),
            replace(FINDING, targets=("b",), chain=("B.forward", "h", "g"), fix=by_type),
            replace(FINDING, targets=("c",), chain=("C.forward",), fix=by_name),
            replace(FINDING, targets=("d",), line=5, fix=by_name),
        ]
        for at in range(len(ones) + 1):
            assert merge([*merge(ones[:at]), *merge(ones[at:])]) == merge(ones)

    def test_targets_of_a_file_do_not_hold_what_is_merged(self):
        found = replace(inspection(), targets=(InspectedTarget(NET, (FINDING,), 10),))
        assert condensed(found).merged == (FINDING,)
        assert [target.findings for target in condensed(found).targets] == [()]
        assert condensed(condensed(found)) == condensed(found)


class TestNumber:
    def test_targets_refer_to_their_findings_by_family(self):
        findings = [
            replace(FINDING, family="script"),
            replace(FINDING, family="trace", targets=("net.py:Net", "net.py:Other")),
            replace(FINDING, family="mode", targets=("net.py:Other",)),
            replace(FINDING, family="api"),
        ]
        numbered, (net, other) = number(findings, [NET, replace(NET, target="net.py:Other")])
        assert [finding.id for finding in numbered] == [0, 1, 2, 3]
        assert (net.script.findings, net.trace.findings, net.mode.findings) == ((0,), (1,), ())
        assert (other.script.findings, other.trace.findings, other.mode.findings) == ((), (1,), (2,))

    def test_verdicts_stay_though_their_findings_are_gone(self):
        _, (net,) = number([], [NET])
        assert net.script.verdict == "blocked"


class TestSuppress:
    @pytest.mark.parametrize(
        "comment",
        [
            "# tsguard: ignore",
            "# tsguard: ignore[TSG001]",
            "# tsguard: ignore[syntax-error]",
            "# tsguard: ignore[TSG002, TSG001]",
            "# noqa",
            "# noqa: TSG001",
            "# noqa: TSG0",
            "# noqa: E501, TSG001",
        ],
    )
    def test_a_comment_on_the_line_hides_the_finding(self, comment):
        assert ("TSG001", 4) not in left(f"1\n2\n3\n4  {comment}\n", FINDING)

    @pytest.mark.parametrize("comment", ["# tsguard: ignore[TSG002]", "# noqa: E501", "# noqa: TSG002"])
    def test_a_comment_for_other_codes_does_not(self, comment):
        assert ("TSG001", 4) in left(f"1\n2\n3\n4  {comment}\n", FINDING)

    def test_a_comment_on_another_line_does_not(self):
        assert ("TSG001", 4) in left("1\n2\n3  # noqa\n4\n", FINDING)

    @pytest.mark.parametrize("line", [4, 6])
    def test_the_first_and_the_last_line_of_a_finding_serve(self, line):
        text = "".join(f"{n}{'  # noqa' if n == line else ''}\n" for n in range(1, 8))
        assert left(text, replace(FINDING, end_line=6)) == []

    @pytest.mark.parametrize("comment", ["# tsguard: ignore-file", "# tsguard: ignore-file[TSG001]"])
    def test_a_comment_for_the_file_hides_everywhere(self, comment):
        assert left(f"{comment}\n2\n3\n4\n", FINDING, replace(FINDING, line=2, end_line=2)) == []

    def test_a_finding_in_a_file_that_was_not_asked_for_is_hidden_too(self):
        elsewhere = replace(FINDING, path="lib.py", line=1, end_line=1)
        sources = Sources({"net.py": "1\n", "lib.py": "1  # noqa: TSG001\n"})
        assert suppress([elsewhere], [inspection()], sources) == []


class TestUnused:
    @pytest.mark.parametrize(
        "comment", ["# tsguard: ignore", "# tsguard: ignore[TSG001]", "# noqa: TSG001", "# noqa: E501,TSG001"]
    )
    def test_a_comment_that_hides_nothing_is_reported(self, comment):
        assert left(f"1\n2  {comment}\n") == [("TSG003", 2)]

    @pytest.mark.parametrize("comment", ["# noqa", "# noqa: E501", "# noqa: XYZ001"])
    def test_other_tools_comments_are_left_alone(self, comment):
        assert left(f"1\n2  {comment}\n") == []

    @pytest.mark.parametrize("comment", ["# tsguard: ignore[TSG001, TSG002]", "# noqa: TSG001, TSG002"])
    def test_the_unused_code_of_several_is_named(self, comment):
        (unused,) = suppress([FINDING], [inspection()], Sources({"net.py": f"1\n2\n3\n4  {comment}\n"}))
        assert "TSG002" in unused.message
        assert unused.help == "remove TSG002"

    @pytest.mark.parametrize(
        "comment", ["# tsguard: ignore[TSG999]", "# tsguard: ignore[nonsense]", "# noqa: TSG999"]
    )
    def test_a_rule_that_does_not_exist_is_reported_anywhere(self, comment):
        text = "\n" * 20 + f"x  {comment}\n"
        (unused,) = suppress([], [inspection(whole=False)], Sources({"net.py": text}))
        assert "there is no rule" in unused.message

    @pytest.mark.parametrize("comment", ["# tsguard: ignore[TSG905]", "# noqa: TSG9"])
    def test_what_only_an_attempt_can_find_is_left_to_it(self, comment):
        assert left(f"1\n2  {comment}\n") == []

    def test_code_outside_all_targets_may_serve_a_target_elsewhere(self):
        assert left("\n" * 20 + "x  # tsguard: ignore\n") == []

    def test_a_target_of_unknown_verdict_may_hold_what_was_not_seen(self):
        doubtful = replace(NET, trace=TraceJudgement("unknown"))
        assert left("1\n2  # tsguard: ignore\n", judged=inspection(doubtful)) == []

    def test_a_run_of_named_targets_does_not_see_enough(self):
        assert left("1\n2  # tsguard: ignore\n", judged=inspection(whole=False)) == []

    def test_a_comment_for_a_file_is_reported_if_all_its_targets_are_known(self):
        assert left("# tsguard: ignore-file\n") == [("TSG003", 1)]
        assert left("# tsguard: ignore-file\n", judged=Inspection("net.py")) == []
