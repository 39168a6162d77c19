"""Functions without source: Python's builtins, math, numpy and torch's own."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tsguard.analysis import values as py
from tsguard.analysis.export import arrays, attributes, breaks, data, ordering, sizes
from tsguard.analysis.python import builtin_calls, operations, standard_calls
from tsguard.analysis.python.drawn_numbers import only_outcome
from tsguard.analysis.python.iteration import consume, iterate
from tsguard.analysis.trace import (
    attention,
    conversions,
    copies,
    listed_shapes,
    operators,
    outside,
    shaping,
    sorting,
    sources,
    telling,
    torch_functions,
    type_questions,
)
from tsguard.analysis.trace import attributes as traced_attributes
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.counting import Args, Handler, Kwargs, extreme, length_of, range_of, taken
from tsguard.analysis.trace.operators import report_number
from tsguard.analysis.trace.origins import Origin
from tsguard.analysis.trace.values import (
    Fixed,
    Number,
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
    size,
)
from tsguard.report.records import replace


def call(tracer: Tracer, name: str, args: Args, kwargs: Kwargs, node: ast.AST | None) -> py.Value | None:
    """The result of calling a name of an unread package; None where Python's own way does."""
    head, _, short = name.partition(".")
    node = node if node is not None else ast.Constant(None)
    breaks.called(tracer, name, args, node)
    attributes.given_data(tracer, name, node)
    source = sources.source_of(name)
    if source is not None:
        only = only_outcome(tracer, name, args, kwargs)
        return _drawn(tracer, name, source, [*args, *kwargs.values()], node) if only is None else only
    if head == "torch":
        args, kwargs = _first_named(args, kwargs)
        made = torch_functions.call(tracer, name, args, kwargs, node)
        return None if made is None else attention.without_weights(tracer, name, args, kwargs, made)
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(tracer, args, kwargs, node)
    if name in ("builtins.eval", "builtins.exec"):
        tracer.gap(node, f"what {short} runs is not analysed")
    if head in ("math", "numpy"):
        args, kwargs = [plainly(value) for value in args], {key: plainly(v) for key, v in kwargs.items()}
    if head == "math":
        data.mathematics(tracer, short, args, node)
        sizes.wanted(tracer, "fixed-size", args if short not in data.SYMBOLIC else [], node)
    elif head == "numpy":
        arrays.given(tracer, short, [*args, *kwargs.values()], node)
    is_followed = head == "builtins" or name in builtin_calls.HANDLERS
    if not is_followed and head not in ("math", "numpy"):
        outside.handed(tracer, name, [*args, *kwargs.values()], node)
    if not any(depends(value) for value in (*args, *kwargs.values())):
        return None
    if head == "math":
        return conversions.mathematics(tracer, short, args, node)
    if head == "numpy":
        made = conversions.to_numpy(tracer, args, kwargs, node)
        return conversions.product(made, args) if short in ("prod", "product") and len(args) == 1 else made
    return None if is_followed else _owing([*args, *kwargs.values()], node)


# How the first argument of functions of torch is called, and what goes before where it is not the first.
_FIRST = ("input", "tensors", "tensor")
_BEFORE_INPUT = frozenset({"condition", "functions", "sorted_sequence", "tensor_list"})


