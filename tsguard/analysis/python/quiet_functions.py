"""Functions that change nothing but their own variables and what tensors hold, as far as their source tells.

What they call is looked through too; what they call of what they are given, who calls them has to know.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tsguard.analysis.python import initialising
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.values import Const, External, FunctionValue, ModuleReference, Unknown, Value
from tsguard.source.functions import FunctionNode, named_parameters, positional_parameters
from tsguard.source.unparsing import dotted
from tsguard.source.walking import walked


@dataclass(frozen=True, slots=True)
class Quiet:
    """What a function does besides: it calls ``parameters`` of its own, and ``methods`` of what it is given.

    ``gives`` is the parameter that it returns, "" for None; None where it returns anything else.
    """

    parameters: frozenset[str]
    methods: frozenset[str]
    gives: str | None


_QUIET: Kept[FunctionNode, Quiet | None] = Kept()

_READING = frozenset(
    {
        *("abs", "all", "any", "bool", "callable", "dict", "enumerate", "float", "getattr", "hasattr", "int"),
        *("isinstance", "issubclass", "iter", "len", "list", "max", "min", "next", "print", "range", "repr"),
        *("reversed", "round", "set", "sorted", "str", "sum", "tuple", "type", "zip"),
    }
)
_OF_PACKAGES = (
    "torch.nn.init.",
    "math.",
    "numpy.",
    "warnings.",
    "itertools.",
    "functools.partial",
    "operator.",
)
# Methods that change what they are called on, whatever that is, or call what they are given.
_CHANGING = frozenset(
    {
        *(
            "__delattr__",
            "__delitem__",
            "__setattr__",
            "__setitem__",
            "add",
            "add_module",
            "append",
            "apply",
            "clear",
            "discard",
            "eval",
            "extend",
            "insert",
            "pop",
        ),
        *("popitem", "register_buffer", "register_forward_hook", "register_forward_pre_hook"),
        *("register_full_backward_hook", "register_module", "register_parameter", "remove", "requires_grad_"),
        *("setdefault", "train", "update"),
    }
)
_BLOCKS = (ast.If, ast.For, ast.While, ast.With)


def quiet(interp: Interpreter, function: FunctionValue) -> Quiet | None:
    """What a function does that changes nothing; None where it may change something, or raise."""
    known = _QUIET.of(interp.program)
    node = function.node
    if node not in known:
        known[node] = Quiet(frozenset(), frozenset(), None)  # while it is looked through: it may call itself
        known[node] = _looked_through(interp, function)
    return known[node]


def _looked_through(interp: Interpreter, function: FunctionValue) -> Quiet | None:
    node = function.node
    if isinstance(node, ast.AsyncFunctionDef) or function.marks & {"cached", "contextmanager"}:
        return None
    look = _Look(interp, function, frozenset(parameter.arg for parameter in named_parameters(node.args)))
    try:
        look.block([ast.Return(node.body)] if isinstance(node, ast.Lambda) else node.body)
    except _NotQuietError:
        return None
    return Quiet(frozenset(look.called), frozenset(look.methods), look.gives())


class _NotQuietError(Exception):
    """A function may change something."""


@dataclass(slots=True)
class _Look:
    """One function that is looked through, and what was found in it."""

    interp: Interpreter
    function: FunctionValue
    parameters: frozenset[str]
    called: set[str] = field(default_factory=set)
    methods: set[str] = field(default_factory=set)
    returned: set[str | None] = field(default_factory=set)
    inner: int = 0
    followed: set[str] = field(default_factory=set)

    def gives(self) -> str | None:
        """The one parameter that is returned, "" for None, None for anything else."""
        node = self.function.node
        ends = isinstance(node, ast.Lambda) or isinstance(node.body[-1], ast.Return)
        given = self.returned if ends else self.returned | {""}
        return next(iter(given)) if len(given) == 1 else None

    def block(self, body: list[ast.stmt]) -> None:
        for node in body:
            self._statement(node)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if not all(self._is_own(target, is_added=isinstance(node, ast.AugAssign)) for target in targets):
                raise _NotQuietError
            self._expression(node)
        elif isinstance(node, _BLOCKS):
            heads = [node.test] if isinstance(node, (ast.If, ast.While)) else []
            heads += [node.target, node.iter] if isinstance(node, ast.For) else []
            heads += [item.context_expr for item in node.items] if isinstance(node, ast.With) else []
            for head in heads:
                self._expression(head)
            self.block(node.body)
            self.block(getattr(node, "orelse", []))
        elif isinstance(node, ast.Return) and not self.inner:
            self._return(node.value)
        elif isinstance(node, ast.FunctionDef) and not node.decorator_list:
            self.inner += 1
            self.block(node.body)
            self.inner -= 1
        elif isinstance(node, (ast.Raise, ast.Assert)):
            # What cannot be set as it is asked to: the module is none the less what it is.
            if not self.inner and not self._fills():
                raise _NotQuietError
        elif isinstance(node, (ast.Expr, ast.Return)):
            self._expression(node)
        elif not isinstance(node, (ast.Pass, ast.Continue, ast.Break)):
            raise _NotQuietError

    def _fills(self) -> bool:
        """Whether something in the function sets what a tensor holds."""
        calls = (node for node in walked(self.function.node) if isinstance(node, ast.Call))
        return any(initialising.fills(call) for call in calls)

    def _return(self, value: ast.expr | None) -> None:
        self.returned.add("" if value is None else self._given(value))
        if value is not None:
            self._expression(value)

    def _given(self, value: ast.expr) -> str | None:
        """The parameter that an expression gives, "" for None, None for anything else."""
        if isinstance(value, ast.Name):
            is_given = value.id in self.parameters and not self._sources(value.id)
            return value.id if is_given else None
        if isinstance(value, ast.Call):
            function = self._meaning(value.func)
            told = quiet(self.interp, function) if isinstance(function, FunctionValue) else None
            if told is not None and told.gives and isinstance(function, FunctionValue):
                given = _arguments(function, value).get(told.gives)
                return None if given is None else self._given(given)
        return "" if isinstance(value, ast.Constant) and value.value is None else None

    def _expression(self, node: ast.AST) -> None:
        for part in walked(node):
            if isinstance(part, ast.Call):
                self._call(part)
            elif isinstance(part, (ast.Yield, ast.YieldFrom)):
                self.returned.add(None)
            elif isinstance(part, (ast.Await, ast.NamedExpr)):
                raise _NotQuietError
            elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                self._handed_on(part)

    def _handed_on(self, node: ast.Name) -> None:
        """A function that is named may be called by whoever gets it."""
        value = self._meaning(node)
        if isinstance(value, FunctionValue):
            told = quiet(self.interp, value)
            if told is None:
                raise _NotQuietError
            self.methods |= told.methods

    def _call(self, node: ast.Call) -> None:
        function = node.func
        value = self._meaning(function)
        if value is not None:
            self._known(node, value)
        elif isinstance(function, ast.Attribute) and function.attr not in _CHANGING:
            if not self._is_given(function.value):
                raise _NotQuietError
            if not function.attr.endswith("_"):
                self.methods.add(function.attr)
        elif isinstance(function, ast.Name):
            self._callable(function)
        else:
            raise _NotQuietError

    def _is_given(self, node: ast.expr) -> bool:
        """Whether what has a method comes from what the function was given, or is nothing that a file defines."""
        while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
            node = node.func if isinstance(node, ast.Call) else node.value
        if not isinstance(node, ast.Name):
            return True
        if node.id not in self.parameters and not self._binds(node.id):
            value = self.interp.lookup(node.id, self.function.scope)
            return value is None or isinstance(value, (Const, External, ModuleReference, Unknown))
        made = [source.func for source in self._sources(node.id) if isinstance(source, ast.Call)]
        return all(isinstance(self._meaning(function), (External, type(None))) for function in made)

    def _is_own(self, target: ast.expr, *, is_added: bool) -> bool:
        """Whether what is assigned to is a variable, or what a tensor holds."""
        if isinstance(target, ast.Name):
            is_held = any(isinstance(source, ast.Attribute) for source in self._sources(target.id))
            return not (is_added and (target.id in self.parameters or is_held))
        if isinstance(target, (ast.Tuple, ast.List)):
            return all(self._is_own(part, is_added=is_added) for part in target.elts)
        if isinstance(target, ast.Subscript):
            return self._holds_numbers(target.value)
        return isinstance(target, ast.Attribute) and target.attr == "data"

    def _holds_numbers(self, node: ast.expr) -> bool:
        """Whether an expression is a tensor or an array, as far as its source tells."""
        if isinstance(node, ast.Attribute):
            return node.attr in ("bias", "data", "weight")
        if isinstance(node, ast.Subscript):
            return self._holds_numbers(node.value)
        if isinstance(node, ast.Call):
            value = self._meaning(node.func)
            is_made = isinstance(value, External) and value.name.startswith(("torch.", "numpy."))
            return is_made or (isinstance(node.func, ast.Attribute) and self._holds_numbers(node.func.value))
        if not isinstance(node, ast.Name) or node.id in self.parameters:
            return False
        with self._following(node.id) as is_new:
            sources = [source for source in self._sources(node.id) if not isinstance(source, ast.Name)]
            is_told = len(sources) == len(self._sources(node.id)) > 0
            return not is_new or (is_told and all(map(self._holds_numbers, sources)))

    @contextmanager
    def _following(self, name: str) -> Iterator[bool]:
        """Follow a variable to what it is bound to, unless that leads back to it."""
        is_new = name not in self.followed
        self.followed.add(name)
        try:
            yield is_new
        finally:
            if is_new:
                self.followed.discard(name)

    def _known(self, node: ast.Call, value: Value) -> None:
        """A call of what has a name of its own in the file."""
        if isinstance(value, External):
            is_quiet = value.name.removeprefix("builtins.") in _READING or value.name.startswith(_OF_PACKAGES)
            if not is_quiet and not (value.name.startswith("torch.") and value.name.count(".") == 1):
                raise _NotQuietError
            return
        told = quiet(self.interp, value) if isinstance(value, FunctionValue) else None
        if told is None or not isinstance(value, FunctionValue):
            raise _NotQuietError
        self.methods |= told.methods
        names = [parameter.arg for parameter, _ in positional_parameters(value.node)]
        given = {
            **dict(zip(names, node.args, strict=False)),
            **{k.arg: k.value for k in node.keywords if k.arg},
        }
        for name in told.parameters & given.keys():
            self._callable(given[name])
        if told.parameters - given.keys() and any(isinstance(arg, ast.Starred) for arg in node.args):
            raise _NotQuietError

    def _callable(self, node: ast.expr) -> None:
        """What is called, or handed to who calls it: a parameter, or what is quiet."""
        if isinstance(node, ast.Name) and self._meaning(node) is None:
            if node.id in self.parameters:
                self.called.add(node.id)
            sources = self._sources(node.id)
            if node.id not in self.parameters and not (sources or self._binds(node.id)):
                raise _NotQuietError
            with self._following(node.id) as is_new:
                for source in sources if is_new else ():
                    self._callable_made(source, node.id)
            return
        self._callable_made(node, "")

    def _callable_made(self, node: ast.expr, name: str) -> None:
        """What a variable of this ``name`` is bound to: of functions that are named here each is quiet."""
        if isinstance(node, (ast.BoolOp, ast.IfExp)):
            for part in node.values if isinstance(node, ast.BoolOp) else (node.body, node.orelse):
                if not _is_name(part, name):
                    self._callable(part)
        elif isinstance(node, ast.Name):
            if name and self._meaning(node) is None:
                self._callable(node)
        elif isinstance(node, ast.Attribute) and self._meaning(node) is None:
            if node.attr in _CHANGING:
                raise _NotQuietError
            self.methods.add(node.attr)
        elif not isinstance(node, (ast.Call, ast.Lambda, ast.Constant)):
            raise _NotQuietError

    def _sources(self, name: str) -> list[ast.expr]:
        return [
            node.value
            for node in walked(self.function.node)
            if isinstance(node, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
        ]

    def _meaning(self, node: ast.expr) -> Value | None:
        """What a name, or a member of the Python module that it names, means; None for a variable or attribute."""
        root = dotted(node).partition(".")[0]
        if not root or root in self.parameters or self._binds(root):
            return None
        value: Value | None = self.interp.lookup(root, self.function.scope)
        for part in dotted(node).split(".")[1:]:
            if not isinstance(value, (External, ModuleReference)):
                return None
            value = self.interp.attribute(value, part)
        return value

    def _binds(self, name: str) -> bool:
        """Whether a name is a variable of the function, or of one within it."""
        for node in walked(self.function.node):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
                return True
            if isinstance(node, (ast.arg, ast.FunctionDef)) and name == (
                node.arg if isinstance(node, ast.arg) else node.name
            ):
                return node is not self.function.node
        return False


def _arguments(function: FunctionValue, node: ast.Call) -> dict[str, ast.expr]:
    """The arguments that a call writes out, by the names of the parameters."""
    names = [parameter.arg for parameter, _ in positional_parameters(function.node)]
    named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    return {**dict(zip(names, node.args, strict=False)), **named}


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
