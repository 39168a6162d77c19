"""What compiles, and what a file cannot hold: calls of Python, and defaults that are undefined tensors.

Source: ``PythonPrintImpl`` in torch/csrc/jit/serialization/python_print.cpp, and runs on torch 2.13.
"""

from __future__ import annotations

import ast

from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import SugaredModule
from tsguard.analysis.values import FunctionValue
from tsguard.source.functions import named_parameters

OF_LAYER = {
    "function": "CrossMapLRN2d.forward",
    "package": "torch",
    "cause": "its autograd.Function stays a call of Python",
    "place": "torch.nn.modules.normalization",
}
"""The facts of ``library.LAYER_IN_PYTHON``."""


def python_call(fc: FunctionCompiler, name: str, node: ast.AST, *, is_ignored: bool = False) -> None:
    """A call that stays one of Python: ``Function.apply``, a cached function, what ``@torch.jit.ignore`` leaves there."""
    refusal = Refusal("unsaveable-script/ignored" if is_ignored else "unsaveable-script", node, name=name)
    fc.compiler.report(refusal, fc.module)


def defaults(fc: FunctionCompiler) -> None:
    """Parameters of the type Tensor with the default None, of which a test for None does not tell already."""
    if _is_hook(fc):  # no file calls one with less than it takes
        return
    parameters = {parameter.arg: parameter for parameter in named_parameters(fc.node.args)}
    for argument in fc.signature.arguments:
        is_told = argument.name in fc.none_tested and fc.none_tested[argument.name] is None
        if argument.undefined and not is_told:
            annotated = "not annotated" if argument.inferred else "annotated as Tensor"
            facts = {"name": argument.name, "annotated": annotated}
            refusal = Refusal("unsaveable-script/default", parameters.get(argument.name, fc.node), **facts)
            fc.compiler.report(refusal, fc.module)


def _is_hook(fc: FunctionCompiler) -> bool:
    hooks = fc.receiver.instance.hooks.values() if isinstance(fc.receiver, SugaredModule) else ()
    return any(isinstance(hook, FunctionValue) and hook.node is fc.node for each in hooks for hook in each)
