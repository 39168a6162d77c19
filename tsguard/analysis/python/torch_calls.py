"""Calls of torch while a constructor runs: modules, parameters, tensors, hooks."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis import optimized
from tsguard.analysis.python import library, tensor_sizes
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.iteration import iterate
from tsguard.analysis.python.operations import default_of
from tsguard.analysis.terms import Call, Named, placed
from tsguard.analysis.values import (
    FALSE,
    NONE,
    Atom,
    ClassValue,
    Const,
    External,
    FunctionValue,
    ListValue,
    ModuleValue,
    ObjectValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
    constant,
)
from tsguard.language import schemas
from tsguard.language import types as t
from tsguard.report.records import replace

# Functions of torch.nn.utils that change a module, and what they leave on it.
_LEGACY_HOOKS = {"torch.nn.utils.weight_norm", "torch.nn.utils.spectral_norm"}
_UNDOING = {
    "torch.nn.utils.remove_weight_norm",
    "torch.nn.utils.remove_spectral_norm",
    "torch.nn.utils.prune.remove",
    "torch.nn.utils.parametrize.remove_parametrizations",
}
_PARAMETRIZATIONS = {
    "torch.nn.utils.parametrizations.weight_norm",
    "torch.nn.utils.parametrizations.spectral_norm",
    "torch.nn.utils.parametrizations.orthogonal",
    "torch.nn.utils.parametrize.register_parametrization",
}


# Where several processes run a model, somebody has launched them; other accelerators than those of CUDA are seldom there.
_SELDOM_TRUE = frozenset(
    {
        "torch.distributed.is_initialized",
        "torch.distributed.is_torchelastic_launched",
        "torch.distributed.distributed_c10d.is_initialized",
        *(f"torch.{device}.is_available" for device in ("hpu", "mps", "mtia", "npu", "xpu", "backends.mps")),
    }
)


def call(
    interp: Interpreter, function: External, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """The result of calling a name of torch."""
    if function.name in _SELDOM_TRUE:
        return Unknown(Call(Named(function.name, function.name), ()), "bool", FALSE)
    if not args and function.name.startswith(("torch.nn.init.", "torch.nn.utils.")):
        args, kwargs = _first_of(kwargs)
    made = _call(interp, function, args, kwargs, node)
    if "requires_grad" in kwargs and type(made) is TensorValue:
        made.grad = constant(interp.settled(kwargs["requires_grad"])) is True
    return made


def _call(
    interp: Interpreter, function: External, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    name = function.name
    described = interp.tables.entry(name)
    if isinstance(described, dict) and described.get("class"):
        if name == "torch.jit.Attribute" and args:
            return _declared(args[0], node)
        return _class(interp, function, described["class"], args, kwargs)
    if name in _UNDOING:
        return _undone(interp, name, args)
    if name in _LEGACY_HOOKS or name.startswith("torch.nn.utils.prune."):
        return _hooked(interp, name, args)
    if name in _PARAMETRIZATIONS:
        return _parametrized(interp, name, args, kwargs)
    owner, _, method = name.rpartition(".")
    is_method = owner == "torch.nn.Module" or owner in interp.tables.modules or method == "__init__"
    if is_method and args and isinstance(module := interp.settled(args[0]), ModuleValue):
        return interp.module_method(name, module, args[1:], kwargs, node)
    if owner == "torch.nn.init":
        return _initialised(interp, method, args, node)
    if name in _HANDED_BACK and args:
        return _handed_back(name, args[0], kwargs, node)
    if isinstance(described, str):
        made = tensor_sizes.sized(interp, _operator(described, node), name, args, kwargs)
        if isinstance(made, TensorValue):
            made.filling = _filling(interp, name.removeprefix("torch."), args, kwargs, node)
        return made
    is_compiled = isinstance(described, dict) and not {"schemas", "dispatch"}.isdisjoint(described)
    if not is_compiled:
        return Unknown(placed(node))
    return TensorValue(sizes=tensor_sizes.made(interp, name, args, kwargs))


def _first_of(kwargs: dict[str, Value]) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a function that changes what it is given first, where that is named."""
    rest = dict(kwargs)
    return [rest.pop(name) for name in ("module", "tensor") if name in rest], rest


