"""Inputs from one run of a module on stand-ins: each operation says more about what these must be."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_pre_hook

from tsguard.runtime.budgets import STAND_IN_SECONDS
from tsguard.runtime.worker.inputs.demands import arranging, elements, indexing, products, recurrent
from tsguard.runtime.worker.inputs.demands.operation import Model, Operation, Unmodelled
from tsguard.runtime.worker.inputs.demands.shapes import Contradiction, Rest, Shape, Size
from tsguard.runtime.worker.inputs.demands.standins import (
    Origin,
    Session,
    StandIn,
    StandInDict,
    StandInList,
    materialised,
    stand_in,
)
from tsguard.runtime.worker.inputs.specs import (
    INVENTED_KEY,
    DictSpec,
    Guess,
    MadeSpec,
    SequenceSpec,
    Spec,
    TensorSpec,
)
from tsguard.runtime.worker.loading import evaluate

_MODELS: dict[str, Model] = {**elements.MODELS, **products.MODELS, **arranging.MODELS, **indexing.MODELS}
_PASSES = 2


def demanded(callee: Any, module: ModuleType, guess: Guess, usual: Mapping[str, tuple[int, ...]]) -> Guess:
    """The guess with the shapes and kinds that the code demands.

    Args:
        guess: says which arguments there are, and what is usual.
        usual: the usual shape of what has one, by its path; of others only what the code demands counts.
    """
    for _ in range(_PASSES):
        found, came_through = _run(callee, module, guess, usual)
        if came_through or found == guess:
            return found
        # Sizes that Python had seen before they were decided are the decided ones from the start.
        guess, usual = found, {path: spec.shape for path, spec in found.tensors().items()}
    return guess


def _run(
    callee: Any, module: ModuleType, guess: Guess, usual: Mapping[str, tuple[int, ...]]
) -> tuple[Guess, bool]:
    session = Session(_perform, _hints(callee), time.monotonic() + STAND_IN_SECONDS)
    makers = [_Maker(session, module, usual, a.name, a.spec) for a in guess.arguments]
    came_through = True
    try:
        values = [maker.value() for maker in makers]
        args = [v for v, a in zip(values, guess.arguments, strict=True) if not a.keyword]
        kwargs = {a.name: v for v, a in zip(values, guess.arguments, strict=True) if a.keyword}
        with torch.no_grad(), _layers_asked():
            callee(*args, **kwargs)
    except Exception:
        came_through = False
    specs = [maker.spec_now() for maker in makers]
    arguments = [replace(a, spec=spec) for a, spec in zip(guess.arguments, specs, strict=True)]
    return Guess(tuple(arguments)), came_through


def _perform(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], session: Session
) -> Any:
    """The result of a call with stand-ins among its arguments."""
    name = getattr(func, "__name__", "")
    if name == "__get__":
        name = f"{getattr(getattr(func, '__self__', None), '__name__', '')}.__get__"
    model = _MODELS.get(name)
    if model is not None:
        try:
            return model(Operation(func, name, args, kwargs, session))
        except (Unmodelled, Contradiction, IndexError):
            pass
    return func(*materialised(args), **materialised(kwargs))


@contextmanager
def _layers_asked() -> Iterator[None]:
    """Layers that look at their inputs before they run say what they take."""
    ask: Callable[..., Any] = recurrent.constrained
    handle = register_module_forward_pre_hook(ask)
    try:
        yield
    finally:
        handle.remove()


def _hints(callee: Any) -> dict[str, int]:
    """Sizes that have names: integer arguments of the constructor by their defaults, and attributes."""
    if not isinstance(callee, nn.Module):
        return {}
    parameters = inspect.signature(type(callee).__init__).parameters.values()
    found = {p.name: p.default for p in parameters} | vars(callee)
    return {name: n for name, n in found.items() if type(n) is int and n > 1}


class _Maker:
    """The stand-ins for one argument, and the value that they turn out to stand for."""

    def __init__(
        self,
        session: Session,
        module: ModuleType,
        usual: Mapping[str, tuple[int, ...]],
        path: str,
        spec: Spec,
    ) -> None:
        self.session = session
        self.module = module
        self.usual = usual
        self.path = path
        self.spec = spec
        self.made: Any = None
        self.inner: list[tuple[Any, _Maker]] = []

    def value(self) -> Any:
        spec = self.spec
        if isinstance(spec, TensorSpec):
            self.made = self._tensor(spec)
        elif isinstance(spec, SequenceSpec) and spec.is_tuple:
            self.made = tuple(self._part(f"[{n}]", n, item) for n, item in enumerate(spec.items))
        elif isinstance(spec, SequenceSpec):
            self.made = StandInList(lambda: self._item(spec), len(spec.items))
        elif isinstance(spec, DictSpec):
            items = {key: self._part(f"[{key!r}]", key, item) for key, item in spec.items}
            # A key that is only there so that there is one makes room for those that are read.
            invented = [key for key, _ in spec.items] == [INVENTED_KEY]
            if invented:
                items, self.inner = {}, []
            self.made = StandInDict(
                lambda k: self._part(f"[{k!r}]", k, spec.items[0][1]), items, grows=invented
            )
        elif isinstance(spec, MadeSpec):
            fields = {key: self._part(f".{key}", key, item) for key, item in spec.items}
            self.made = evaluate(self.module, spec.name)(**fields)
        else:
            self.made = evaluate(self.module, spec.expression())
        return self.made

    def _item(self, spec: SequenceSpec) -> Any:
        place = len(self.inner)
        return self._part("[]", place, spec.items[min(place, len(spec.items) - 1)])

    def _part(self, step: str, key: Any, spec: Spec) -> Any:
        maker = _Maker(self.session, self.module, self.usual, self.path + step, spec)
        self.inner.append((key, maker))
        return maker.value()

    def _tensor(self, spec: TensorSpec) -> StandIn:
        usual = self.usual.get(self.path, ())
        name = self.path.rpartition(".")[2].rpartition("['")[2].strip("[]'")
        origin = Origin(name or self.path, spec.kind)
        return stand_in(Shape((), Rest(), (), usual, spec.shape), self.session, origin, spec.kind)

    def spec_now(self) -> Spec:
        spec, inner = self.spec, [(key, maker.spec_now()) for key, maker in self.inner]
        if isinstance(spec, TensorSpec):
            return self._tensor_now(spec)
        if isinstance(spec, SequenceSpec):
            return replace(spec, items=tuple(item for _, item in inner)) if inner else spec
        if isinstance(spec, DictSpec):
            return DictSpec(tuple(inner)) if inner else spec
        if isinstance(spec, MadeSpec):
            return replace(spec, items=tuple(inner)) if inner else spec
        return spec

    def _tensor_now(self, spec: TensorSpec) -> Spec:
        if not isinstance(self.made, StandIn) or self.made.origin is None:
            return spec
        origin = self.made.origin
        if origin.states:
            parts = tuple(_spec_of(state, spec, self.session) for state in origin.states)
            return SequenceSpec(parts, is_tuple=True)
        return _spec_of(self.made, spec, self.session)


def _spec_of(made: StandIn, spec: TensorSpec, session: Session) -> TensorSpec:
    session.settle()
    origin, shape = made.origin, made.shape_now
    sizes = shape.decide(session.hints)
    kind = spec.kind
    if origin is not None:
        # What only its name says: a mask that is added to scores holds what is added, not whether.
        is_number = (kind == "int" and origin.computed_with) or (kind == "bool" and origin.added)
        kind = origin.kind or ("float" if is_number else kind)
        # One row is not looked up by index: it came out of values that stand-ins do not have.
        sizes_known = [h.decide(session.hints) for h in origin.highs if isinstance(h, Size)]
        highs = [h for h in sizes_known if h > 1] + [h for h in origin.highs if isinstance(h, int)]
        high = min(highs, default=spec.high)
        dtype = "torch.complex64" if origin.complex else spec.dtype
        return replace(spec, shape=sizes, kind=kind, high=high, dtype=dtype, low=min(spec.low, high - 1))
    return replace(spec, shape=sizes, kind=kind)
