"""The backends: ways to turn an eager module into something else that computes the same."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn

from tsguard.runtime.worker import exporting
from tsguard.runtime.worker.applicable import NotApplicable
from tsguard.runtime.worker.built import Built
from tsguard.runtime.worker.compiling import compiled
from tsguard.runtime.worker.running import Call
from tsguard.runtime.worker.values import tensors


@dataclass(frozen=True, slots=True)
class Backend:
    """A way, and ``build``, which makes the attempt of a module and a call: a ``Built``, or just what is called.

    ``sizes`` are those that the result takes: any that eager
    takes, the example's, or others in the dimensions that the call leaves open (an ``OpenCall``).  ``saved_as`` is
    the form of its file, None for what is not saved.
    """

    name: str
    build: Callable[[Any, Call], Any]
    trains: bool = True
    sizes: Literal["any", "fixed", "open"] = "any"
    saved_as: Literal["script", "export", "archive"] | None = None

    def make(self, module: Any, call: Call) -> Built:
        """The attempt.

        Raises:
            NotApplicable: there is none.
            Exception: whatever torch raises.
        """
        made = self.build(module, call)
        return made if isinstance(made, Built) else Built(made)


def _script(module: Any, call: Call) -> Any:
    # What was compiled for another mode or device is shared, optimised for what ran there.
    _forget_types()
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


BACKENDS = {
    backend.name: backend
    for backend in (
        Backend("script", _script, saved_as="script"),
        Backend("trace", _trace, saved_as="script"),
        Backend("freeze", _freeze, trains=False, saved_as="script"),
        Backend("optimize_for_inference", _optimize_for_inference, trains=False),
        Backend("onednn", _onednn, trains=False, sizes="fixed"),
        Backend("compile", compiled, sizes="fixed"),
        Backend("export", exporting.exported, sizes="fixed", saved_as="export"),
        Backend(
            "export_dynamic",
            exporting.exported,
            trains=False,
            sizes="open",
            saved_as="export",
        ),
        Backend(
            "aot_inductor",
            exporting.compiled_ahead,
            trains=False,
            sizes="fixed",
            saved_as="archive",
        ),
    )
}


def forget_failures() -> None:
    """Clear what a failed ``torch.jit.script`` leaves behind.

    Otherwise the next attempt on that class, or on one that contains it, reports
    "Can't redefine method" instead of its own error. The registry of compiled classes
    stays: clearing it frees the methods of modules that are still in use.
    """
    _forget_types()
    torch.jit._state._clear_class_state()


def _forget_types() -> None:
    recursive = torch.jit._recursive
    recursive.concrete_type_store = recursive.ConcreteTypeStore()