def _initialised(interp: Interpreter, name: str, args: list[Value], node: ast.AST | None) -> Value:
    """Initialisers give back the tensor that they fill; the others of torch/nn/init.py compute numbers."""
    if name in _COMPUTED:
        numbers = [Unknown(placed(node), kind) for kind in _COMPUTED[name]]
        return numbers[0] if len(numbers) == 1 else TupleValue(tuple(numbers))
    if not args:
        return Unknown(placed(node))
    interp.change(args[0])
    return args[0]


_COMPUTED = {
    "calculate_gain": ("float",),
    "_calculate_correct_fan": ("int",),
    "_calculate_fan_in_and_fan_out": ("int", "int"),
}


def _filling(
    interp: Interpreter, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | None:
    """What each element of a tensor is that a factory function makes, where it is the same."""
    if name == "linspace":
        return _between(args, node)
    if name == "tensor" and args:
        return _only(interp.settled(args[0]))
    number = constant(interp.settled(args[1])) if name == "full" and len(args) > 1 else _FILLED.get(name)
    if not isinstance(number, (int, float)):
        return None
    if "dtype" not in kwargs:
        return Const(number)
    dtype = interp.settled(kwargs["dtype"])
    kind = _KINDS.get(dtype.name.rpartition(".")[2]) if isinstance(dtype, (Atom, External)) else None
    return None if kind is None else Const(kind(number))


_FILLED = {"zeros": 0.0, "ones": 1.0}
_KINDS: dict[str, Callable[[float], float]] = {
    **dict.fromkeys(("float", "float32", "float64", "double"), float),
    **dict.fromkeys(("int", "int8", "int32", "int64", "long", "uint8"), int),
    "bool": bool,
}


def _only(given: Value) -> Value | None:
    """The number that is the only one in what a tensor is made of."""
    while isinstance(given, (ListValue, TupleValue)) and len(given.items) == 1 and not given.open:
        given = given.items[0]
    return given if isinstance(getattr(default_of(given), "value", None), (int, float)) else None


def _between(ends: list[Value], node: ast.AST | None) -> Value | None:
    """What each number between two equal ends is, as for rates that rise from 0 to a default of 0."""
    known = [constant(value) for value in map(default_of, ends[:2]) if value is not None]
    if len(known) < 2 or known[0] != known[1] or not isinstance(known[0], (int, float)):
        return None
    number = Const(float(known[0]))
    is_given = all(isinstance(end, Const) for end in ends[:2])
    return number if is_given else Unknown(placed(node), "float", number)


_HANDED_BACK = frozenset({"torch.compile", "torch.jit.script", "torch.jit.trace", "torch.jit.trace_module"})


def _handed_back(name: str, value: Value, kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    """What is made of a function or module that is handed to a compiler."""
    if name == "torch.compile":
        return optimized.made_of(value, kwargs)
    return _scripted(value) if name == "torch.jit.script" else _traced(value, node)


def _scripted(value: Value) -> Value:
    """What is handed to torch.jit.script comes back compiled."""
    if isinstance(value, ModuleValue):
        value.scripted = True
    if isinstance(value, ClassValue):
        value.marks = value.marks | {"script"}
    if isinstance(value, FunctionValue):
        return replace(value, marks=value.marks | {"script"})
    return value


def _declared(value: Value, node: ast.AST | None) -> Value:
    """``torch.jit.Attribute(value, type)``: the value, with the expression that is its type."""
    annotation = node.args[1] if isinstance(node, ast.Call) and len(node.args) > 1 else None
    return ObjectValue(
        External("torch.jit.Attribute"), {"value": value, "type": Unknown(annotation=annotation)}
    )


def _traced(value: Value, node: ast.AST | None) -> Value:
    """What is handed to torch.jit.trace comes back as a recording of itself."""
    if isinstance(value, ModuleValue):
        return replace(value, scripted=True, traced=True)
    if isinstance(value, FunctionValue):
        return replace(value, marks=value.marks | {"trace"})
    return Unknown(placed(node))


def _class(
    interp: Interpreter, function: External, kind: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    name = function.name
    given = args[0] if args else NONE
    if name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.UninitializedParameter"):
        if not isinstance(given, TensorValue):
            return TensorValue("parameter")
        return TensorValue("parameter", dtype=given.dtype, sizes=given.sizes)
    if name == "torch.autograd.Variable" and args and isinstance(args[0], TensorValue):
        return replace(args[0])
    if name in ("torch.nn.Buffer", "torch.nn.parameter.Buffer"):
        return TensorValue("buffer", sizes=given.sizes if isinstance(given, TensorValue) else None)
    if kind == "module":
        return library.construct(interp, function, args, kwargs)
    if kind == "tensor" or name.endswith("Tensor"):
        listed = bool(args) and isinstance(args[0], (ListValue, TupleValue))
        sizes = tensor_sizes.made(interp, "torch.tensor" if listed else "torch.zeros", args, {})
        return TensorValue(name=name, filling=_only(args[0]) if listed else None, sizes=sizes)
    if name == "torch.Size":
        items, is_open = iterate(interp, args[0]) if args else ([], False)
        return TupleValue(tuple(items), is_open)
    flag = {"_validate_args": kwargs["validate_args"]} if "validate_args" in kwargs else {}
    return ObjectValue(function, flag, open=True)


def _operator(symbol: str, node: ast.AST | None) -> Value:
    """What an operator returns, by its first overload."""
    overloads = schemas.operators().overloads(symbol)
    if not overloads:
        return Unknown(placed(node))
    returns = overloads[0].returns
    if returns is t.TENSOR:
        return TensorValue(name=symbol)
    if isinstance(returns, t.TupleType):
        return TupleValue(tuple(TensorValue() if e is t.TENSOR else Unknown() for e in returns.elements))
    return Unknown(placed(node), str(returns) if returns in (t.INT, t.FLOAT, t.BOOL) else "")


def _hooked(interp: Interpreter, name: str, args: list[Value]) -> Value:
    module = interp.settled(args[0]) if args else NONE
    if isinstance(module, ModuleValue):
        module.hooks.setdefault("forward_pre", []).append(External(name))
        return module
    return module if args else Unknown()


def _undone(interp: Interpreter, name: str, args: list[Value]) -> Value:
    module = interp.settled(args[0]) if args else NONE
    if isinstance(module, ModuleValue) and name.endswith("parametrizations"):
        which = str(constant(args[1])) if len(args) > 1 else "weight"
        module.parametrized.pop(which, None)
        held = module.children.get("parametrizations")
        if isinstance(held, ModuleValue):
            held.children.pop(which, None)
    elif isinstance(module, ModuleValue):
        family = name.removeprefix("torch.nn.utils.").removeprefix("remove_").removesuffix("remove")
        hooks = module.hooks.get("forward_pre", [])
        hooks[:] = [
            h
            for h in hooks
            if not (isinstance(h, External) and h.name.startswith(f"torch.nn.utils.{family}"))
        ]
    return module if args else Unknown()


def _parametrized(interp: Interpreter, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    module = args[0] if args else NONE
    given = constant(args[1] if len(args) > 1 else kwargs.get("name", kwargs.get("tensor_name", NONE)))
    which = given if isinstance(given, str) else "weight"
    if isinstance(module, ModuleValue):
        module.parametrized[which] = name
        made = interp.settled(args[2] if len(args) > 2 else kwargs.get("parametrization", NONE))
        if isinstance(made, ModuleValue):
            empty = ModuleValue(External("torch.nn.ModuleDict"), initialized=True)
            held = module.children.setdefault("parametrizations", empty)
            if isinstance(held, ModuleValue):
                held.children[which] = made
    return module if args else Unknown()
