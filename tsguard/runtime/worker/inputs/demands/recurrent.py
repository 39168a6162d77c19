"""Layers with a state: they compare the shapes of what they get before they run."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from tsguard.runtime.worker.inputs.demands.operation import must_be, shape_of
from tsguard.runtime.worker.inputs.demands.shapes import Contradiction, Rest, Shape, Size
from tsguard.runtime.worker.inputs.demands.standins import StandIn, stand_in


def constrained(layer: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Decide shapes by what a layer takes at each place; its arguments, where a state turns out to be two."""
    try:
        if isinstance(layer, nn.RNNBase):
            return _sequence(layer, args)
        if isinstance(layer, nn.RNNCellBase):
            return _cell(layer, args)
        if isinstance(
            layer, (nn.MultiheadAttention, nn.TransformerEncoder, nn.TransformerDecoder, nn.Transformer)
        ):
            for tensor in args[:3]:
                if isinstance(tensor, StandIn):
                    tensor.shape_now.close(3)
    except (Contradiction, IndexError):
        pass
    return None


def _sequence(layer: nn.RNNBase, args: tuple[Any, ...]) -> tuple[Any, ...]:
    shape = shape_of(args[0])
    if shape.rank() is None:
        shape.close(3)
    must_be(args[0], "float")
    shape.at(-1).must_be(layer.input_size)
    if len(args) < 2 or args[1] is None:
        return args
    batch = shape.at(0 if layer.batch_first else 1)
    count = layer.num_layers * (2 if layer.bidirectional else 1)
    states = _states(args[1], isinstance(layer, nn.LSTM))
    for state in states if isinstance(states, (tuple, list)) else (states,):
        _is_state(state, Size(1, count), batch, layer.proj_size or layer.hidden_size)
    return (args[0], states, *args[2:])


def _cell(layer: nn.RNNCellBase, args: tuple[Any, ...]) -> tuple[Any, ...]:
    shape = shape_of(args[0])
    if shape.rank() is None:
        shape.close(2)
    shape.at(-1).must_be(layer.input_size)
    if len(args) < 2 or args[1] is None:
        return args
    states = _states(args[1], isinstance(layer, nn.LSTMCell))
    for state in states if isinstance(states, (tuple, list)) else (states,):
        _is_state(state, None, shape.at(0), layer.hidden_size)
    return (args[0], states, *args[2:])


def _is_state(state: Tensor, layers: Size | None, batch: Size, hidden: int) -> None:
    shape = shape_of(state)
    shape.close(2 if layers is None else 3)
    shape.at(-1).must_be(hidden)
    shape.at(-2).unite(batch)
    if layers is not None:
        shape.at(0).unite(layers)


def _states(given: Any, two: bool) -> Any:
    """A state that the layer takes, or both where one input stands for them."""
    if not two or not isinstance(given, StandIn) or given.origin is None:
        return given
    origin, session = given.origin, given.session
    if not origin.states:
        origin.states = tuple(stand_in(Shape((), Rest()), session, None, "float") for _ in range(2))
    return origin.states
