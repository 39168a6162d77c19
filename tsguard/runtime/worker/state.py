"""A module's state beside its parameters: buffers and plain attributes, kept and put back.

Running a module moves batch statistics, counters and caches, and tracing runs it too.
For a comparison both sides must start from the same state.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from tsguard.runtime.worker.guarding import value_or
from tsguard.runtime.worker.values import same_bits

_OWN = ("_parameters", "_buffers", "_modules")
_SCALARS = (bool, int, float, str)


@dataclass(slots=True)
class State:
    """The state of every submodule of ``owner``, by its path; nothing for a function.

    ``parameters`` are those that calls were seen to change, as the average of a teacher.
    """

    owner: Any
    buffers: dict[str, Tensor | None]
    attributes: dict[str, dict[str, Any]]
    parameters: dict[str, Tensor] = field(default_factory=dict)

    @classmethod
    def of(cls, module: Any) -> State:
        """What there is to put back."""
        state = cls(module, {}, {})
        if isinstance(module, nn.Module):
            for path, submodule in module.named_modules():
                for name, buffer in submodule._buffers.items():
                    if is_lazy(buffer):
                        continue  # the first call makes it
                    state.buffers[_join(path, name)] = None if buffer is None else buffer.detach().clone()
                if not isinstance(submodule, torch.jit.ScriptModule):
                    state.attributes[path] = _plain_attributes(submodule)
        return state

    @contextlib.contextmanager
    def watching_parameters(self) -> Iterator[None]:
        """See which parameters a run changes: they are put back as well from now on."""
        is_module = isinstance(self.owner, nn.Module)
        kept = {name: p.detach().clone() for name, p in self.owner.named_parameters()} if is_module else {}
        try:
            yield
        finally:
            for name, parameter in self.owner.named_parameters() if is_module else ():
                if name in kept and not same_bits(parameter.detach(), kept[name]):
                    self.parameters.setdefault(name, kept[name])
            self.restore()

    def has_moved(self) -> bool:
        """Whether the owner's state is another than what was kept; True where that cannot be told."""
        return not value_or(False, lambda: self._is(State.of(self.owner)))

    def _is(self, other: State) -> bool:
        return same_bits(self.buffers, other.buffers) and _same(self.attributes, other.attributes)

    def restore(self, attempt: Any = None) -> None:
        """Put the state back into the owner, and into an attempt made of it."""
        with torch.no_grad():
            if isinstance(self.owner, nn.Module):
                self._restore_owner(self.owner)
            if isinstance(attempt, nn.Module) and attempt is not self.owner:
                self._restore_attempt(attempt)

    def _restore_owner(self, owner: nn.Module) -> None:
        for name, parameter in owner.named_parameters() if self.parameters else ():
            if name in self.parameters:
                parameter.copy_(self.parameters[name])
        for path, submodule in owner.named_modules():
            for name, current in list(submodule._buffers.items()):
                if _join(path, name) not in self.buffers:
                    continue
                kept = self.buffers[_join(path, name)]
                if kept is None or current is None or current.shape != kept.shape:
                    submodule._buffers[name] = None if kept is None else kept.clone()
                else:
                    current.copy_(kept)
            if path in self.attributes:
                _put_back(submodule, self.attributes[path])

    def _restore_attempt(self, attempt: nn.Module) -> None:
        """Buffers that go by the same name, and numbers and strings of compiled modules."""
        for name, buffer in attempt.named_buffers():
            kept = self.buffers.get(own_name(name))
            if kept is not None and kept.shape == buffer.shape:
                buffer.copy_(kept)
        for path, submodule in attempt.named_modules():
            if isinstance(submodule, torch.jit.ScriptModule):
                _put_back_compiled(submodule, self.attributes.get(path, {}))


def own_name(name: str) -> str:
    """A parameter's or buffer's name in the module itself, which torch.compile wraps."""
    return name.removeprefix("_orig_mod.")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _plain_attributes(submodule: nn.Module) -> dict[str, Any]:
    return {
        name: value.copy() if isinstance(value, (list, dict, set)) else value
        for name, value in vars(submodule).items()
        if not _belongs_to_torch(name)
    }


def _same(now: Any, before: Any) -> bool:
    """Whether containers hold the same objects: a value that was computed anew counts as another."""
    if isinstance(now, dict) and isinstance(before, dict):
        return now.keys() == before.keys() and all(_same(now[key], before[key]) for key in now)
    if isinstance(now, list) and isinstance(before, list):
        return len(now) == len(before) and all(map(_same, now, before))
    return now is before or (
        isinstance(now, (set, *_SCALARS)) and type(now) is type(before) and now == before
    )


def _belongs_to_torch(name: str) -> bool:
    return name in _OWN or name == "training" or "_hooks" in name


def _put_back(submodule: nn.Module, attributes: dict[str, Any]) -> None:
    own = vars(submodule)
    for name in [n for n in own if n not in attributes and not _belongs_to_torch(n)]:
        del own[name]
    for name, value in attributes.items():
        own[name] = value.copy() if isinstance(value, (list, dict, set)) else value


def _put_back_compiled(submodule: Any, attributes: dict[str, Any]) -> None:
    for name, value in attributes.items():
        if isinstance(value, _SCALARS):
            with contextlib.suppress(Exception):
                if getattr(submodule, name) != value:
                    setattr(submodule, name, value)


def seed_everything(seed: int) -> None:
    """Seed every generator that a model may draw from."""
    random.seed(seed)
    torch.manual_seed(seed)
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed(seed)
