"""What expressions of pipeline code mean: imported names, definitions of the project, constants.

Names of other packages are read off the imports alone, so that no package is opened to
know that ``h5py.File`` is ``h5py.File``, whether it is installed or not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from tsguard.analysis.budgets import DEEPEST_NAME
from tsguard.analysis.pipeline.frames import Bound, Frame, Function, Survey
from tsguard.project.modules import Module
from tsguard.project.project import Definition, External, Project
from tsguard.project.targets import resolve
from tsguard.report.records import dataclass
from tsguard.source.walking import walked

# Packages whose functions the rules know by name.
_KNOWN = frozenset(
    {
        *("torch", "numpy", "torchvision", "torchaudio", "albumentations", "tqdm"),
        *("PIL", "cv2", "h5py", "lmdb", "zipfile", "tarfile", "sqlite3", "pandas", "soundfile"),
        *("librosa", "imageio", "skimage", "random", "os", "multiprocessing", "functools", "time", "secrets"),
        "csv",
    }
)


# A method that assigns an attribute, and what (None: not by a plain assignment).
Assignment = tuple[Function, ast.expr | None]


@dataclass(frozen=True, slots=True, eq=False)
class PipelineNames:
    """The names of one module."""

    project: Project
    module: Module
    survey: Survey
    _attributes: dict[ast.ClassDef, dict[str, list[Assignment]]] = field(default_factory=dict)

    def qualified(self, expression: ast.AST, frame: Frame, depth: int = 0) -> str:
        """The dotted name of a known package's member, such as ``numpy.random.rand``; "" for all else."""
        if depth > DEEPEST_NAME:
            return ""
        if isinstance(expression, ast.Attribute):
            owner = self.qualified(expression.value, frame, depth + 1)
            return f"{owner}.{expression.attr}" if owner else ""
        if not isinstance(expression, ast.Name):
            return ""
        found = frame.lookup(expression.id)
        if found is None:
            return self._elsewhere(expression)
        bounds, where = found
        names = {self._imported(bound, expression.id, where, depth) for bound in bounds}
        return names.pop() if len(names) == 1 else ""

    def _imported(self, bound: Bound, name: str, frame: Frame, depth: int) -> str:
        node = bound.node
        if isinstance(node, ast.Import):
            alias = next(a for a in node.names if (a.asname or a.name.partition(".")[0]) == name)
            return _if_known(alias.name if alias.asname else name)
        if isinstance(node, ast.ImportFrom):
            if node.level or not _if_known(node.module or ""):
                return self._elsewhere(ast.Name(name)) if frame.parent is None else ""
            alias = next(a for a in node.names if (a.asname or a.name) == name)
            return f"{node.module}.{alias.name}"
        if isinstance(bound.value, (ast.Name, ast.Attribute)):
            return self.qualified(bound.value, frame, depth + 1)
        return ""

    def _elsewhere(self, name: ast.Name) -> str:
        """A known package's member that reaches this module through another one of the project."""
        meaning = resolve(self.project, self.module, name)
        return _if_known(meaning.name) if isinstance(meaning, External) else ""

    def definition(self, expression: ast.AST, frame: Frame, depth: int = 0) -> Definition | None:
        """The class or function of the project that an expression names."""
        if isinstance(expression, ast.Name):
            found = frame.lookup(expression.id)
            if found is not None and found[1].parent is not None:
                return self._local_definition(*found)
            if self.qualified(expression, frame):
                return None
        elif not isinstance(expression, ast.Attribute):
            return None
        elif isinstance(expression.value, ast.Name) and expression.value.id in ("self", "cls") and frame.cls:
            member = method(frame.cls, expression.attr)
            return Definition(self.module, member) if member is not None else None
        elif (made := self._made(expression.value, frame, depth)) is not None:
            return self.member(made, expression.attr)
        elif not self._may_be_defined(expression, frame):
            return None
        meaning = resolve(self.project, self.module, expression)
        return meaning if isinstance(meaning, Definition) and _is_definition(meaning.node) else None

    def _made(self, expression: ast.expr, frame: Frame, depth: int = 0) -> Definition | None:
        """The class of the project of which an expression makes, or names, an object."""
        value, where = self.origin(expression, frame)
        if not isinstance(value, ast.Call) or depth > DEEPEST_NAME:  # made by a method of itself
            return None
        found = self.definition(value.func, where, depth + 1)
        return found if found is not None and isinstance(found.node, ast.ClassDef) else None

    def called(self, expression: ast.expr, frame: Frame) -> Definition | None:
        """The function that runs when what an expression stands for is called: an object's ``__call__`` too."""
        made = self._made(expression, frame)
        return self.definition(expression, frame) if made is None else self.member(made, "__call__")

    @staticmethod
    def member(cls: Definition, name: str) -> Definition | None:
        """A method that a class itself defines."""
        found = method(cls.node, name) if isinstance(cls.node, ast.ClassDef) else None
        return Definition(cls.module, found) if found is not None else None

    def _may_be_defined(self, expression: ast.AST, frame: Frame) -> bool:
        root = expression
        while isinstance(root, ast.Attribute):
            root = root.value
        return isinstance(root, ast.Name) and not self.qualified(root, frame)

    def _local_definition(self, bounds: list[Bound], frame: Frame) -> Definition | None:
        [node] = [bound.node for bound in bounds] if len(bounds) == 1 else [None]
        if isinstance(node, ast.ImportFrom) and not _if_known(node.module or ""):
            for alias in node.names:
                meaning = self.project.member(self.module, self.module.absolute(node), alias.name)
                if frame.bound.get(alias.asname or alias.name, [None])[0] is bounds[0]:
                    return meaning if isinstance(meaning, Definition) else None
        return Definition(self.module, node) if isinstance(node, ast.stmt) and _is_definition(node) else None

    def assigned(self, expression: ast.AST, frame: Frame) -> tuple[ast.expr, Frame] | None:
        """The expression that a name or ``self.name`` was last assigned, if only one place can be meant."""
        if isinstance(expression, ast.Name):
            found = frame.lookup(expression.id)
            bound = self._in_force(expression, *found) if found is not None else None
            if found is not None and bound is not None and bound.value is not None:
                return bound.value, found[1]
        elif isinstance(expression, ast.Attribute) and is_self(expression.value) and frame.cls is not None:
            places = self.attributes(frame.cls).get(expression.attr, [])
            if len(places) == 1 and places[0][1] is not None:
                return places[0][1], self.survey.frames.get(places[0][0], frame)
        return None

    def _in_force(self, name: ast.Name, bounds: list[Bound], frame: Frame) -> Bound | None:
        """The binding that a use of a name sees: the only one, or the only one before it."""
        if len(bounds) == 1:
            return bounds[0]
        line = getattr(name, "lineno", 0)
        before = [bound for bound in bounds if bound.line < line]
        later = [bound for bound in bounds if bound.line >= line]
        if len(before) != 1 or any(self._share_a_loop(line, bound.line, frame) for bound in later):
            return None
        return before[0] if self._is_in(name, frame) else None

    def _share_a_loop(self, line: int, other: int, frame: Frame) -> bool:
        spans = (
            (site.node.lineno, site.node.end_lineno or 0) for site in self.survey.loops if site.frame is frame
        )
        return any(first <= line <= last and first <= other <= last for first, last in spans)

    def _is_in(self, name: ast.Name, frame: Frame) -> bool:
        """Whether a use lies in the frame itself, where lines tell the order; not in a function of it."""
        inner = (node for node, f in self.survey.frames.items() if f is not frame and f.parent is not None)
        spans = ((getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)) for node in inner)
        within = [span for span in spans if span[0] <= name.lineno <= span[1]]
        own = (getattr(frame.node, "lineno", 0), getattr(frame.node, "end_lineno", 0))
        return all(span == own or span[0] < own[0] for span in within)

    def attributes(self, cls: ast.ClassDef) -> dict[str, list[Assignment]]:
        """The attributes that the methods of a class assign on ``self``, and where."""
        known = self._attributes.get(cls)
        if known is None:
            known = self._attributes[cls] = {}
            for name, assignment in _attribute_assignments(cls):
                known.setdefault(name, []).append(assignment)
        return known

    def origin(self, expression: ast.expr, frame: Frame) -> tuple[ast.expr, Frame]:
        """The expression itself, or what the name that it is was assigned, and so on."""
        for _ in range(DEEPEST_NAME):
            found = self.assigned(expression, frame)
            if found is None:
                break
            expression, frame = found
        return expression, frame

    def constant(self, expression: ast.expr, frame: Frame) -> Any:
        """The value of a literal, or of a name for one; ``...`` for anything else."""
        expression, _ = self.origin(expression, frame)
        try:
            return ast.literal_eval(expression)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return ...

    def external_bases_of(self, cls: ast.ClassDef) -> set[str]:
        """The bases of a class of this module outside the project."""
        return self.external_bases(Definition(self.module, cls))

    def external_bases(self, definition: Definition, depth: int = 0) -> set[str]:
        """The bases of a class outside the project, its project bases' included; "?" for what cannot be told."""
        found: set[str] = set()
        for base in getattr(definition.node, "bases", ()):
            plain = base.value if isinstance(base, ast.Subscript) else base
            name = self._base_name(definition, plain)
            if name:
                found.add(name)
                continue
            meaning = resolve(self.project, definition.module, plain)
            if (
                isinstance(meaning, Definition)
                and isinstance(meaning.node, ast.ClassDef)
                and depth < DEEPEST_NAME
            ):
                found |= self.external_bases(meaning, depth + 1)
            else:
                found.add("?")
        return found

    def ancestry(self, definition: Definition, depth: int = 0) -> list[ast.ClassDef]:
        """A class and those of the project that it derives from."""
        found = [definition.node] if isinstance(definition.node, ast.ClassDef) else []
        for base in found[0].bases if found and depth < DEEPEST_NAME else ():
            plain = base.value if isinstance(base, ast.Subscript) else base
            meaning = resolve(self.project, definition.module, plain)
            if isinstance(meaning, Definition):
                found += self.ancestry(meaning, depth + 1)
        return found

    def _base_name(self, definition: Definition, base: ast.expr) -> str:
        if definition.module is self.module:
            return self.qualified(base, self.survey.top)
        meaning = resolve(self.project, definition.module, base)
        return meaning.name if isinstance(meaning, External) else ""


def _if_known(name: str) -> str:
    return name if name.partition(".")[0] in _KNOWN else ""


def _is_definition(node: ast.stmt | None) -> bool:
    return isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))


def is_self(expression: ast.AST) -> bool:
    return isinstance(expression, ast.Name) and expression.id == "self"


def method(cls: ast.ClassDef, name: str) -> Function | None:
    """A method that a class itself defines."""
    for node in cls.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            return node
    return None


def methods(cls: ast.ClassDef) -> list[Function]:
    """The methods that a class itself defines."""
    return [node for node in cls.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def _attribute_assignments(cls: ast.ClassDef) -> Iterator[tuple[str, Assignment]]:
    for function in methods(cls):
        for node in walked(function):
            if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = None if isinstance(node, ast.AugAssign) else node.value
            for target in targets:
                for part in walked(target):
                    if isinstance(part, ast.Attribute) and is_self(part.value):
                        yield part.attr, (function, value if part is target else None)
