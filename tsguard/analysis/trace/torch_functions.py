"""Functions of torch while tracing: operators by their schemas, others by observed behaviour."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from tsguard.analysis import values as py
from tsguard.analysis.export import arguments, data, gradients, recording
from tsguard.analysis.export import calls as exported
from tsguard.analysis.python import operations, pytrees
from tsguard.analysis.trace import (
    autograd_functions,
    conditions,
    constructors,
    conversions,
    deferred,
    dtype_questions,
    fillings,
    kinds,
    outside,
    pieces,
    results,
    runs,
    seeding,
    shaping,
    unrecorded,
    vmapping,
    writing,
)
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.operators import tensor
from tsguard.analysis.trace.uses import lost_sight, used
from tsguard.analysis.trace.values import (
    NOWHERE,
    Derived,
    Fixed,
    Number,
    Opaque,
    Shape,
    Traced,
    depends,
    frozen,
    is_followed,
    is_live,
    is_symbolic,
    origin_of,
    parts,
    plainly,
)
from tsguard.language import schemas
from tsguard.language.rule_names import RuleName

Args = list[py.Value]
Kwargs = dict[str, py.Value]
Handler = Callable[["Tracer", Args, Kwargs, ast.AST], "py.Value | None"]


def call(tracer: Tracer, name: str, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """The result of a function of torch; None where it is a constant as everywhere else."""
    exported.called(tracer, name, args, kwargs, node)
    seeding.called(tracer, name, args, kwargs, node)
    operation = name.rpartition(".")[2]
    if py.constant(kwargs.get("inplace", py.NONE)) is True:
        operation = f"{operation}_"
    target = args[0] if operation.endswith("_") and args else kwargs.get("out")
    unrecorded.changed(tracer, target, [*args, *kwargs.values()], operation)
    of_trees = pytrees.call(tracer, name, args, kwargs, node)
    if of_trees is not None and type(of_trees) is not py.Unknown:
        return of_trees  # its leaves are those that it was given
    is_drawn = bool(args) and writing.initialises(name)
    if is_drawn:
        unrecorded.drawn(tracer, args[0])
    result = _result(tracer, name, args, kwargs, node)
    if isinstance(result, Traced):
        fillings.note(tracer, name.rpartition(".")[2], args, result)
    if result is None:
        if is_drawn:
            writing.drawn(tracer, args[0], node)
        return None
    result = shaping.of_call(tracer, name, args, kwargs, result)
    if isinstance(target, py.TensorValue) and not isinstance(target, Traced):
        writing.holds(tracer, target, result)
    return result


def _result(tracer: Tracer, name: str, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    handler = _HANDLERS.get(name) or _HANDLERS.get(
        name.rpartition(".")[2] if name.startswith("torch.nn.functional.") else ""
    )
    if handler is not None:
        return handler(tracer, args, kwargs, node)
    entry = tracer.tables.entry(name) or _static_method(tracer, name)
    if isinstance(entry, str):
        return _operator(tracer, entry, args, kwargs, node)
    if not any(is_followed(value) for value in (*args, *kwargs.values())):
        return None
    if isinstance(entry, dict):
        texts = _schemas(entry, args, kwargs)
        if texts:
            return results.of_schemas(tracer, tuple(map(schemas.parse, texts)), args, kwargs, node)
        if entry.get("class") == "tensor" or name.endswith("Tensor"):
            return constructors.constructed(tracer, args, kwargs, node)
        if entry.get("class") in ("context", "module"):
            lost_sight(tracer, [*args, *kwargs.values()])
            return None
        if entry.get("class") == "class" and (origin := origin_of([*args, *kwargs.values()])) is not None:
            lost_sight(tracer, [*args, *kwargs.values()])
            return Opaque(None, origin=origin.then(node), is_object=True)
    given = [*args, *kwargs.values()]
    lost_sight(tracer, given)
    outside.handed_function(tracer, name, given, node)
    if name.endswith(".apply") or name.startswith("torch.ops."):
        return tensor(given, node)
    return results.opaque(given, node)


def _static_method(tracer: Tracer, name: str) -> dict[str, Any] | None:
    """What is known of a function that a class of layers has, to be called without one."""
    owner, _, method = name.rpartition(".")
    found = tracer.tables.modules.get(owner, {}).get("methods", {}).get(method)
    return found if isinstance(found, dict) and found.get("static") else None


# Functions that make a tensor of sizes.
_WINDOWS = frozenset(f"{name}_window" for name in ("bartlett", "blackman", "hamming", "hann", "kaiser"))
_OF_SIZES = _WINDOWS | {"zeros", "ones", "empty", "rand", "randn", "arange", "eye"}


def _operator(tracer: Tracer, symbol: str, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    short = symbol.partition("::")[2]
    if short in pieces.MAKERS and args:
        return pieces.made(tracer, short, args, kwargs, node)
    if short == "arange":
        _note_rounded(tracer, args, kwargs, node)
    if short in _OF_SIZES:
        kinds.used_as_sizes(tracer, args)
        args = [_told(value) for value in args]
    values = [*args, *kwargs.values()]
    operators = schemas.operators(tracer.tables.release)
    overloads = operators.overloads(symbol)
    if any(is_followed(value) for value in values) or results.draws(overloads):
        return results.of_operator(tracer, operators.in_python(symbol), args, kwargs, node)
    results.note_properties(tracer, kwargs, node)
    results.note_bools(tracer, overloads, args, kwargs, node)
    used(tracer, values, node)
    tensors = [value for value in parts(values) if isinstance(value, py.TensorValue)]
    if tensors and not any(data.lends_no_value(value) for value in tensors):
        return py.TensorValue()  # of one given number, as they are
    return None


def _note_rounded(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    """Report an end that rounding shifts: there may be one number more, or one less, than in eager."""
    for bound in (*args[:3], *(kwargs.get(name, py.NONE) for name in ("start", "end", "step"))):
        if isinstance(bound, Number) and bound.rounded and is_live(bound) and not tracer.is_export:
            tracer.report("size-in-place/rounded", node, bound.origin)
            return


def _told(value: py.Value) -> py.Value:
    """A size that is the same for every input is that number: what is made of such alone is no input's."""
    if not isinstance(value, (py.TupleValue, py.ListValue)) or value.open:
        return plainly(value)
    items = [plainly(item) for item in value.items]
    return value if any(isinstance(item, Derived) for item in items) else py.TupleValue(tuple(items))


