"""Functions that are not read: Python's builtins, math, numpy and torch's own."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from tsguard.analysis import values as py
from tsguard.analysis.export import data, reports, sizes
from tsguard.analysis.python.iteration import iterate
from tsguard.analysis.trace import conversions, iteration, kinds, operators, shaping, torch_functions
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.operators import number_of, report_number
from tsguard.analysis.trace.origins import Origin
from tsguard.analysis.trace.shapes.dims import Dim
from tsguard.analysis.trace.shapes.operation import dim_of
from tsguard.analysis.trace.uses import used
from tsguard.analysis.trace.values import (
    Fixed,
    InputDict,
    InputList,
    Number,
    Opaque,
    Pieces,
    Shape,
    Source,
    Traced,
    Untraced,
    depends,
    frozen,
    frozen_again,
    is_live,
    parts,
    plainly,
)

Args = list[py.Value]
Kwargs = dict[str, py.Value]
Handler = Callable[["Tracer", Args, Kwargs, ast.AST], "py.Value | None"]


def call(tracer: Tracer, name: str, args: Args, kwargs: Kwargs, node: ast.AST | None) -> py.Value | None:
    """The result of calling a name of an unread package; None where Python's own way does."""
    head, _, short = name.partition(".")
    node = node if node is not None else ast.Constant(None)
    if head == "torch":
        return torch_functions.call(tracer, name, args, kwargs, node)
    source = _source(name)
    if source is not None and _is_seeded(tracer, name.rpartition(".")[0]):
        return None
    if source is not None:
        origin, is_share = Origin(_SOURCE_NAMES[source], node), name in _SHARES
        return Untraced(None, "float", origin=origin, source=source, is_share=is_share)
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(tracer, args, kwargs, node)
    if head in ("math", "numpy"):
        args, kwargs = [plainly(value) for value in args], {key: plainly(v) for key, v in kwargs.items()}
    if head == "math":
        data.mathematics(tracer, short, args, node)
        sizes.wanted(tracer, "fixed-size", args if short not in data.SYMBOLIC else [], node)
    elif head == "numpy":
        data.array_wanted(tracer, [*args, *kwargs.values()], node)
        sizes.wanted(tracer, "lost-size", [*args, *kwargs.values()], node)
    if not any(depends(value) for value in (*args, *kwargs.values())):
        return None
    if head == "math":
        return conversions.mathematics(tracer, short, args, node)
    if head == "numpy":
        return conversions.to_numpy(tracer, args, kwargs, node)
    return None if head == "builtins" else _owing([*args, *kwargs.values()], node)


def _owing(values: Args, node: ast.AST) -> py.Value | None:
    """The result of a function that is not read: wrong in the trace where what it is given is."""
    found = next((part for part in parts(values) if isinstance(part, Number) and part.debt is not None), None)
    return None if found is None else frozen_again(found, node)


_SOURCE_NAMES: dict[Source, str] = {"random": "random numbers", "clock": "the clock", "state": "a global"}
_CLOCKS = frozenset(
    {"time.time", "time.perf_counter", "time.monotonic", "time.process_time", "datetime.datetime.now"}
)
_NOT_DRAWN = frozenset(
    {"seed", "shuffle", "getstate", "setstate", "Random", "default_rng", "get_state", "set_state"}
)


_SHARES = frozenset({"random.random", "numpy.random.random", "numpy.random.rand"})


def _source(name: str) -> Source | None:
    """What changes from call to call behind a function's back."""
    owner, _, short = name.rpartition(".")
    if owner in ("random", "numpy.random") and short not in _NOT_DRAWN:
        return "random"
    return "clock" if name in _CLOCKS else None


def _is_seeded(tracer: Tracer, generator: str) -> bool:
    """Whether the forward has seeded a generator on every way to what runs now."""
    where = tracer.seeded.get(generator)
    return where is not None and tracer.enclosing[: len(where)] == where


