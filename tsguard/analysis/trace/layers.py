"""Layers of torch.nn: their outputs, from the tables."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.budgets import TRACED_CHILD_STEPS
from tsguard.analysis.export import breaks, recording, sizes
from tsguard.analysis.export import calls as exported
from tsguard.analysis.python import ancestry, library
from tsguard.analysis.trace import attention, made_layers, results, shaping
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.operators import tensor
from tsguard.analysis.trace.shapes.operation import dim_of
from tsguard.analysis.trace.uses import used
from tsguard.analysis.trace.values import Number, Opaque, Traced, is_live, origin_of, parts
from tsguard.language import schemas
from tsguard.language.rule_names import RuleName

Args = list[py.Value]
Kwargs = dict[str, py.Value]

_RECURRENT = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")
_UNTRACEABLE: dict[str, RuleName] = {
    "torch.nn.MaxUnpool1d": "untraceable-call/unpool",
    "torch.nn.MaxUnpool2d": "untraceable-call/unpool",
    "torch.nn.MaxUnpool3d": "untraceable-call/unpool",
    "torch.nn.FractionalMaxPool2d": "untraceable-call/fractional",
    "torch.nn.FractionalMaxPool3d": "untraceable-call/fractional",
}


def forward(
    tracer: Tracer, module: py.ModuleValue, args: Args, kwargs: Kwargs, node: ast.AST | None, name: str = ""
) -> py.Value:
    """The result of a module whose forward is torch's own; ``name`` is the class it is called on."""
    called = node or tracer.target.node
    node = node if node is not None else ast.Constant(None)
    values = [*args, *kwargs.values()]
    for base in ancestry.mro(tracer, module.cls):
        if isinstance(base, py.Unknown):
            break
        if not isinstance(base, py.External) or (
            name and base.name != name and name in tracer.tables.modules
        ):
            continue
        if base.name == "torch.nn.Sequential":
            return _in_sequence(tracer, module, args, node)
        if base.name == "torch.nn.Identity" and args:
            return args[0]
        entry = tracer.tables.modules.get(base.name)
        if entry is not None:
            tracer.state.called(tracer, module)
            result = _layer(tracer, module, base.name, args, kwargs, node)
            recording.by_layer(module, result)
            return shaping.of_layer(tracer, base.name, module, args, kwargs, result)
    tracer.state.called(tracer, module)
    gap = ancestry.without_forward(tracer, module.cls, tracer.module, called)
    if gap is not None:
        tracer.note(gap)
    origin = origin_of(values)
    return py.Unknown() if origin is None else Opaque(None, origin=origin.then(node))


def _in_sequence(tracer: Tracer, module: py.ModuleValue, args: Args, node: ast.AST) -> py.Value:
    value = args[0] if args else py.NONE
    for child in module.children.values():
        tracer.spend(TRACED_CHILD_STEPS)
        value = tracer.call(child, [value], {}, node)
    return value


def _layer(
    tracer: Tracer, module: py.ModuleValue, name: str, args: Args, kwargs: Kwargs, node: ast.AST
) -> py.Value:
    if name in _UNTRACEABLE:
        tracer.report(_UNTRACEABLE[name], node)
    if name == library.LAYER_IN_PYTHON:
        tracer.report("unsaveable-trace/layer", node)
    exported.layer(tracer, name, args, node)
    exported.encoder(tracer, name, module, args, kwargs, node)
    breaks.layer(tracer, name, node)
    if ".Lazy" in name:
        tracer.report("untraceable-call/lazy", node)
    used(tracer, [*args, *kwargs.values()], node)
    made_layers.check(tracer, module, name, node)
    attention.masked(tracer, name, args, kwargs, node)
    values = [*args, *kwargs.values()]
    if name.startswith("torch.nn.ConvTranspose"):
        _note_output_size(tracer, module, name, args, kwargs.get("output_size", py.NONE), node)
    if name in _RECURRENT and args and not isinstance(args[0], py.TensorValue):
        exported.recurrent(tracer, args[0], node)
        returned = results.of_type(schemas.parse(_schemas(tracer, module, name)[0]).returns, values, node)
        states = returned.items[1:] if isinstance(returned, py.TupleValue) else ()
        return py.TupleValue((values[0], *states))
    if name in _RECURRENT and args and isinstance(args[0], Traced):
        first = tracer.settled(module.arguments.get("batch_first", py.FALSE)) == py.FALSE
        extent = shaping.extent(tracer, args[0])
        steps = None if extent is None else extent.at(0 if first else 1)
        sizes.stepped_over(tracer, args[0], steps, node)
    texts = _schemas(tracer, module, name)
    if not texts:
        return tensor(values, node)
    result = results.of_type(schemas.parse(texts[0]).returns, values, node)
    return attention.without_weights(tracer, name, args, kwargs, result)


def _note_output_size(
    tracer: Tracer, module: py.ModuleValue, name: str, args: Args, named: py.Value, node: ast.AST
) -> None:
    """A transposed convolution subtracts an ``output_size`` from others in Python, into a padding."""
    wanted = args[1] if len(args) > 1 else named
    live = next((part for part in parts([wanted]) if isinstance(part, Number) and is_live(part)), None)
    if live is not None and not _pads_alike(tracer, module, name, args, wanted):
        tracer.report("frozen-argument/convolution", node, live.origin, argument="output_size")


def _pads_alike(tracer: Tracer, module: py.ModuleValue, name: str, args: Args, wanted: py.Value) -> bool:
    """Whether that padding is the same for every input: what is wanted, without what there is without it."""
    if not isinstance(wanted, (py.ListValue, py.TupleValue)) or wanted.open:
        return False
    least = shaping.of_layer(tracer, name, module, args[:1], {}, Traced())
    extent = shaping.extent(tracer, least) if isinstance(least, Traced) else None
    if extent is None:
        return False
    count = int(name[-2])  # ConvTranspose2d
    pairs = zip(map(dim_of, wanted.items[-count:]), extent.last(count), strict=False)
    return all(one is not None and dim is not None and one.plus(dim, -1).is_constant for one, dim in pairs)


def _schemas(tracer: Tracer, module: py.ModuleValue, name: str) -> list[str]:
    """A layer's forward as its constructor arguments make it."""
    entry = tracer.tables.modules[name]
    for arguments, variant in entry.get("variants", {}).items():
        flag, _, wanted = arguments.rpartition(", ")[2].partition("=")
        given = library.known_flag(tracer, module.arguments.get(flag, py.Unknown()))
        if given is not None and str(given) == wanted:
            entry = {"forward": variant}
    found = entry["forward"].get("schemas", [])
    return list(found)


def parameters(tracer: Tracer, module: py.ModuleValue, *, named: bool) -> py.Value | None:
    """``module.parameters()``; None for more than a forward goes over one by one."""
    found: list[py.Value] = []
    for path, part in library.descendants(module):
        if part.open or len(found) > _MOST_PARAMETERS:
            return None
        for name in part.parameters:
            value = tracer.attribute(part, name)
            if isinstance(value, py.TensorValue):
                whole = py.Const(f"{path}.{name}" if path else name)
                found.append(py.TupleValue((whole, value)) if named else value)
    return py.ListValue(found)


_MOST_PARAMETERS = 32
