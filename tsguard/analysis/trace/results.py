"""Results and arguments of torch operators, by their schemas."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis import values as py
from tsguard.analysis.export import arguments, data
from tsguard.analysis.terms import Attribute, Call, Named
from tsguard.analysis.trace import booleans, devices, seeding
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.operators import tensor
from tsguard.analysis.trace.origins import Origin
from tsguard.analysis.trace.rulebook import FIXED, FIXED_ALIKE
from tsguard.analysis.trace.shapes.operation import NUMPY_NAMES
from tsguard.analysis.trace.uses import used
from tsguard.analysis.trace.values import Fixed, Number, Opaque, Traced, frozen, is_live, origin_of, parts
from tsguard.language import types as t
from tsguard.language.rule_names import RuleName
from tsguard.language.schemas import Argument, Schema

Args = list[py.Value]
Kwargs = dict[str, py.Value]
Fits = Callable[[t.Type, py.Value], bool]


def of_operator(
    tracer: Tracer, overloads: tuple[Schema, ...], args: Args, kwargs: Kwargs, node: ast.AST
) -> py.Value:
    """The result of that of Python's overloads that takes these arguments, of an operator and not of a function of Python."""
    if _is_same(overloads, args):
        return py.TRUE
    kwargs = _named_by_torch(overloads, kwargs)
    chosen = _chosen(overloads, args, kwargs)
    read = chosen or _chosen(overloads, args, kwargs, _fits_of_one)
    for argument, value in bound(read, args, kwargs) if read is not None else ():
        arguments.given(tracer, argument, value, node)
    return _of_chosen(tracer, overloads, chosen, args, kwargs, node)


def _named_by_torch(overloads: tuple[Schema, ...], kwargs: Kwargs) -> Kwargs:
    """Arguments by torch's names, where they are given by NumPy's."""
    names = {argument.name for schema in overloads for argument in schema.arguments}
    others = {given: name for name, given in NUMPY_NAMES.items() if given not in names}
    return {others.get(name, name): value for name, value in kwargs.items()}


def draws(overloads: tuple[Schema, ...]) -> bool:
    """Whether an operator makes random numbers."""
    return any(argument.name == "generator" for schema in overloads for argument in schema.arguments)


def _is_generator(value: py.Value | None) -> bool:
    """Whether a value is a generator that the code has made, or what a method of one gives."""
    if isinstance(value, py.ObjectValue):
        return isinstance(value.cls, py.External) and value.cls.name == "torch.Generator"
    term = value.term if type(value) is py.Unknown else None
    method = term.function if isinstance(term, Call) else None
    return isinstance(method, Attribute) and method.owner == Named("torch.Generator", "torch.Generator")


def _is_same(overloads: tuple[Schema, ...], args: Args) -> bool:
    """Whether a tensor is compared with itself, as where one is the query, the key and the value."""
    is_asked = any(schema.name == "equal" for schema in overloads)
    return is_asked and len(args) == 2 and isinstance(args[0], Traced) and args[0] is args[1]


def of_schemas(
    tracer: Tracer, overloads: tuple[Schema, ...], args: Args, kwargs: Kwargs, node: ast.AST
) -> py.Value:
    """The result of the overload that takes these arguments, after a look at how it takes them."""
    return _of_chosen(tracer, overloads, _chosen(overloads, args, kwargs), args, kwargs, node)


def _of_chosen(
    tracer: Tracer,
    overloads: tuple[Schema, ...],
    chosen: Schema | None,
    args: Args,
    kwargs: Kwargs,
    node: ast.AST,
) -> py.Value:
    values = [*args, *kwargs.values()]
    used(tracer, values, node)
    note_properties(tracer, kwargs, node)
    # Only of a size, a tensor while tracing, does a trace take another overload than eager.
    has_sizes = any(isinstance(value, Number) and is_live(value) for value in values)
    taking = _chosen(overloads, args, kwargs, _fits_traced) or chosen if has_sizes else chosen
    taking = taking or _chosen(overloads, args, kwargs, _fits_of_one)
    pairs = [] if taking is None else bound(taking, args, kwargs)
    if taking is not None:
        for argument, value in pairs:
            _note_frozen(tracer, taking, argument, value, node)
    if chosen is not None:
        for argument, value in pairs if chosen is taking else bound(chosen, args, kwargs):
            booleans.given(tracer, chosen, argument, value, node)
    random = draws(overloads)
    if random and _is_generator(kwargs.get("generator")):
        tracer.report("untraced-value/generator", node)
    elif random:
        seeding.drawn(tracer, node)
    if random and not any(isinstance(value, Traced) for value in values):
        return Traced(origin=Origin("random numbers", node), of="random")
    shown = chosen or (overloads[0] if overloads else None)
    return of_type(t.TENSOR if shown is None else shown.returns, values, node)


