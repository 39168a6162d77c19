"""A file as its top-level statements, and which of them the judgement of one rests on.

What torch.jit makes of a definition hangs on the definitions that its code names, on what
those name, and so on.  Who mentions no name of an edited statement is not concerned by the edit.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator

from tsguard.project.bindings import assigned_names
from tsguard.project.finding import Finder
from tsguard.project.modules import Module
from tsguard.report.records import dataclass
from tsguard.source.functions import first_line

_WORD = re.compile(r"[^\W\d]\w*")
# A longer text is documentation; a shorter one may be an annotation.
_LONGEST = 300
# Functions that the analysis asks every file for.
_ASKED_FOR = ("example_inputs", "get_module", "other_inputs")


@dataclass(frozen=True, slots=True)
class Segment:
    """The lines of a top-level statement; comments up to the next one say nothing of either.

    ``mentions`` are the names in its code.  It is ``common`` to all others where it imports, and
    ``loose`` where it may do something to the names that it mentions.
    """

    first: int
    text: str
    mentions: frozenset[str]
    common: bool
    loose: bool


class Outline:
    """The segments of a file that can be parsed.

    Args:
        before: an earlier outline of the file, from which unchanged segments are taken over.
    """

    def __init__(self, module: Module, before: Outline | None = None) -> None:
        known = {segment.text: segment for segment in before.segments} if before is not None else {}
        self.segments: tuple[Segment, ...] = tuple(_segments(module, known))
        self._firsts = [segment.first for segment in self.segments]
        self._concerned = self._by_name(module)
        self._bound: dict[int, list[str]] = {}
        for name, bindings in module.bindings.items():
            for position in {self.at(binding.node.lineno) for binding in bindings}:
                if not self.segments[position].common:
                    self._bound.setdefault(position, []).append(name)
        # What these are hangs on every statement of the file, not on those that are named.
        self.names = (frozenset(module.bindings), module.changes.nested)

    def _by_name(self, module: Module) -> dict[str, set[int]]:
        """The segments that make a name what it is."""
        found: dict[str, set[int]] = {}
        for name, bindings in module.bindings.items():
            found[name] = {self.at(binding.node.lineno) for binding in bindings}
        for name, nodes in module.changes.registrations.items():
            if not any(_is_described(binding.node) for binding in module.bindings.get(name, ())):
                found.setdefault(name, set()).update(self.at(node.lineno) for node in nodes)
        for position, segment in enumerate(self.segments):
            for name in segment.mentions if segment.loose else ():
                found.setdefault(name, set()).add(position)
        return found

    def at(self, line: int) -> int:
        """The position of the segment that a line lies in."""
        return max(bisect_right(self._firsts, line) - 1, 0)

    def closure(self, line: int) -> tuple[int, ...]:
        """The positions of the segments that the judgement of what is defined at a line rests on."""
        common = [position for position, segment in enumerate(self.segments) if segment.common]
        asked_for = [position for name in _ASKED_FOR for position in self._concerned.get(name, ())]
        todo = [self.at(line), *common, *asked_for]
        found: set[int] = set()
        while todo:
            position = todo.pop()
            if position not in found:
                found.add(position)
                for name in (*self.segments[position].mentions, *self._bound.get(position, ())):
                    todo += self._concerned.get(name, ())
        return tuple(sorted(found))

    def texts(self, positions: tuple[int, ...]) -> tuple[str, ...]:
        """The source of segments."""
        return tuple(self.segments[position].text for position in positions)


def _is_described(node: ast.stmt) -> bool:
    """Whether a statement imports from torch or another package in which nothing is registered."""
    if isinstance(node, ast.Import):
        return all(Finder.is_described(alias.name) for alias in node.names)
    return isinstance(node, ast.ImportFrom) and not node.level and Finder.is_described(node.module or "")


def _segments(module: Module, known: dict[str, Segment]) -> Iterator[Segment]:
    lines = module.file.lines
    for first, nodes in _groups(module.file.tree.body):
        end = max(node.end_lineno or node.lineno for node in nodes)
        text = "\n".join(lines[first - 1 : end]).rstrip()
        same = known.get(text)
        if same is not None:
            yield Segment(first, text, same.mentions, same.common, same.loose)
        else:
            yield Segment(
                first,
                text,
                frozenset(_mentioned(nodes, text)),
                any(isinstance(node, (ast.Import, ast.ImportFrom)) for node in nodes),
                not all(map(_only_binds, nodes)),
            )


def _groups(body: list[ast.stmt]) -> list[tuple[int, list[ast.stmt]]]:
    """The statements with the lines that they begin on, those that share a line together."""
    groups: list[tuple[int, list[ast.stmt]]] = []
    end = 0
    for node in body:
        first = first_line(node)
        if first > end:
            # What stands above the first statement belongs to it.
            groups.append((first if groups else 1, [node]))
        else:
            groups[-1][1].append(node)
        end = node.end_lineno or first
    return groups


def _mentioned(nodes: list[ast.stmt], text: str) -> Iterator[str]:
    """The names in some statements, those in texts that may be annotations among them."""
    if "# type:" in text:
        yield from _WORD.findall(text)
    todo: list[ast.AST] = [*nodes]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) <= _LONGEST:
            yield from _WORD.findall(node.value)
        below = ast.iter_child_nodes(node)
        # What is listed are settings, however much they are called like classes.
        listed = isinstance(node, (ast.Dict, ast.List))
        todo += (each for each in below if not (listed and isinstance(each, ast.Constant)))


def _only_binds(node: ast.stmt) -> bool:
    """Whether a statement does no more than give names their values."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        plain = (ast.Name, ast.Tuple, ast.List)
        return all(isinstance(target, plain) and any(assigned_names(target)) for target in targets)
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom))
