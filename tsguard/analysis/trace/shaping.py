"""The walk's values and the rules of shapes: what sizes are known of, and what is learned on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tsguard.analysis import values as py
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.shapes import arranging, indexing, layers, rules
from tsguard.analysis.trace.shapes.dims import Dim, Symbol, symbol_dim
from tsguard.analysis.trace.shapes.extents import ANY, Extent, named, product, squeezed
from tsguard.analysis.trace.shapes.facts import Facts, is_input
from tsguard.analysis.trace.shapes.operation import Operation, Shaped, extent_of
from tsguard.analysis.trace.values import Equation, Pieces, Traced
from tsguard.report.records import replace

Args = Sequence[py.Value]
Kwargs = Mapping[str, py.Value]


def learns(tracer: Tracer) -> bool:
    """Whether what runs now runs for every input that eager takes."""
    if tracer.branches or tracer.open_loops or tracer.outer_loops or tracer.tries:
        return False
    return not any(frame.returned for frame in tracer.frames)


def learn(tracer: Tracer, equations: Sequence[Equation]) -> None:
    """Take for the same what a check lets pass only if it is the same.

    The author of ``other_inputs()`` wants such served as eager refuses: nothing is learned then.
    """
    if learns(tracer) and not tracer.serves_others:
        for left, right in equations:
            tracer.facts.equal(left, right)


def of_input(facts: Facts, name: str, rank: int | None = None) -> Extent:
    """The shape of an input, and its rank where an example tells it."""
    return facts.extent(named(name, rank))


def extent(tracer: Tracer, tensor: py.TensorValue) -> Extent | None:
    """What is known of a tensor's shape; one of which nothing is gets a name for its dimensions."""
    if isinstance(tensor, Traced) and tensor.of == "inputs":
        head = _only_head(tensor.extent)
        if tensor.extent is None or head:
            tracer.named_tensors += 1
            tensor.extent = named(f"?{tracer.named_tensors}")
        for index, dim in enumerate(head):
            if dim is not None:
                tracer.facts.takes(tensor.extent, index, dim)
    return extent_of(tracer.facts, tensor)


def _only_head(shape: Extent | None) -> tuple[Dim | None, ...]:
    """The first dimensions, of which data tells none, where no more is known of a shape."""
    head = () if shape is None or shape.dims or shape.lead is None else shape.lead.head
    return () if any(dim is not None and dim.is_of_data for dim in head) else head


def size_along(tracer: Tracer, tensor: py.TensorValue, index: int) -> Dim | None:
    """The size of a tensor in one dimension, where anything is known of it."""
    shape = extent(tracer, tensor)
    dim = None if shape is None else shape.at(index)
    return None if dim is None else tracer.facts.resolved(dim)


def count(tracer: Tracer, tensor: py.TensorValue) -> Dim | None:
    """How many elements a tensor has."""
    shape = extent(tracer, tensor)
    if shape is None:
        return None
    if shape.lead is None:
        return product(shape.dims) or next((d for d in shape.dims if d is not None and d.is_of_data), None)
    if shape.lead.first is not None:
        return shape.lead.first if shape.lead.first.is_of_data else None
    is_whole = shape.lead.tensor is not None and not shape.lead.dropped and not shape.dims
    return symbol_dim(Symbol("input", (shape.lead.tensor, "count"))) if is_whole else None


def known_value(facts: Facts, dim: Dim | None) -> py.Value | None:
    """The value that a dimension is for every input, if it is one."""
    if dim is None:
        return None
    dim = facts.resolved(dim)
    if dim.number is not None:
        return py.Const(dim.number)
    return py.Unknown(None, "int") if dim.is_constant else None


def of_call(tracer: Tracer, name: str, args: Args, kwargs: Kwargs, result: py.Value) -> py.Value:
    """The result of a function or method of torch, with what is known of its shape."""
    if not isinstance(result, (py.TensorValue, py.ListValue, py.TupleValue)):
        return result
    rule = rules.rule_of(name)
    op = Operation(tracer.facts, args, kwargs, learns(tracer))
    shaped = None if rule is None else rule(op)
    if shaped is None and name.rpartition(".")[2] == "squeeze" and arranging.may_drop_more(op):
        tracer.named_tensors += 1
        shaped = squeezed(tracer.named_tensors)
    return _with(shaped, result, args)