def note_bools(
    tracer: Tracer, overloads: tuple[Schema, ...], args: Args, kwargs: Kwargs, node: ast.AST
) -> None:
    """Report the bools that an operator over constants is given for numbers."""
    if not any(map(booleans.is_bool, (*args, *kwargs.values()))):
        return
    chosen = _chosen(overloads, args, kwargs)
    if chosen is not None:
        for argument, value in bound(chosen, args, kwargs):
            booleans.given(tracer, chosen, argument, value, node)


def _chosen(
    overloads: tuple[Schema, ...], args: Args, kwargs: Kwargs, fits: Fits | None = None
) -> Schema | None:
    return next((schema for schema in overloads if _takes(schema, args, kwargs, fits or _fits)), None)


def _note_frozen(tracer: Tracer, schema: Schema, argument: Argument, value: py.Value, node: ast.AST) -> None:
    """Report an argument that torch takes the number of, although the trace was following it.

    Source: torch/csrc/utils/python_arg_parser.h keeps symbolic what it reads as int or as a
    list of int, and neither a float nor one int that stands for several, and takes no tensor for a bool;
    a convolution is recorded as another operator, which has lost what was kept, and a sparse tensor
    is made before it is recorded.
    """
    if schema.name in _KEEPING_FLOATS:
        return
    if isinstance(value, Traced) and is_live(value) and _reads_number(argument):
        tracer.report("frozen-argument/value", node, value.origin, argument=argument.name)
        if argument.size is None:  # of a float torch.export asks more than it knows
            data.number_wanted(tracer, "data-number/argument", [value], node)
    live = next((part for part in parts([value]) if isinstance(part, Number) and is_live(part)), None)
    if live is None:
        return
    if argument.type is t.FLOAT or argument.type == t.OptionalType(t.FLOAT):
        tracer.report("frozen-argument/float", node, live.origin, argument=argument.name)
    elif schema.name.startswith("conv"):
        tracer.report("frozen-argument/convolution", node, live.origin, argument=argument.name)
    elif schema.name.startswith("sparse_") and argument.name == "size":
        tracer.report("frozen-argument", node, live.origin, argument=argument.name)
    elif argument.size is not None and live is value:
        tracer.report("frozen-argument/several", node, live.origin, argument=argument.name)
    elif argument.type in (t.BOOL, t.OptionalType(t.BOOL)) and live is value:
        tracer.report("unsupported-on-size/flag", node, live.origin, argument=argument.name)


def _reads_number(argument: Argument) -> bool:
    """Whether torch reads the number in a tensor that is given for an argument, and records it as that."""
    wanted = argument.type.element if isinstance(argument.type, t.OptionalType) else argument.type
    return wanted is t.FLOAT or (argument.size is not None and wanted in (t.INT, t.ListType(t.INT)))


# Functions of torch.nn.functional that calculate with their floats, or pass them where torch reads any number.
_KEEPING_FLOATS = frozenset(
    [
        "celu", "celu_", "elu", "elu_", "gumbel_softmax", "hardtanh", "hardtanh_", "leaky_relu", "leaky_relu_",
        "local_response_norm", "multi_margin_loss", "normalize", "rrelu", "rrelu_", "_threshold", "threshold_",
    ]
)  # fmt: skip


def note_properties(tracer: Tracer, kwargs: Kwargs, node: ast.AST) -> None:
    """Say which properties of inputs a factory function keeps: ``dtype=x.dtype``."""
    given = [(name, kwargs.get(name)) for name in ("dtype", "device")]
    keep(tracer, [value for name, value in given if isinstance(value, Fixed) and value.about == name], node)
    devices.note(tracer, [value for _, value in given], node)


