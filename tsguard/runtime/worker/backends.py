"""The backends: ways to turn an eager module into something else that computes the same."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tsguard.runtime.worker.running import Call
from tsguard.runtime.worker.values import tensors


class NotApplicable(Exception):
    """The backend does not exist for this target, mode or torch; the text says why."""


@dataclass(frozen=True, slots=True)
class Backend:
    """``build`` makes the attempt; ``isolated`` ones change global state and run alone."""

    name: str
    build: Callable[[Any, Call], Any]
    trains: bool = True
    isolated: bool = False
    shapes_fixed: bool = False
    saves: bool = False


def _script(module: Any, call: Call) -> Any:
    return torch.jit.script(module)


# Its check runs the trace once more on the same inputs; parity does that and more.
_traced: Callable[..., Any] = functools.partial(torch.jit.trace, check_trace=False)


def _trace(module: Any, call: Call) -> Any:
    if not tensors((call.args, call.kwargs)):
        raise NotApplicable("no input is a tensor: a trace would keep this one result")
    call = call.cloned()
    if not call.kwargs and all(argument is not None for argument in call.args):
        return _traced(module, call.args)
    forward = module.forward if isinstance(module, nn.Module) else module
    signature = inspect.signature(forward)
    bound = signature.bind(*call.args, **call.kwargs)
    # None cannot be traced; where it is the default it need not be passed.
    named = {
        k: v
        for k, v in bound.arguments.items()
        if not (v is None and signature.parameters[k].default is None)
    }
    return _traced(module, example_kwarg_inputs=named)


def _freeze(module: Any, call: Call) -> Any:
    return torch.jit.freeze(_scripted_or_traced(module, call))


def _optimize_for_inference(module: Any, call: Call) -> Any:
    return torch.jit.optimize_for_inference(_scripted_or_traced(module, call))


def _scripted_or_traced(module: Any, call: Call) -> Any:
    if not isinstance(module, nn.Module):
        raise NotApplicable("only modules can be frozen")
    try:
        return _script(module, call)
    except Exception:
        forget_failures()
        return _trace(module, call)


def _onednn(module: Any, call: Call) -> Any:
    if not isinstance(module, nn.Module):
        raise NotApplicable("only modules can be frozen")
    torch.jit.enable_onednn_fusion(True)
    return torch.jit.freeze(_trace(module, call))


def _compile(module: Any, call: Call) -> Any:
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    import torch._inductor.config as inductor

    inductor.fallback_random = True
    return torch.compile(module, dynamic=False)


def _export(module: Any, call: Call) -> Any:
    if not isinstance(module, nn.Module):
        raise NotApplicable("torch.export takes modules only")
    call = call.cloned()
    return torch.export.export(module, call.args, call.kwargs or None).module()


BACKENDS = {
    backend.name: backend
    for backend in (
        Backend("script", _script, saves=True),
        Backend("trace", _trace, saves=True),
        Backend("freeze", _freeze, trains=False, saves=True),
        Backend("optimize_for_inference", _optimize_for_inference, trains=False),
        Backend("onednn", _onednn, trains=False, isolated=True, shapes_fixed=True),
        Backend("compile", _compile, isolated=True, shapes_fixed=True),
        Backend("export", _export, isolated=True, shapes_fixed=True),
    )
}


def forget_failures() -> None:
    """Clear what a failed ``torch.jit.script`` leaves behind.

    Otherwise the next attempt on that class, or on one that contains it, reports
    "Can't redefine method" instead of its own error. The registry of compiled classes
    stays: clearing it frees the methods of modules that are still in use.
    """
    recursive = torch.jit._recursive
    recursive.concrete_type_store = recursive.ConcreteTypeStore()
    torch.jit._state._clear_class_state()