def _len(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    return length(tracer, args[0], node) if args else None


def length(tracer: Tracer, value: py.Value, node: ast.AST) -> py.Value | None:
    """``len(value)``; None where it is plain Python's."""
    if isinstance(value, Traced):
        iteration.rows_wanted(tracer, value, node)
        if value.of != "inputs":
            return py.Unknown(None, "int")
        extent = shaping.extent(tracer, value)
        known = shaping.known_value(tracer.facts, None if extent is None else extent.at(0))
        if known is not None:
            return known
        number = frozen(value.origin.then(node), "size", "int")
        number.debt = tracer.debt("size-to-number/len", node, value.origin)
        return number
    if isinstance(value, Shape):
        known = None if value.open else py.Const(len(value.items))
        return Fixed(None, "int", known, origin=value.origin.then(node), extent=value.extent)
    if isinstance(value, Pieces):
        return frozen(value.origin.then(node), "size", "int", pending=True)
    if isinstance(value, Number) and value.hint == "str":
        return frozen_again(value, node, "int")
    if isinstance(value, (InputList, InputDict)):
        iteration.structure(tracer, value)
    if isinstance(value, (Opaque, Untraced)):
        return value
    return None


def _range(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    data.number_wanted(tracer, "data-number/range", args, node)
    sizes.wanted(tracer, "fixed-size/range", args, node)
    kinds.used_as_sizes(tracer, args)
    for bound in args:
        if is_live(bound):
            assert isinstance(bound, (Number, Traced))
            report_number(tracer, "range", bound, node)
        else:
            used(tracer, [bound], node)
    bounds = [
        frozen(b.origin, getattr(b, "kind", "data"), "int") if is_live(b) else plainly(b)  # type: ignore[attr-defined]
        for b in args
    ]
    if bounds == args or not bounds:
        return None
    first = bounds[0] if len(bounds) > 1 else py.Const(0)
    return py.RangeValue(
        first, bounds[min(1, len(bounds) - 1)], bounds[2] if len(bounds) > 2 else py.Const(1)
    )


def _extreme(sign: int) -> Handler:
    return lambda tracer, args, kwargs, node: _chosen(tracer, args, sign, node)


def _always_first(tracer: Tracer, values: Args, sign: int) -> py.Value | None:
    """The value that is the least of all (``sign`` 1: the greatest) for inputs that are not empty.

    Of equal ones Python takes the first.
    """
    if tracer.serves_others or not all(isinstance(value, (Number, py.Const)) for value in values):
        return None
    dims = [None if (dim := dim_of(value)) is None else tracer.facts.resolved(dim) for value in values]
    for place, (value, dim) in enumerate(zip(values, dims, strict=True)):
        before, after = dims[:place], dims[place + 1 :]
        if dim is None:
            continue
        if all(_lead(dim, d, sign) > 0 for d in before) and all(_lead(dim, d, sign) >= 0 for d in after):
            return value
    return None


def _lead(dim: Dim, other: Dim | None, sign: int) -> int:
    """How far a size is at least ahead of another; below 0 where that is not told."""
    if other is None:
        return -1
    least = (dim.plus(other, -1) if sign > 0 else other.plus(dim, -1)).least()
    return -1 if least is None else least


def _chosen(tracer: Tracer, args: Args, sign: int, node: ast.AST) -> py.Value | None:
    """``min`` and ``max`` ask for the truth of each comparison."""
    data.extreme(tracer, args, node)
    values = iterate(tracer, args[0])[0] if len(args) == 1 else args
    live = [value for value in values if is_live(value)]
    if live and len(values) + _is_open(args) > 1:
        first = None if _is_open(args) else _always_first(tracer, values, sign)
        if first is not None:
            return first
        value = next((v for v in live if isinstance(v, Traced)), live[0])
        assert isinstance(value, (Traced, Number))
        if isinstance(value, Number):
            return number_of(tracer, "extreme", value, node, "int")
        report_number(tracer, "extreme", value, node)
        return Traced(origin=value.origin.then(node))
    if live:
        return live[0]
    return _taken(tracer, args, node)


def _is_open(args: Args) -> int:
    return int(len(args) == 1 and getattr(args[0], "open", False))


def _taken(tracer: Tracer, args: Args, node: ast.AST) -> py.Value | None:
    """A builtin over numbers that Python has already made constants of, or fixed properties."""
    found = next((v for v in parts(args) if isinstance(plainly(v), (Number, Fixed, Untraced, Opaque))), None)
    if isinstance(found, Number):
        return frozen_again(found, node, found.hint)
    if isinstance(found, Fixed):
        return Fixed(
            None,
            found.hint,
            found.default if len(args) == 1 else None,
            origin=found.origin,
            about=found.about,
        )
    return found


def _converted(hint: str) -> Handler:
    def run(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
        value = args[0] if args else py.NONE
        data.number_wanted(tracer, "data-number", args[:1], node)
        sizes.wanted(tracer, "fixed-size", args[:1], node)
        if isinstance(value, Traced) or (isinstance(value, Number) and is_live(value)):
            return conversions.to_number(tracer, value, hint, node)
        if isinstance(value, Number) and value.hint == "str":
            tracer.report("unsupported-on-size/text", node, value.origin)
            return frozen(value.origin.then(node), value.kind, hint)
        return _taken(tracer, args[:1], node)

    return run


def _unsupported(name: str) -> Handler:
    """Builtins that 0-dim tensors, and so sizes while tracing, do not have."""

    def run(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
        live = next((value for value in args if isinstance(value, Number) and value.live), None)
        if live is None:
            return _taken(tracer, args, node)
        tracer.report("unsupported-on-size", node, live.origin, function=name)
        number = frozen(live.origin.then(node), live.kind, "int")
        return py.TupleValue((number, number)) if name == "divmod" else number

    return run


def _magnitude(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    value = args[0] if args else py.NONE
    return value if depends(value) else None


def _power(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    return (
        operators.binary(tracer, ast.Pow(), args[0], args[1], node)
        if len(args) == 2 and operators.concerns(*args)
        else None
    )


def _text(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    given = args[0] if args else py.NONE
    if isinstance(given, Fixed) and given.about == "device" and isinstance(given.default, py.Atom):
        return replace(given, hint="str", default=py.Const(given.default.name))
    return operators.as_text(args, node) if any(depends(value) for value in args) else None


def _quantified(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    items, _ = iterate(tracer, args[0]) if args else ([], False)
    live = next((value for value in items if is_live(value)), None)
    if live is None:
        return _taken(tracer, items, node)
    assert isinstance(live, (Number, Traced))
    report_number(tracer, "condition", live, node)
    data.asked(tracer, live, node)
    return frozen(live.origin.then(node), "data" if isinstance(live, Traced) else live.kind, "bool")


def _isinstance(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """A size is a tensor while tracing, and an int in eager."""
    value = args[0] if args else py.NONE
    wanted = args[1].items if len(args) > 1 and isinstance(args[1], py.TupleValue) else args[1:]
    names = {c.name for c in wanted if isinstance(c, py.External)}
    if isinstance(value, Traced):
        return py.Const("torch.Tensor" in names) if len(names) == len(wanted) else None
    if isinstance(value, Number) and value.live and len(names) == len(wanted):
        is_tensor, is_number = "torch.Tensor" in names, bool(names & {"builtins.int", "builtins.float"})
        if is_tensor != is_number:
            return Fixed(None, "bool", py.Const(is_tensor), origin=value.origin, about="tracing")
        return py.Const(is_tensor)
    if isinstance(value, Shape):
        return py.Const(bool(names & {"torch.Size", "builtins.tuple"}))
    if isinstance(value, (Opaque, Fixed, Untraced, Number)):
        return py.Unknown(None, "bool")
    return None


def _type(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``type(n)`` of a size is ``torch.Tensor`` while tracing."""
    is_size = len(args) == 1 and isinstance(args[0], Number) and args[0].live
    return py.External("torch.Tensor") if is_size else None


def _seeded(generator: str) -> Handler:
    """A forward that seeds a generator draws the same numbers at every call, where it seeds it."""

    def run(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
        given = [*args, *kwargs.values()]
        if given and not py.is_none(given[0]) and not depends(given[0]):
            tracer.seeded[generator] = [] if shaping.learns(tracer) else list(tracer.enclosing)
        return None

    return run


def _sum(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    if not args or not depends(args[0]):
        return None
    items, _ = iterate(tracer, args[0])
    total: py.Value = args[1] if len(args) > 1 else py.Const(0)
    for value in items:
        total = (
            operators.binary(tracer, ast.Add(), total, value, node)
            if operators.concerns(total, value)
            else py.Unknown()
        )
    return total


def _reordered(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``reversed`` and ``sorted`` of shapes; sorting compares."""
    value = args[0] if args else py.NONE
    if not isinstance(value, Shape):
        return None
    return Shape(value.items[::-1], value.open, origin=value.origin.then(node))


def _sorted(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    items, is_open = iterate(tracer, args[0]) if args else ([], False)
    key = kwargs.get("key")
    keys = items if key is None else [tracer.call(key, [item], {}, node) for item in items]
    live = next((key for key in keys if is_live(key)), None)
    if live is not None and len(items) + is_open > 1:
        assert isinstance(live, (Number, Traced))
        report_number(tracer, "condition", live, node)
        data.asked(tracer, live, node)
    return py.ListValue(items, is_open)


def _copied(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """A deep copy of a tensor is new data that the trace knows nothing of."""
    value = args[0] if args else py.NONE
    if isinstance(value, (Traced, py.ModuleValue)):
        reports.report(
            tracer, "outside-torch/copy", node, value.origin if isinstance(value, Traced) else None
        )
    if isinstance(value, Traced) and value.of == "inputs":
        tracer.report("detached-data/copy", node, value.origin)
        return value
    return None


def _sequence(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    value = args[0] if args else py.NONE
    return value if isinstance(value, (Shape, Opaque)) else None


_HANDLERS: dict[str, Handler] = {
    "builtins.len": _len,
    "builtins.range": _range,
    "builtins.min": _extreme(-1),
    "builtins.max": _extreme(1),
    "builtins.int": _converted("int"),
    "builtins.float": _converted("float"),
    "builtins.bool": _converted("bool"),
    "builtins.complex": _converted("complex"),
    "operator.index": _converted("int"),
    "builtins.round": _unsupported("round"),
    "builtins.divmod": _unsupported("divmod"),
    "builtins.abs": _magnitude,
    "builtins.pow": _power,
    "builtins.str": _text,
    "builtins.repr": _text,
    "builtins.format": _text,
    "builtins.any": _quantified,
    "builtins.all": _quantified,
    "builtins.isinstance": _isinstance,
    "builtins.type": _type,
    "builtins.sum": _sum,
    "builtins.reversed": _reordered,
    "builtins.sorted": _sorted,
    "builtins.tuple": _sequence,
    "builtins.list": _sequence,
    "copy.deepcopy": _copied,
    "random.seed": _seeded("random"),
    "numpy.random.seed": _seeded("numpy.random"),
}