def keep(tracer: Tracer, properties: list[Fixed], node: ast.AST) -> None:
    """Say once that a call gives a tensor the dtype and the device of an input."""
    kept = [value for value in properties if not tracer.varies(value.origin, value.about)]
    if kept:
        rule: RuleName = FIXED[kept[0].about] if len(kept) == 1 else FIXED_ALIKE
        tracer.report(rule, node, kept[0].origin)


def of_type(returns: t.Type, values: Args, node: ast.AST) -> py.Value:
    """A value of a schema's return type, made of some values."""
    if returns is t.TENSOR:
        return tensor(values, node)
    if isinstance(returns, t.TupleType):
        return py.TupleValue(tuple(of_type(part, values, node) for part in returns.elements))
    if isinstance(returns, t.OptionalType):
        return of_type(returns.element, values, node)
    if isinstance(returns, t.ListType) and returns.element is t.TENSOR:
        return py.ListValue([tensor(values, node)], True)
    origin = origin_of(values)
    if returns in (t.BOOL, t.INT, t.FLOAT, t.NUMBER) and origin is not None:
        return frozen(origin.then(node), "data", str(returns), pending=True)
    return opaque(values, node)


def opaque(values: Args, node: ast.AST) -> py.Value:
    """What is made of some values by what is not read."""
    origin = origin_of(values)
    return py.Unknown() if origin is None else Opaque(None, origin=origin.then(node))


def bound(schema: Schema, args: Args, kwargs: Kwargs) -> list[tuple[Argument, py.Value]]:
    """A schema's arguments with the values given for them."""
    positional = [argument for argument in schema.arguments if not argument.keyword_only]
    pairs = list(zip(positional, args, strict=False))
    return pairs + [
        (argument, kwargs[argument.name]) for argument in schema.arguments if argument.name in kwargs
    ]


def _takes(schema: Schema, args: Args, kwargs: Kwargs, fits: Fits) -> bool:
    """Whether a call may be of an overload: by names, number and the kinds that are plain to see."""
    if schema.is_out_variant:
        return False
    pairs = bound(schema, args, kwargs)
    if len(pairs) < len(args) + len(kwargs):
        return False
    given = {argument.name for argument, _ in pairs}
    if any(not argument.has_default and argument.name not in given for argument in schema.arguments):
        return False
    return all(fits(argument.type, value) for argument, value in pairs)


def _fits_of_one(wanted: t.Type, value: py.Value) -> bool:
    """Whether a value may be given, a tensor of one element for a number, too."""
    while isinstance(wanted, (t.OptionalType, t.ListType)) and isinstance(value, py.TensorValue):
        wanted = wanted.element
    return _fits(wanted, value) or (wanted in (t.INT, t.FLOAT) and isinstance(value, py.TensorValue))


def _fits_traced(wanted: t.Type, value: py.Value) -> bool:
    """Whether what the trace follows is taken as it is: a number of sizes is a tensor while tracing."""
    if not isinstance(value, (Number, Traced)) or not is_live(value):
        return _fits(wanted, value)
    if wanted is t.TENSOR or (isinstance(wanted, t.OptionalType) and wanted.element is t.TENSOR):
        return True
    return wanted is not t.FLOAT and _fits(wanted, value)


def _fits(wanted: t.Type, value: py.Value) -> bool:
    if isinstance(wanted, t.OptionalType):
        return py.is_none(value) or _fits(wanted.element, value)
    if isinstance(value, py.TensorValue):
        return wanted in (t.TENSOR, t.NUMBER, t.ANY)
    if isinstance(value, (py.ListValue, py.TupleValue)):
        return isinstance(wanted, (t.ListType, t.TupleType))
    if isinstance(value, py.Const):
        if value.value is None or isinstance(value.value, str):
            return wanted in (t.NONE, t.STR, t.ANY)
        return wanted is not t.TENSOR and not isinstance(wanted, t.TupleType)
    return not (isinstance(value, (Number, Fixed)) and wanted is t.TENSOR)