def _first_named(args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
    """The arguments of a function of torch with the first where it stands if it is named."""
    first = next((name for name in _FIRST if name in kwargs), None)
    if args or first is None or not _BEFORE_INPUT.isdisjoint(kwargs):
        return args, kwargs
    return [kwargs[first]], {name: value for name, value in kwargs.items() if name != first}


def _printed(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    if isinstance(node, ast.Call) and telling.only_reads(node):
        traced_attributes.told_of_data(tracer, node)
    return None


def of_compiled(tracer: Tracer, values: Args, node: ast.AST | None) -> py.Value | None:
    """What compiled code of another package makes of numbers: it takes those of the example."""
    node = node if node is not None else ast.Constant(None)
    sizes.wanted(tracer, "fixed-size", values, node)
    data.number_wanted(tracer, "data-number", values, node)
    live = next((part for part in parts(values) if isinstance(part, Number) and is_live(part)), None)
    if live is None:
        return _owing(values, node)
    return operators.number_of(tracer, "cast", live, node)


def _drawn(tracer: Tracer, name: str, source: Source, values: Args, node: ast.AST) -> py.Value | None:
    """What is another at every call; None where the forward has seeded what it is drawn from."""
    owner, _, short = name.rpartition(".")
    if owner == "numpy.random":
        arrays.given(tracer, f"random.{short}", values, node)
    if _is_seeded(tracer, owner):
        return None
    origin = Origin(sources.NAMES[source], node)
    return Untraced(None, "float", origin=origin, source=source, is_share=name in sources.SHARES)


def _owing(values: Args, node: ast.AST) -> py.Value | None:
    """The result of a function that is not read: wrong in the trace where what it is given is."""
    numbers = [part for part in parts(values) if isinstance(part, Number)]
    found = next((part for part in numbers if part.debt is not None), None)
    if found is not None:
        return frozen_again(found, node)
    live = next((part for part in numbers if is_live(part)), None)
    return None if live is None else frozen(live.origin.then(node), live.kind, pending=True)


def _is_seeded(tracer: Tracer, generator: str) -> bool:
    """Whether the forward has seeded a generator on every way to what runs now."""
    where = tracer.seeded.get(generator)
    return where is not None and tracer.enclosing[: len(where)] == where


def _converted(hint: str) -> Handler:
    def run(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
        value = args[0] if args else py.NONE
        data.number_wanted(tracer, "data-number", args[:1], node)
        sizes.wanted(tracer, "fixed-size", args[:1], node)
        if isinstance(value, Traced) or (isinstance(value, Number) and (is_live(value) or value.mixed)):
            return conversions.to_number(tracer, value, hint, node)
        if isinstance(value, Number) and value.hint == "str":
            tracer.report("unsupported-on-size/text", node, value.origin)
            return frozen(value.origin.then(node), value.kind, hint)
        made = taken(tracer, args[:1], node)
        return replace(made, hint=hint) if isinstance(made, Fixed) else made

    return run


def _unsupported(name: str) -> Handler:
    """Builtins that 0-dim tensors, and so sizes while tracing, do not have."""

    def run(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
        live = next((value for value in args if isinstance(value, Number) and value.live), None)
        if name == "divmod":
            data.symbol_wanted(tracer, "data-number/argument", args, node)
        if live is None:
            return taken(tracer, args, node)
        tracer.report("unsupported-on-size", node, live.origin, function=name)
        if name == "divmod":
            sizes.wanted(tracer, "lost-size/divmod", args, node)
        number = frozen(live.origin.then(node), live.kind, "int")
        return py.TupleValue((number, number)) if name == "divmod" else number

    return run


def _magnitude(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    value = plainly(args[0]) if args else py.NONE
    if isinstance(value, Number):
        return operators.number_from(value, value, "", node)
    return value if depends(value) else None


def _hashed(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``hash(n)``: tensors have one each, and so have sizes while tracing."""
    value = next((part for part in parts(args[:1]) if isinstance(part, Number) and part.live), None)
    if value is None:
        return None
    report_number(tracer, "key", value, node)
    return frozen(value.origin.then(node), value.kind, "int")


def _gathered(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``set(x.shape)``, which hashes the sizes."""
    if args and isinstance(args[0], (py.ListValue, py.TupleValue)):
        _hashed(tracer, [*args[0].items[:1]], kwargs, node)
    return None


def _operator(op: type[ast.operator]) -> Handler:
    def run(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
        is_traced = len(args) == 2 and operators.concerns(*args)
        return operators.binary(tracer, op(), args[0], args[1], node) if is_traced else None

    return run


def _reduced(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``reduce(operator.mul, x.shape)`` of as many sizes as nobody knows: what it makes of two is of the same kind."""
    items, is_open = iterate(tracer, args[1]) if len(args) > 1 else ([], False)
    if not is_open or not any(map(is_live, items)):
        return None
    made = tracer.call(args[0], [items[0], items[-1]], {}, node)
    return replace(made, dim=None, known=None) if isinstance(made, Number) else made


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


def _quantified(over: Callable[[list[object]], bool]) -> Handler:
    """``all`` or ``any`` over what is asked of sizes, data or fixed properties."""

    def run(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
        items, is_open = iterate(tracer, args[0]) if args else ([], False)
        live = next((value for value in items if is_live(value)), None)
        if live is None:
            ordering.any_asked(tracer, items, node)
            found = taken(tracer, items, node)
            told = [item.default if isinstance(item, Fixed) else item for item in items]
            if isinstance(found, Fixed) and not is_open and all(isinstance(item, py.Const) for item in told):
                return replace(found, default=py.Const(over([py.constant(item) for item in told if item])))
            return found
        assert isinstance(live, (Number, Traced))
        report_number(tracer, "condition", live, node)
        data.asked(tracer, live, node)
        return frozen(live.origin.then(node), "data" if isinstance(live, Traced) else live.kind, "bool")

    return run


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
    items, _ = consume(tracer, args[0])
    total: py.Value = args[1] if len(args) > 1 else py.Const(0)
    for value in items:
        total = (
            operators.binary(tracer, ast.Add(), total, value, node)
            if operators.concerns(total, value)
            else operations.binary(tracer, ast.Add(), total, value, node)
        )
    return total


def _reordered(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``reversed`` and ``sorted`` of shapes; sorting compares."""
    value = args[0] if args else py.NONE
    if not isinstance(value, Shape):
        return None
    origin = value.origin.then(node)
    if value.open:
        return Shape((size(origin),), True, origin=origin)
    return Shape(value.items[::-1], origin=origin)


def _sorted(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    items, is_open = consume(tracer, args[0]) if args else ([], False)
    return py.ListValue(sorting.ordered(tracer, items, kwargs, node, is_open=is_open), is_open)


def _queue(tracer: Tracer, args: Args, kwargs: Kwargs, node: ast.AST) -> py.Value | None:
    """``deque(...)``, which holds what a list does; one of a greatest length may have lost some of it."""
    items, is_open = iterate(tracer, args[0]) if args else ([], False)
    return py.ListValue(list(items), is_open or len(args) > 1 or "maxlen" in kwargs)


_HANDLERS: dict[str, Handler] = {
    **{name: _operator(op) for name, op in standard_calls.OPERATORS.items()},
    "collections.deque": _queue,
    "functools.reduce": _reduced,
    "builtins.print": _printed,
    "builtins.len": length_of,
    "builtins.next": outside.advanced,
    "random.shuffle": outside.shuffled,
    "builtins.range": range_of,
    "builtins.min": extreme(-1),
    "builtins.max": extreme(1),
    "builtins.int": _converted("int"),
    "builtins.float": _converted("float"),
    "builtins.bool": _converted("bool"),
    "builtins.complex": _converted("complex"),
    "operator.index": _converted("int"),
    "builtins.round": _unsupported("round"),
    "builtins.divmod": _unsupported("divmod"),
    "builtins.abs": _magnitude,
    "builtins.pow": _power,
    "builtins.hash": _hashed,
    "builtins.set": _gathered,
    "builtins.str": _text,
    "builtins.repr": _text,
    "builtins.format": _text,
    "builtins.any": _quantified(any),
    "builtins.all": _quantified(all),
    **type_questions.HANDLERS,
    "builtins.sum": _sum,
    "builtins.reversed": _reordered,
    "builtins.sorted": _sorted,
    "builtins.tuple": listed_shapes.listed,
    "builtins.list": listed_shapes.listed,
    **copies.HANDLERS,
    "random.seed": _seeded("random"),
    "numpy.random.seed": _seeded("numpy.random"),
}
