"""What an editor offers to do about findings: fix, suppress, accept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lsprotocol import types as lsp

from tsguard.editors.places import Places, uri
from tsguard.editors.reading import Reading
from tsguard.fixes.applying import applied
from tsguard.repairing.ignoring import commented
from tsguard.report import Finding, Fix, is_fixable
from tsguard.source.text import lines_of

ACCEPT = "tsguard.addToBaseline"
FIX_ALL = "source.fixAll.tsguard"
KINDS = (lsp.CodeActionKind.QuickFix, FIX_ALL)


@dataclass(frozen=True, slots=True)
class Offer:
    """Actions for one file.

    ``diagnostics`` are those that the client asks about; an action names the ones that it settles.
    """

    reading: Reading
    places: Places
    diagnostics: Sequence[lsp.Diagnostic]

    def actions(self, range: lsp.Range, only: Sequence[str] | None) -> list[lsp.CodeAction]:
        """The actions for a range, of the kinds that are asked for."""
        found: list[lsp.CodeAction] = []
        if _wanted(lsp.CodeActionKind.QuickFix, only):
            here = [f for f in self.reading.findings if _meet(self.places.of(f), range)]
            found += [action for finding in here for action in self._of_finding(finding)]
        if _wanted(FIX_ALL, only):
            found += self._fix_all()
        return found

    def _of_finding(self, finding: Finding) -> Iterator[lsp.CodeAction]:
        settled = [
            d for d in self.diagnostics if d.code == finding.code and d.range == self.places.of(finding)
        ]
        if finding.fix is not None:
            doubt = "" if finding.fix.applicability == "safe" else " (may change what the code does)"
            yield lsp.CodeAction(
                title=f"{finding.code}: {finding.fix.message}{doubt}",
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=settled,
                is_preferred=finding.fix.applicability == "safe",
                edit=self._edit(finding.fix),
            )
        lines, _ = commented(lines_of(self.reading.text), [finding])
        if lines:
            yield lsp.CodeAction(
                title=f"{finding.code}: ignore it on this line",
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=settled,
                edit=self._workspace_edit(self._lines(lines)),
            )
        if self.reading.settings.baseline is not None:
            title = f"{finding.code}: add to the baseline"
            yield lsp.CodeAction(
                title=title,
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=settled,
                command=lsp.Command(title, ACCEPT, arguments=[str(self.reading.path), finding.id]),
            )

    def _fix_all(self) -> Iterator[lsp.CodeAction]:
        fixes = [f.fix for f in self.reading.findings if f.fix is not None and is_fixable(f, unsafe=False)]
        text, count = applied(self.reading.file, fixes)
        if count:
            path = str(self.reading.path)
            yield lsp.CodeAction(
                title=f"tsguard: make all {count} safe fixes",
                kind=FIX_ALL,
                edit=self._workspace_edit([lsp.TextEdit(self.places.whole(path), text)]),
            )

    def _edit(self, fix: Fix) -> lsp.WorkspaceEdit:
        changes: dict[str, list[lsp.TextEdit]] = {}
        for edit in fix.edits:
            changes.setdefault(uri(edit.path), []).append(lsp.TextEdit(self.places.of(edit), edit.content))
        return lsp.WorkspaceEdit(changes=changes)

    def _lines(self, lines: dict[int, str]) -> Iterator[lsp.TextEdit]:
        path = str(self.reading.path)
        for number, text in lines.items():
            code = self.places.line(path, number)
            start = lsp.Position(code.start.line, 0)
            end = lsp.Position(code.start.line, self.places.width(path, number))
            yield lsp.TextEdit(lsp.Range(start, end), text.rstrip("\r\n"))

    def _workspace_edit(self, edits: Iterable[lsp.TextEdit]) -> lsp.WorkspaceEdit:
        return lsp.WorkspaceEdit(changes={uri(str(self.reading.path)): list(edits)})


def _wanted(kind: str, only: Sequence[str] | None) -> bool:
    """Whether a kind, or one above it, is asked for."""
    return only is None or any(kind == wanted or kind.startswith(f"{wanted}.") for wanted in only)


def _meet(one: lsp.Range, other: lsp.Range) -> bool:
    return one.start <= other.end and other.start <= one.end
