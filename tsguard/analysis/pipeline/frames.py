"""The frames of a module: its functions with the names that each binds, and where calls and loops stand."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Generic, TypeVar

from tsguard.project.bindings import assigned_names
from tsguard.report.records import dataclass, replace
from tsguard.source.walking import children, walked

Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.AsyncFor | ast.While
Node = TypeVar("Node", ast.Call, Loop)


@dataclass(frozen=True, slots=True)
class Bound:
    """A node that binds a name; ``value`` is what it is bound to, where that is all the node says."""

    node: ast.AST
    value: ast.expr | None = None

    @property
    def line(self) -> int:
        """The line of the node; 0 for those that have none (the targets of comprehensions and of ``with``)."""
        return getattr(self.node, "lineno", 0)


@dataclass(eq=False, slots=True, repr=False)
class Frame:
    """The module's own frame, or that of one of its functions; comprehensions and lambdas count as their frame's."""

    node: ast.Module | Function
    parent: Frame | None = None
    cls: ast.ClassDef | None = None
    bound: dict[str, list[Bound]] = field(default_factory=dict)

    def lookup(self, name: str) -> tuple[list[Bound], Frame] | None:
        """All that binds a name, in the nearest frame that does; None where only a builtin may be meant."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.bound:
                return frame.bound[name], frame
            frame = frame.parent
        return None


@dataclass(frozen=True)
class Site(Generic[Node]):
    """A call or a loop, and what it stands in: its frame, the frame's loops around it (outermost first).

    ``guarded`` tells that it runs only where the module is the main program.
    """

    node: Node
    frame: Frame
    loops: tuple[Loop, ...] = ()
    guarded: bool = False


@dataclass(slots=True)
class Survey:
    """All frames, classes, calls and loops of a module."""

    top: Frame
    frames: dict[ast.AST, Frame] = field(default_factory=dict)
    classes: list[tuple[ast.ClassDef, Frame]] = field(default_factory=list)
    calls: list[Site[ast.Call]] = field(default_factory=list)
    loops: list[Site[Loop]] = field(default_factory=list)


def survey(tree: ast.Module) -> Survey:
    """Look at a module once."""
    top = Frame(tree)
    found = Survey(top, {tree: top})
    # A stack instead of recursion: generated code nests deeper than Python calls may.
    todo = _places(tree.body, _Place(top))
    while todo:
        node, place = todo.pop()
        _bind(node, place.frame)
        todo += _look_at(node, place, found)
    return found


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a node stands, as a ``Site`` tells it; ``body_of`` is the class whose body it is in."""

    frame: Frame
    loops: tuple[Loop, ...] = ()
    guarded: bool = False
    body_of: ast.ClassDef | None = None

    @property
    def enclosing(self) -> Frame | None:
        """The frame that functions defined here see: never that of a class body."""
        return self.frame if self.body_of is None else self.frame.parent


_Todo = list[tuple[ast.AST, _Place]]


def _places(nodes: Iterable[ast.AST], place: _Place) -> _Todo:
    """Nodes at a place, the first one on top of the stack."""
    return [(node, place) for node in nodes][::-1]


def _look_at(node: ast.AST, place: _Place, found: Survey) -> _Todo:
    """Note a node down; what is to be looked at next."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return _into_function(node, place, found)
    if isinstance(node, ast.ClassDef):
        return _into_class(node, place, found)
    if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        found.loops.append(Site[Loop](node, place.frame, place.loops, place.guarded))
        repeated = set(map(id, node.body))
        inside = replace(place, loops=(*place.loops, node))
        return [(c, inside if id(c) in repeated else place) for c in children(node)][::-1]
    if isinstance(node, ast.Call):
        found.calls.append(Site[ast.Call](node, place.frame, place.loops, place.guarded))
    elif isinstance(node, ast.If) and _asks_for_main(node.test):
        place = replace(place, guarded=True)
    return _places(children(node), place)


def _into_function(node: Function, place: _Place, found: Survey) -> _Todo:
    inner = Frame(node, place.enclosing, place.body_of or place.frame.cls)
    found.frames[node] = inner
    spec = node.args
    for parameter in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg):
        if parameter is not None:
            inner.bound.setdefault(parameter.arg, []).append(Bound(parameter))
    outside = (*node.decorator_list, *spec.defaults, *filter(None, spec.kw_defaults))
    here = replace(place, loops=())
    return _places(node.body, _Place(inner, guarded=place.guarded)) + _places(outside, here)


def _into_class(node: ast.ClassDef, place: _Place, found: Survey) -> _Todo:
    found.classes.append((node, place.frame))
    body = Frame(ast.Module(body=[], type_ignores=[]), place.enclosing, node)
    inside = _Place(body, guarded=place.guarded, body_of=node)
    return _places(node.body, inside) + _places((*node.decorator_list, *node.bases), replace(place, loops=()))


def _bind(node: ast.AST, frame: Frame) -> None:
    for name, value in _bindings(node):
        frame.bound.setdefault(name, []).append(Bound(node, value))
    if isinstance(node, ast.Global):
        top = frame
        while top.parent is not None:
            top = top.parent
        for name in node.names:
            top.bound.setdefault(name, []).append(Bound(node))


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name, None
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            value = node.value if isinstance(target, ast.Name) else None
            yield from ((name, value) for name in assigned_names(target))
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield from ((name, node.value) for name in assigned_names(node.target))
    elif isinstance(node, ast.NamedExpr):
        yield node.target.id, node.value
    elif isinstance(node, (ast.AugAssign, ast.For, ast.AsyncFor, ast.comprehension)):
        yield from ((name, None) for name in assigned_names(node.target))
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((alias.asname or alias.name.partition(".")[0], None) for alias in node.names)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield from ((name, None) for name in assigned_names(node.optional_vars))
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name, None
    elif isinstance(node, ast.Lambda):
        yield from ((parameter.arg, None) for parameter in node.args.args)


def _asks_for_main(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in walked(test))
