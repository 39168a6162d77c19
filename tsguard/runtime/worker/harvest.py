"""Submodules of a model that runs: instances that nobody has to construct, with real inputs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from tsguard.runtime.channel import Channel
from tsguard.runtime.events import Harvested
from tsguard.runtime.subject import Subject
from tsguard.runtime.worker.inputs.specs import DictSpec, SequenceSpec, Spec, TensorSpec, Verbatim
from tsguard.runtime.worker.loading import look_up
from tsguard.runtime.worker.prepare import Stopped, prepare
from tsguard.runtime.worker.state import seed_everything


def harvest(argument: dict[str, Any], channel: Channel) -> None:
    """Run a target and report where in it the ``wanted`` classes occur and what they are given."""
    subject = Subject.from_json(argument["subject"])
    try:
        prepared = prepare(subject, channel)
    except Stopped:
        return
    if not isinstance(prepared.callee, nn.Module):
        return
    wanted = {look_up(prepared.module, name): name for name in argument["wanted"]}
    owner = prepared.expression or "get_module()[0]"
    channel.phase("harvest")
    seed_everything(0)
    watched = Observation(prepared.callee, tuple(wanted))
    with watched, torch.no_grad():
        prepared.call.on(prepared.callee)
    for path, (submodule, inputs) in watched.seen.items():
        name = wanted.pop(type(submodule), None)
        if name is not None:
            channel.send(Harvested(name, f"{owner}.get_submodule({path!r})", tuple(inputs)))


class Observation:
    """Notes the first call of each submodule of some classes, as expressions.

    Calls whose arguments cannot be written down are passed over.
    """

    def __init__(self, root: nn.Module, classes: tuple[type, ...]) -> None:
        self.seen: dict[str, tuple[nn.Module, list[str]]] = {}
        self._watched = [(p, m) for p, m in _submodules(root) if p and isinstance(m, classes)]
        self._handles: list[Any] = []

    def __enter__(self) -> Observation:
        for path, submodule in self._watched:
            hook = submodule.register_forward_pre_hook(self._note(path), with_kwargs=True)
            self._handles.append(hook)
        return self

    def __exit__(self, *details: object) -> None:
        for handle in self._handles:
            handle.remove()

    def _note(self, path: str) -> Any:
        def hook(submodule: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            if path in self.seen:
                return
            try:
                texts = [written(value).expression() for value in args]
                texts += [f"{key}={written(value).expression()}" for key, value in kwargs.items()]
            except ValueError:
                return
            self.seen[path] = (submodule, texts)

        return hook


def written(value: Any) -> Spec:
    """A spec whose expression makes a value like this one.

    Raises:
        ValueError: it holds something that no expression makes.
    """
    if isinstance(value, Tensor):
        shape = tuple(value.shape)
        if value.dtype == torch.bool:
            return TensorSpec(shape, "bool")
        if value.is_floating_point():
            return TensorSpec(shape)
        if value.dtype == torch.int64:
            return TensorSpec(shape, "int", max(int(value.max()) + 1 if value.numel() else 1, 1))
        raise ValueError(value.dtype)
    if value is None or isinstance(value, (bool, int, float, str)):
        return Verbatim(repr(value))
    if type(value) in (list, tuple, torch.Size):
        return SequenceSpec(tuple(map(written, value)), is_tuple=type(value) is not list)
    if type(value) is dict and all(isinstance(key, str) for key in value):
        return DictSpec(tuple((key, written(item)) for key, item in value.items()))
    raise ValueError(type(value))


def _submodules(root: nn.Module) -> list[tuple[str, nn.Module]]:
    return list(root.named_modules())
