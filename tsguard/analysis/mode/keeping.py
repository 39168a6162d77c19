"""Code that one mode alone runs and that only keeps something: what nobody reads changes no result.

``if self.training: self.last = x.detach()`` makes no difference in a call that never asks for ``last``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from tsguard.analysis import torch_parameters
from tsguard.analysis.budgets import MODE_KEEPING_CALLS
from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.analysis.mode.state import changes_in_place
from tsguard.analysis.python import Raised, classes
from tsguard.analysis.values import (
    BoundMethod,
    External,
    FunctionValue,
    ModuleReference,
    ModuleValue,
    Scope,
    TensorValue,
    Value,
)
from tsguard.language.modes import FUNCTIONS, is_random_function, is_random_operator
from tsguard.source.private_names import is_private
from tsguard.source.walking import walked

_BUILTINS = frozenset(
    f"builtins.{name}"
    for name in (
        "abs",
        "bool",
        "dict",
        "float",
        "int",
        "isinstance",
        "len",
        "list",
        "max",
        "min",
        "sum",
        "tuple",
    )
)
# Methods of a parameter that give another tensor in any case.
_OTHER = frozenset({"abs", "clone", "detach", "mean", "norm", "sum"})
# Who reads one of these may read any attribute.
_ANY = frozenset({"__dict__", "__getattribute__", "__getattr__", "getattr_static"})
# What may hold code that runs later, binds a name, or is no expression of one value.
_REFUSED = (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)

_Look = Callable[[str], Value | None]


def attributes(
    walk: ModeInterpreter, statements: Sequence[ast.stmt], scope: Scope, remark: Callable[[ast.stmt], bool]
) -> frozenset[str]:
    """The names of the attributes of modules that statements set; empty where they may do anything else.

    Args:
        remark: whether a statement does nothing but check and remark.
    """
    kept = _Kept(walk, remark)
    is_all = kept.holds(statements, lambda name: walk.lookup(name, scope), frozenset())
    return frozenset(kept.names) if is_all else frozenset()


class _Kept:
    """What statements, and the methods that they call, set."""

    def __init__(self, walk: ModeInterpreter, remark: Callable[[ast.stmt], bool]) -> None:
        self.walk = walk
        self.remark = remark
        self.names: set[str] = set()
        self.calls = 0

    def holds(self, statements: Sequence[ast.stmt], look: _Look, local: frozenset[str]) -> bool:
        """Whether statements do nothing but set attributes; ``local`` are names of values that no one knows."""
        return all(self._does(statement, look, local) for statement in statements)

    def _does(self, node: ast.stmt, look: _Look, local: frozenset[str]) -> bool:
        if self.remark(node) and not isinstance(node, ast.If):
            return True
        if isinstance(node, ast.If):
            return self._computes(node.test, look, local) and self.holds(
                [*node.body, *node.orelse], look, local
            )
        if isinstance(node, ast.Assign):
            targets = [part for target in node.targets for part in _parts(target)]
            return self._computes(node.value, look, local) and all(
                self._sets(target, node.value, look, local) for target in targets
            )
        return isinstance(node, ast.Expr) and self._runs(node.value, look, local)

    def _sets(self, target: ast.expr, value: ast.expr, look: _Look, local: frozenset[str]) -> bool:
        """Whether an assignment sets an attribute of a module, and nothing that a module registers."""
        if not isinstance(target, ast.Attribute) or target.attr == "training" or is_private(target.attr):
            return False
        owner = self._value(target.value, look, local)
        if not isinstance(owner, ModuleValue):
            return False
        registered = (owner.parameters, owner.buffers, owner.children)
        own = classes.class_member(self.walk, owner.cls, "__setattr__")
        if any(target.attr in registry for registry in registered) or (
            own is not None and isinstance(own[0], FunctionValue)
        ):
            return False
        if classes.class_member(self.walk, owner.cls, target.attr) is not None:
            return False  # a property, or a default of the class, which others may share
        if not isinstance(value, (ast.Constant, ast.Call, ast.BinOp, ast.Compare)):
            return False  # it may be a parameter or a module, which is registered
        self.names.add(target.attr)
        return True

    def _runs(self, node: ast.expr, look: _Look, local: frozenset[str]) -> bool:
        """Whether a call of a method of the project does nothing but set attributes."""
        self.calls += 1
        if not isinstance(node, ast.Call) or self.calls > MODE_KEEPING_CALLS:
            return False
        method = self._value(node.func, look, local)
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        plain = [part.value if isinstance(part, ast.Starred) else part for part in given]
        if not isinstance(method, BoundMethod) or not all(self._computes(p, look, local) for p in plain):
            return False
        function, receiver = method.function, method.receiver
        if not isinstance(function, FunctionValue) or isinstance(function.node, ast.Lambda):
            return False
        parameters = function.node.args
        names = [p.arg for p in (*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs)]
        names += [p.arg for p in (parameters.vararg, parameters.kwarg) if p is not None]
        if not names or function.marks or function.node.decorator_list:
            return False

        def inside(name: str) -> Value | None:
            return receiver if name == names[0] else self.walk.lookup(name, function.scope)

        return self.holds(function.node.body, inside, frozenset(names[1:]))

    def _computes(self, node: ast.expr, look: _Look, local: frozenset[str]) -> bool:
        """Whether an expression computes a value and does nothing else."""
        for part in walked(node):
            if isinstance(part, _REFUSED):
                return False
            if isinstance(part, ast.Call) and not self._is_harmless(part, look, local):
                return False
        return True

    def _is_harmless(self, node: ast.Call, look: _Look, local: frozenset[str]) -> bool:
        """Whether a call computes something of tensors, is not by chance, and changes none of them."""
        if any(keyword.arg in ("out", "inplace", None) for keyword in node.keywords):
            return False
        if any(isinstance(argument, ast.Constant) and argument.value is True for argument in node.args):
            return False  # it may be the flag to work in place
        function = self._value(node.func, look, local)
        if isinstance(function, External) and function.name.startswith(("torch.", "builtins.")):
            return function.name in _BUILTINS or self._is_operator(function.name)
        if not isinstance(node.func, ast.Attribute):
            return False
        base, name = node.func.value, node.func.attr
        tensor = self._value(base, look, local)
        if isinstance(tensor, TensorValue) and tensor.role == "parameter" and name not in _OTHER:
            return False  # ``weight.float()`` is the parameter itself, and is registered
        is_tensor = isinstance(tensor, TensorValue) or isinstance(base, ast.Call)
        if isinstance(base, ast.Name) and base.id in local:
            is_tensor = True
        return (
            is_tensor
            and name in self.walk.tables.tensor
            and not (changes_in_place(name) or is_random_operator(name))
        )

    def _is_operator(self, name: str) -> bool:
        short = name.rpartition(".")[2]
        if (
            name in FUNCTIONS
            or is_random_function(name)
            or is_random_operator(short)
            or changes_in_place(short)
        ):
            return False
        given = torch_parameters.of_function(self.walk.tables, name)
        takes_tensor = any(str(argument.type).startswith("Tensor") for argument in given)
        return short.startswith("get_") or (takes_tensor and not short.startswith("set_"))

    def _value(self, node: ast.expr, look: _Look, local: frozenset[str]) -> Value | None:
        """What a name, or an attribute of one, is; None for anything else."""
        if isinstance(node, ast.Name):
            return None if node.id in local else look(node.id)
        if not isinstance(node, ast.Attribute) or is_private(node.attr):
            return None
        owner = self._value(node.value, look, local)
        if not isinstance(owner, (ModuleValue, ModuleReference, External)):
            return None
        if isinstance(owner, ModuleValue) and isinstance(
            held := _registered(owner).get(node.attr), (ModuleValue, TensorValue)
        ):
            return held
        try:
            return self.walk.plain.attribute(owner, node.attr)
        except Raised:
            return None


def _registered(module: ModuleValue) -> Mapping[str, Value]:
    return {**module.parameters, **module.buffers, **module.children}


def _parts(target: ast.expr) -> list[ast.expr]:
    return list(target.elts) if isinstance(target, (ast.Tuple, ast.List)) else [target]


def drop_unread(walk: ModeInterpreter) -> None:
    """Branches that only keep what the call never reads make no difference; of the others, their modules depend."""
    for key, (names, module) in walk.kept.items():
        if walk.read.isdisjoint(names | _ANY):
            walk.events.pop(key, None)
        elif module is not None:
            walk.depend([module])
