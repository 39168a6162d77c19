"""What code does with a parameter, read in its source: that tells what kind of value it wants.

``config.hidden_size`` wants an object, ``for size in sizes`` a sequence, ``block(64)`` in
a constructor a class, ``mode == "sum"`` a text. A parameter that is only passed on is
used as the function that gets it uses it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tsguard.runtime.budgets import DEEPEST_USE
from tsguard.runtime.worker.inputs.declared import in_python

_OF_SEQUENCES = {
    "len",
    "enumerate",
    "zip",
    "sum",
    "tuple",
    "list",
    "reversed",
    "sorted",
    "map",
    "set",
    "iter",
}
_COPIES = {"list", "tuple", "nn.ModuleList", "torch.nn.ModuleList", "ModuleList"}
_OF_PATHS = {"open", "os.path.join", "os.path.exists", "Path", "pathlib.Path", "torch.load"}


@dataclass(slots=True)
class Use:
    """What was seen.

    ``attributes`` and ``keys`` are read of the value, each with what is done with them;
    ``makes`` is the number of arguments of a call in a constructor (what is called there
    is a class or a factory), ``called`` tells of a call elsewhere, ``calls`` how many
    arguments such calls give and which keywords, ``unpacked`` into how many parts their
    results are taken apart; ``length`` is the
    least length of a sequence, 0 where it may be any, ``items`` tells that they are taken one by one; ``texts`` are strings that it is
    compared with, ``annotations`` the types that the functions declare which get it;
    ``none`` tells that it is compared with None, ``count`` that something is made so many times.
    """

    attributes: dict[str, Use] = field(default_factory=dict)
    keys: dict[str, Use] = field(default_factory=dict)
    makes: int | None = None
    called: bool = False
    calls: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    unpacked: int = 0
    length: int | None = None
    exact: bool = False
    items: bool = False
    elements: Use | None = None
    texts: dict[str, None] = field(default_factory=dict)
    annotations: list[Any] = field(default_factory=list)
    number: bool = False
    none: bool = False
    count: bool = False
    path: bool = False

    def part(self, attribute: str) -> Use:
        return self.attributes.setdefault(attribute, Use())

    def item(self, key: str) -> Use:
        return self.keys.setdefault(key, Use())

    def as_sequence(self, length: int = 0, *, exact: bool = False) -> Use:
        """Note that it is a sequence of at least ``length``; its elements."""
        self.length = max(self.length or 0, length)
        self.exact |= exact
        self.elements = self.elements or Use()
        return self.elements


def use_of(function: Callable[..., Any], name: str, owner: type | None) -> Use:
    """How ``function`` uses its parameter ``name``.

    Args:
        owner: the class whose constructor it is; its methods use what it keeps on self.
    """
    use = Use()
    _read(function, name, owner, use, DEEPEST_USE, making=function.__name__ in ("__init__", "__new__"))
    return use


def _read(
    function: Callable[..., Any], name: str, owner: type | None, use: Use, depth: int, *, making: bool
) -> None:
    tree = _tree(function)
    if tree is None or depth == 0:
        return
    names = vars(sys.modules.get(function.__module__, sys))
    reader = _Reader(names, owner, depth)
    reader.follow(tree, {name: use}, making=making)
    kept = {text: found for text, found in reader.known.items() if text.startswith("self.")}
    for other in _methods(owner) if owner is not None and kept else ():
        method = _tree(other)
        if method is not None and method is not tree:
            reader.follow(method, dict(kept), making=False)


@functools.lru_cache(256)
def _tree(function: Any) -> ast.FunctionDef | None:
    try:
        found = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    return found if isinstance(found, ast.FunctionDef) else None


def _declared(parameter: inspect.Parameter, callee: Any) -> Any:
    """The type that a parameter declares, None if it cannot be told."""
    if not isinstance(parameter.annotation, str):
        return parameter.annotation
    return in_python(parameter.annotation, vars(sys.modules.get(callee.__module__, sys)))


def _methods(owner: type) -> Iterator[Any]:
    return (value for value in vars(owner).values() if inspect.isfunction(value))


def _kept(value: ast.expr) -> ast.expr:
    """What is kept of ``nn.ModuleList(layers)`` or ``list(layers)``: the layers."""
    if isinstance(value, ast.Call) and len(value.args) == 1 and ast.unparse(value.func) in _COPIES:
        return value.args[0]
    return value


class _Reader:
    """Notes what happens to some expressions (``config``, ``self.config``) in a function."""

    def __init__(self, names: dict[str, Any], owner: type | None, depth: int) -> None:
        self.names = names
        self.owner = owner
        self.depth = depth
        self.known: dict[str, Use] = {}
        self.making = False

    def follow(self, tree: ast.FunctionDef, known: dict[str, Use], *, making: bool) -> None:
        self.known = known
        self.making = making
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                self._alias(node)
        for node in ast.walk(tree):
            handler = _HANDLERS.get(type(node))
            if handler is not None:
                handler(self, node)

    def _found(self, node: ast.AST | None) -> Use | None:
        """What is known of an expression, parts of known values included."""
        if isinstance(node, ast.BoolOp):
            return next((u for u in map(self._found, node.values) if u is not None), None)
        if isinstance(node, (ast.Name, ast.Attribute)):
            known = self.known.get(ast.unparse(node))
            if known is not None:
                return known
        if isinstance(node, ast.Attribute):
            whole = self._found(node.value)
            return whole.part(node.attr) if whole is not None else None
        if isinstance(node, ast.Subscript):
            whole = self._found(node.value)
            return self._item(whole, node.slice) if whole is not None else None
        return None

    def _item(self, whole: Use, index: ast.expr) -> Use:
        if isinstance(index, ast.Constant) and isinstance(index.value, str):
            return whole.item(index.value)
        try:
            place = ast.literal_eval(index)
        except (ValueError, TypeError):
            place = None
        if isinstance(place, int):
            whole.items = True
            return whole.as_sequence(place + 1 if place >= 0 else -place)
        elements = whole.as_sequence()
        whole.items |= isinstance(index, ast.Name)
        return whole if isinstance(index, ast.Slice) else elements

    def _alias(self, node: ast.Assign) -> None:
        value = _kept(node.value)
        if isinstance(value, ast.IfExp):
            value = _kept(value.body if self._found(_kept(value.body)) is not None else value.orelse)
        found = self._found(value) if isinstance(value, (ast.Name, ast.Attribute, ast.BoolOp)) else None
        if found is None:
            return
        for target in node.targets:
            if isinstance(target, (ast.Name, ast.Attribute)):
                self.known.setdefault(ast.unparse(target), found)
            elif isinstance(target, ast.Tuple):
                elements = found.as_sequence(len(target.elts), exact=True)
                for element in target.elts:
                    if isinstance(element, (ast.Name, ast.Attribute)):
                        self.known.setdefault(ast.unparse(element), elements)

    def _on_attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Load):
            self._found(node)

    def _on_subscript(self, node: ast.Subscript) -> None:
        self._found(node)
        wanted = self._found(node.slice)
        if wanted is not None:
            self._among(wanted, node.value)

    def _among(self, wanted: Use, table: ast.expr) -> None:
        """The keys of a table that is looked up with it."""
        if isinstance(table, ast.Dict):
            keys = [key.value for key in table.keys if isinstance(key, ast.Constant)]
        else:
            resolved = self._resolved(table)
            keys = list(resolved) if isinstance(resolved, dict) else []
        wanted.texts |= dict.fromkeys(key for key in keys if isinstance(key, str))

    def _on_assign(self, node: ast.Assign) -> None:
        called = self._found(node.value.func) if isinstance(node.value, ast.Call) else None
        for target in node.targets:
            if called is not None and isinstance(target, ast.Tuple):
                called.unpacked = len(target.elts)

    def _on_for(self, node: ast.For | ast.comprehension) -> None:
        found = self._found(node.iter)
        if found is not None:
            elements = found.as_sequence()
            found.items = True
            if isinstance(node.target, ast.Name):
                self.known.setdefault(node.target.id, elements)
            elif isinstance(node.target, ast.Tuple):
                elements.as_sequence(len(node.target.elts), exact=True)

    def _on_starred(self, node: ast.Starred) -> None:
        found = self._found(node.value)
        if found is not None:
            found.as_sequence()

    def _on_binop(self, node: ast.BinOp) -> None:
        for side in (node.left, node.right):
            found = self._found(side)
            if found is not None and not isinstance(node.left, (ast.List, ast.JoinedStr, ast.Constant)):
                found.number = True

    def _on_compare(self, node: ast.Compare) -> None:
        for left, right in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
            found = self._found(left)
            if found is None:
                continue
            values = right.elts if isinstance(right, (ast.Tuple, ast.List, ast.Set)) else [right]
            for value in values:
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    found.texts[value.value] = None
            found.none |= isinstance(right, ast.Constant) and right.value is None
            if isinstance(right, ast.Constant) and type(right.value) in (int, float):
                found.number = True
            if isinstance(node.ops[0], (ast.In, ast.NotIn)) and left is node.left:
                self._among(found, right)

    def _on_call(self, node: ast.Call) -> None:
        called = self._found(node.func)
        if called is not None:
            if self.making:
                called.makes = max(called.makes or 0, len(node.args) + len(node.keywords))
            if not self.making:
                called.called = True
                keywords = tuple(keyword.arg for keyword in node.keywords if keyword.arg is not None)
                called.calls.append((len(node.args), keywords))
        function = ast.unparse(node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop") and node.args:
            self._got(node.func.value, node.args)
        for place, argument in enumerate(node.args):
            found = self._found(argument)
            if found is not None:
                self._passed(found, function, node, place)
        for keyword in node.keywords:
            found = self._found(keyword.value)
            if found is not None and keyword.arg is not None:
                self._handed_on(found, node.func, keyword.arg)
            elif found is not None:
                self._spread(found, node)

    def _got(self, whole: ast.expr, arguments: list[ast.expr]) -> None:
        """``config.get("key")``: needed only where there is no default, but a mapping all the same."""
        found = self._found(whole)
        if found is not None and isinstance(arguments[0], ast.Constant) and len(arguments) == 1:
            found.item(str(arguments[0].value))

    def _passed(self, found: Use, function: str, node: ast.Call, place: int) -> None:
        if function in _OF_SEQUENCES or (function in ("max", "min") and len(node.args) == 1):
            found.as_sequence()
            found.items = True
        elif function in ("range", "int", "float", "round", "abs", "max", "min", "math.sqrt"):
            found.number = True
            found.count |= function == "range" and len(node.args) == 1
        elif function in _OF_PATHS:
            found.path = True
        elif function == "getattr":
            resolved = self._resolved(node.args[0])
            if place == 1 and inspect.ismodule(resolved):
                found.texts |= dict.fromkeys(n for n in ("relu", "ReLU") if hasattr(resolved, n))
        elif function == "isinstance":
            found.annotations.append(self._resolved(node.args[1]))
        else:
            self._handed_on(found, node.func, place)

    def _handed_on(self, found: Use, function: ast.expr, place: int | str) -> None:
        callee, skipped = self._callee(function)
        if callee is None:
            return
        try:
            parameters = list(inspect.signature(callee).parameters.values())[skipped:]
        except (TypeError, ValueError):
            return
        named = {p.name: p for p in parameters}
        positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        if isinstance(place, int):
            parameter = positional[place] if place < len(positional) else None
        else:
            parameter = named.get(place)
        if parameter is None:
            return
        if parameter.annotation is not parameter.empty:
            found.annotations.append(_declared(parameter, callee))
        elif type(parameter.default) in (int, float, bool, str):
            found.annotations.append(type(parameter.default))
        if not str(getattr(callee, "__module__", "torch")).startswith("torch."):
            maker = getattr(callee, "__init__", None) if isinstance(callee, type) else callee
            if inspect.isfunction(maker):
                owner = callee if isinstance(callee, type) else self.owner
                making = self.making or isinstance(callee, type)
                _read(maker, parameter.name, owner, found, self.depth - 1, making=making)

    def _spread(self, found: Use, node: ast.Call) -> None:
        """``make(3, **sizes)``: a mapping of what ``make`` is not given otherwise."""
        callee, skipped = self._callee(node.func)
        try:
            parameters = list(inspect.signature(callee).parameters.values())[skipped:] if callee else []
        except (TypeError, ValueError):
            return
        named = {keyword.arg for keyword in node.keywords}
        for parameter in parameters[len(node.args) :]:
            variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
            if parameter.default is parameter.empty and not variadic and parameter.name not in named:
                self._handed_on(found.item(parameter.name), node.func, parameter.name)

    def _callee(self, function: ast.expr) -> tuple[Any, int]:
        """What is called, and how many of its first parameters the call does not give."""
        text = ast.unparse(function)
        if text == "super().__init__" and self.owner is not None:
            inherited = [vars(c)["__init__"] for c in self.owner.__mro__[1:] if "__init__" in vars(c)]
            return (inherited[0], 1) if inherited else (None, 0)
        if isinstance(function, ast.Attribute) and text == f"self.{function.attr}":
            method = getattr(self.owner, function.attr, None)
            return (method, 1) if inspect.isfunction(method) else (None, 0)
        found = self._resolved(function)
        return (found, 0) if callable(found) else (None, 0)

    def _resolved(self, node: ast.expr) -> Any:
        """What a name of the file stands for; only names are looked up, nothing is run."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, vars(sys.modules["builtins"]).get(node.id))
        if isinstance(node, ast.Attribute):
            whole = self._resolved(node.value)
            return (
                getattr(whole, node.attr, None)
                if inspect.ismodule(whole) or isinstance(whole, type)
                else None
            )
        if isinstance(node, ast.Tuple):
            return next((found for found in map(self._resolved, node.elts) if found is not None), None)
        return None


_HANDLERS: dict[type[ast.AST], Callable[[_Reader, Any], None]] = {
    ast.Assign: _Reader._on_assign,
    ast.Attribute: _Reader._on_attribute,
    ast.BinOp: _Reader._on_binop,
    ast.Call: _Reader._on_call,
    ast.Compare: _Reader._on_compare,
    ast.For: _Reader._on_for,
    ast.Starred: _Reader._on_starred,
    ast.Subscript: _Reader._on_subscript,
    ast.comprehension: _Reader._on_for,
}