def _schemas(entry: dict[str, Any], args: Args, kwargs: Kwargs) -> list[str]:
    """The schemas of a compiled function; a flag chooses where torch dispatches on one."""
    if "dispatch" in entry:
        index = entry["index"]
        flag = (
            args[index]
            if isinstance(index, int) and index < len(args)
            else kwargs.get(str(entry["dispatch"]))
        )
        is_true = entry["default"] if flag is None else getattr(flag, "value", False)
        entry = entry["true" if is_true else "false"]
    return list(entry.get("schemas", ()))


def _numel(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``torch.numel(x)``, unlike ``x.numel()``, is a plain number."""
    value = args[0] if args else kwargs.get("input", py.NONE)
    if not isinstance(value, Traced) or not is_live(value):
        return None
    known = shaping.known_value(tracer.facts, shaping.count(tracer, value))
    return frozen(value.origin.then(node), "size", "int", pending=True) if known is None else known


def _is_tensor(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    value = args[0] if args else py.NONE
    if isinstance(value, py.TensorValue):
        return py.TRUE
    if isinstance(value, Number) and value.live:
        tracer.asks_for_run = True
        traced = Fixed(None, "bool", py.TRUE, origin=value.origin, about="tracing")
        return py.FALSE if tracer.is_export else traced
    return None if isinstance(value, (py.Unknown, Opaque)) else py.FALSE


def _off(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """A flag of autograd that is off for the example."""
    return Fixed(None, "bool", py.FALSE, about="grad")


def _gradients_on(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """On as the run is taken to begin, but for what the code switches off around the call."""
    return Fixed(None, "bool", py.Const(not recording.are_off(tracer)), about="grad")


def _known(value: py.Value) -> Handler:
    return lambda tracer, args, kwargs, node: value


def _sizes(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    given = args[0] if args else py.NONE
    if isinstance(given, (py.ListValue, py.TupleValue)) and depends(given) and not isinstance(given, Shape):
        return Shape(tuple(given.items), given.open, origin=origin_of([given]) or NOWHERE)
    return given if isinstance(given, Shape) else None


def _type_limits(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``torch.finfo(x.dtype)`` is as fixed as the dtype."""
    given = args[0] if args else py.NONE
    return Fixed(None, origin=given.origin.then(node), about="dtype") if isinstance(given, Fixed) else None


def _torch_assert(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``torch._assert``: the warning that it gives lies in torch's own file."""
    condition = args[0] if args else py.NONE
    if isinstance(condition, (Number, Fixed)):
        shaping.learn(tracer, condition.tells.if_true)
    if is_live(condition):
        assert isinstance(condition, (Traced, Number))
        data.asked(tracer, condition, node)
        tracer.report("dropped-torch-assert", node, condition.origin)
    else:
        conditions.decide(tracer, condition, node, "assert")
    return py.NONE


def _torch_check(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    condition = args[0] if args else py.NONE
    if is_live(condition):
        assert isinstance(condition, (Traced, Number))
        tracer.report("unsupported-on-size", node, condition.origin, function="torch._check")
    return py.NONE


def _seed(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """Seeds torch's generator while tracing; the trace has no operation for it."""
    tracer.seeded["torch"] = list(tracer.enclosing)
    return None


def _interpolate(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    scale = args[2] if len(args) > 2 else kwargs.get("scale_factor", py.NONE)
    kinds.used_as_sizes(tracer, [args[1] if len(args) > 1 else kwargs.get("size", py.NONE)])
    arguments.wanted(tracer, [scale], node)
    live = next((value for value in parts([scale]) if is_symbolic(value)), None)
    if isinstance(live, Number):
        tracer.report("unsupported-on-size", node, live.origin, function="the scale_factor of interpolate")
    used(tracer, [*args, *kwargs.values()], node)
    return tensor([*args, *kwargs.values()], node)


def _pad(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    fill = args[3] if len(args) > 3 else kwargs.get("value", py.NONE)
    arguments.wanted(tracer, [fill], node)
    if isinstance(fill, (Traced, Number)) and is_live(fill):
        data.number_wanted(tracer, "data-number/argument", [fill] if isinstance(fill, Traced) else [], node)
        used(tracer, [conversions.to_number(tracer, fill, "float", node)], node)
    used(tracer, [*args, *kwargs.values()], node)
    return tensor([*args, *kwargs.values()], node)


def _unique(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``torch.unique``: a tensor, and with it those that its flags ask for."""
    wanted = [kwargs.get(flag, py.FALSE) for flag in ("return_inverse", "return_counts")]
    known = [operations.known_truth(flag) for flag in wanted]
    if None in known or len(args) > 1:
        return results.opaque([*args, *kwargs.values()], node)
    result = tensor(args or [kwargs.get("input", py.NONE)], node)
    return py.TupleValue((result,) * (1 + sum(map(bool, known)))) if any(known) else result


def _where(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``torch.where(condition)`` gives a tuple of indices, as ``nonzero`` does; with more, elements."""
    if len(args) == 1 and not kwargs:
        return pieces.made(tracer, "nonzero", args, {"as_tuple": py.TRUE}, node)
    return _operator(tracer, "aten::where", args, kwargs, node)


def _unravelled(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``torch.unravel_index`` takes a shape of ints alone (torch/functional.py)."""
    shape = args[1] if len(args) > 1 else kwargs.get("shape", py.NONE)
    live = next((part for part in parts([shape]) if is_symbolic(part)), None)
    if isinstance(live, Number):
        tracer.report("unsupported-on-size", node, live.origin, function="torch.unravel_index")
    used(tracer, [*args, *kwargs.values()], node)
    index = tensor(args[:1] or [kwargs.get("indices", py.NONE)], node)
    sizes = shape.items if isinstance(shape, (py.ListValue, py.TupleValue)) else ()
    is_open = isinstance(shape, (py.ListValue, py.TupleValue)) and not shape.open
    return py.TupleValue((index,) * len(sizes), not is_open)


def _untraceable(rule: RuleName) -> Handler:
    def run(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
        tracer.report(rule, node)
        return tensor([*args, *kwargs.values()], node)

    return run


def _gradients(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """Gradients with respect to each of the inputs."""
    tracer.report("untraceable-call/gradients", node)
    outputs = args[0] if args else kwargs.get("outputs", py.NONE)
    autograd_functions.gradients_given(
        tracer, outputs, args[2] if len(args) > 2 else kwargs.get("grad_outputs")
    )
    inputs = args[1] if len(args) > 1 else kwargs.get("inputs", py.NONE)
    each = inputs.items if isinstance(inputs, (py.ListValue, py.TupleValue)) else [inputs]
    return py.TupleValue(tuple(tensor([one], node) for one in each))


def _annotated(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    return args[1] if len(args) > 1 else None


def _variable(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``Variable(x)``, of old: the tensor itself, as torch traces and exports it."""
    given = args[0] if args else kwargs.get("data")
    return given if isinstance(given, (py.TensorValue, Opaque)) else None


def _parameter(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``nn.Parameter(x)`` of what is followed detaches it (torch/nn/parameter.py)."""
    given = _variable(tracer, args, kwargs, node)
    return call(tracer, "torch.detach", [given], {}, node) if isinstance(given, Traced) else None


def _transform(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """What makes a function, or the result of one, that takes gradients."""
    tracer.report("untraceable-call/gradients", node)
    return py.Unknown()


_NOT_COMPILING = _known(py.FALSE)

_HANDLERS: dict[str, Handler] = {
    **runs.HANDLERS,
    **deferred.HANDLERS,
    **dtype_questions.FUNCTIONS,
    **constructors.HANDLERS,
    "torch.numel": _numel,
    "torch.where": _where,
    "torch.unravel_index": _unravelled,
    "torch.unique": _unique,
    "torch.unique_consecutive": _unique,
    "torch.is_tensor": _is_tensor,
    "torch.Size": _sizes,
    "torch.finfo": _type_limits,
    "torch.iinfo": _type_limits,
    "torch.jit.annotate": _annotated,
    **dict.fromkeys(("torch.autograd.Variable", "torch.autograd.variable.Variable"), _variable),
    **dict.fromkeys(("torch.nn.Parameter", "torch.nn.parameter.Parameter"), _parameter),
    "torch.jit.is_scripting": _NOT_COMPILING,
    "torch._jit_internal.is_scripting": _NOT_COMPILING,
    "torch.onnx.is_in_onnx_export": _NOT_COMPILING,
    "torch.overrides.has_torch_function": _NOT_COMPILING,
    "torch.overrides.has_torch_function_unary": _NOT_COMPILING,
    "torch.overrides.has_torch_function_variadic": _NOT_COMPILING,
    "torch.is_grad_enabled": _gradients_on,
    "torch.is_inference_mode_enabled": _off,
    "torch.is_autocast_enabled": _off,
    "torch.is_autocast_cpu_enabled": _off,
    **dict.fromkeys(("torch.manual_seed", "torch.random.manual_seed"), _seed),
    "torch._assert": _torch_assert,
    "torch._check": _torch_check,
    "interpolate": _interpolate,
    "upsample": _interpolate,
    "pad": _pad,
    "torch.nn.attention.flex_attention.flex_attention": _untraceable("untraceable-call/flex-attention"),
    **vmapping.HANDLERS,
    "torch.cond": _untraceable("untraceable-call/function"),
    "torch.func.functional_call": _untraceable("untraceable-call/function"),
    "torch.autograd.grad": _gradients,
    **dict.fromkeys(gradients.FUNCTIONS, _untraceable("untraceable-call/gradients")),
    **dict.fromkeys(gradients.TRANSFORMS, _transform),
    "max_unpool1d": _untraceable("untraceable-call/unpool"),
    "max_unpool2d": _untraceable("untraceable-call/unpool"),
    "max_unpool3d": _untraceable("untraceable-call/unpool"),
    "fractional_max_pool2d": _untraceable("untraceable-call/fractional"),
    "fractional_max_pool3d": _untraceable("untraceable-call/fractional"),
}