def of_layer(
    tracer: Tracer, name: str, module: py.ModuleValue, args: Args, kwargs: Kwargs, result: py.Value
) -> py.Value:
    """The result of a layer of torch.nn, with what is known of its shape."""
    if not layers.has_rule(name):
        return result
    settled = {key: tracer.settled(value) for key, value in module.arguments.items()}
    op = Operation(tracer.facts, args, kwargs, learns(tracer))
    return _with(layers.shaped(name, op, Operation(tracer.facts, (), settled)), result, args)


def of_item(tracer: Tracer, owner: py.TensorValue, key: py.Value, result: py.Value) -> py.Value:
    """``owner[key]``, with what is known of its shape."""
    shape = extent(tracer, owner)
    may_be_list = _may_be_list(tracer, owner, shape, key)
    shaped = None if may_be_list else indexing.taken(Operation(tracer.facts, [owner, key]))
    return _with(shaped, result, [owner])


def _may_be_list(tracer: Tracer, owner: py.TensorValue, shape: Extent | None, key: py.Value) -> bool:
    """Whether one of several tensors may be taken: of an input that nothing shows to be a tensor itself."""
    if not isinstance(owner, Traced) or owner.origin.node is not None or not isinstance(key, py.Const):
        return False
    return owner.origin.name not in tracer.exports.tensors and (shape is None or shape.rank is None)


def _with(shaped: Shaped, result: py.Value, args: Args) -> py.Value:
    if isinstance(result, py.TensorValue):
        one = shaped[0] if isinstance(shaped, list) else shaped
        shape = one if isinstance(one, Extent) else None
        return result if result in args else _shape(result, shape)  # values are compared by identity
    if isinstance(result, py.TupleValue):
        return replace(result, items=_each(result.items, shaped))
    if isinstance(result, py.ListValue):
        if isinstance(shaped, list) and result.items:
            items = result.items if len(result.items) == len(shaped) else [result.items[0]] * len(shaped)
            return py.ListValue(list(_each(tuple(items), shaped)))
        each = shaped if isinstance(shaped, Extent) else ANY
        items = [_shaped(item, each) for item in result.items]
        return (
            replace(result, items=items) if isinstance(result, Pieces) else py.ListValue(items, result.open)
        )
    return result


def _shape(tensor: py.TensorValue, shape: Extent | None) -> py.TensorValue:
    """A tensor that a call has just made, with its shape."""
    if isinstance(tensor, Traced):
        tensor.extent = shape
    elif shape is not None and shape.lead is None:
        tensor.sizes = tuple(None if dim is None else dim.number for dim in shape.dims)
    return tensor


def _each(items: tuple[py.Value, ...], shaped: Shaped) -> tuple[py.Value, ...]:
    if isinstance(shaped, list):
        extents = [*shaped, *[None] * (len(items) - len(shaped))]
        return tuple(_shaped(item, one) for item, one in zip(items, extents, strict=False))
    return tuple(_shaped(item, shaped) for item in items)


def _shaped(value: py.Value, shape: Shaped) -> py.Value:
    if isinstance(value, py.TupleValue):
        return replace(value, items=_each(value.items, shape))
    if not isinstance(shape, Extent):
        return value
    if isinstance(value, Traced):
        return replace(value, extent=shape)
    if isinstance(value, py.TensorValue) and shape.lead is None:
        sizes = tuple(None if dim is None else dim.number for dim in shape.dims)
        return replace(value, sizes=sizes)
    return value


def input_facts(facts: Facts) -> Facts:
    """What was learned of the inputs themselves, which are the same in another run."""
    ranks = {tensor: rank for tensor, rank in facts.ranks.items() if is_input(tensor)}
    pins = {symbol: value for symbol, value in facts.pins.items() if _is_of_input(symbol)}
    pins = {s: v for s, v in pins.items() if all(map(_is_of_input, v.inner_symbols()))}
    return Facts(ranks, pins, dict(facts.other_ranks), facts.dtype, facts.numbers)


def _is_of_input(symbol: Symbol) -> bool:
    tensor = symbol.parts[0]
    if symbol.kind in ("//", "min"):
        dims = [part for part in symbol.parts if isinstance(part, Dim)]
        return all(_is_of_input(inner) for dim in dims for inner in dim.inner_symbols())
    return symbol.kind == "argument" or (isinstance(tensor, Symbol) and is_input(tensor))
