"""Gradients computed in forward: torch.export does not recognise the tensors that operations save for them.

Which do was asked of torch 2.13 one by one, by exporting the gradient of the sum of what each gives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export.reports import not_known, report
from tsguard.analysis.python import library
from tsguard.analysis.trace.values import Traced, parts
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer
    from tsguard.analysis.trace.origins import Origin

# What takes gradients with respect to its inputs.
FUNCTIONS = frozenset(
    ["torch.autograd.backward"]
    + [f"torch.autograd.functional.{name}" for name in ("hessian", "hvp", "jacobian", "jvp", "vhp", "vjp")]
)
_TAKING = FUNCTIONS | {"torch.autograd.grad", "method.backward"}
# What makes a function, or the result of one, that takes gradients.
TRANSFORMS = frozenset(
    [
        f"torch.func.{name}"
        for name in ("grad", "grad_and_value", "vjp", "jacrev", "jacfwd", "hessian", "linearize")
    ]
)
# Functions, methods and layers that keep their result, or a view of a weight; as _plain writes names.
_KEEPING = frozenset(
    [
        "exp", "exp2", "expm1", "expit", "sigmoid", "tanh", "relu", "sqrt", "rsqrt", "reciprocal", "softmax", "logsoftmax",
        "softmin", "logsumexp", "norm", "vectornorm", "amax", "amin", "tan", "std", "cumprod", "median",
        "logsigmoid", "tanhshrink", "normalize", "layernorm", "crossentropy", "crossentropyloss", "cosinesimilarity",
        "pairwisedistance", "cdist", "dist", "hypot", "einsum", "inv", "det", "scaleddotproductattention",
        "logcumsumexp", "linear", "bilinear", "groupnorm", "batchnorm", "batchnorm1d", "batchnorm2d", "batchnorm3d",
        "instancenorm", "instancenorm1d", "instancenorm2d", "instancenorm3d", "nllloss", "tripletmarginloss",
        "rmsnorm", "prelu", "hardshrink", "softshrink", "maxpool1d", "adaptivemaxpool1d",
    ]
)  # fmt: skip
_HARMLESS = frozenset(
    [
        "relu6", "maximum", "minimum", "clamp", "clampmin", "clampmax", "abs", "sin", "cos", "log", "log1p", "log2",
        "square", "var", "mean", "sum", "cumsum", "sort", "topk", "gather", "silu", "gelu", "elu", "celu", "selu",
        "leakyrelu", "softplus", "hardtanh", "hardswish", "mish", "softsign", "hardsigmoid", "threshold", "glu", "mseloss",
        "smoothl1loss", "huberloss", "binarycrossentropywithlogits", "binarycrossentropy", "kldiv", "where", "atan2", "atan",
        "asin", "acos", "sinh", "cosh", "erf", "sign", "sgn", "floor", "remainder", "neg", "matmul", "mm", "bmm", "addmm",
        "unsqueeze", "squeeze", "view", "reshape", "flatten", "permute", "transpose", "t", "indexselect", "cat", "stack",
        "cross", "scatteradd", "indexadd", "dropout", "maskedfill", "unfold", "repeat", "expand", "pad", "triu", "tril",
        "lerp", "gridsample", "nantonum", "flip", "roll", "diff", "trapz", "sinc", "logaddexp", "float", "half", "double",
        "to", "contiguous", "clone", "detach", "requiresgrad", "embedding", "conv1d", "identity", "size", "dim", "numel",
        "zeroslike", "oneslike", "newzeros", "newones", "add", "sub", "mul", "div", "pow", "grad", "chunk", "split",
    ]
)  # fmt: skip

Args = list[py.Value]
Kwargs = dict[str, py.Value]


def called(tracer: Tracer, name: str, args: Args, kwargs: Kwargs, node: ast.AST) -> None:
    """A function, method or layer of torch is called: it may take gradients, or keep something for who does."""
    if name in TRANSFORMS:
        report(tracer, "inner-gradient/transform", node)
    elif name in _TAKING:
        _taken(tracer, args[0] if args else kwargs.get("outputs"), _inputs(name, args, kwargs), node)
    elif any(isinstance(part, Traced) for part in parts([*args, *kwargs.values()])):
        short = _plain(name)
        if short in _KEEPING:
            tracer.exports.keeping.add(id(node))
        elif short not in _HARMLESS:
            tracer.exports.is_asked_of_gradients = False


def calculated(tracer: Tracer, op: ast.operator, right: py.Value, node: ast.AST) -> None:
    """``2 ** x`` and ``1 / x`` keep their result."""
    if isinstance(right, Traced) and (isinstance(op, ast.Pow) or _is_reciprocal(op, node)):
        tracer.exports.keeping.add(id(node))


def _is_reciprocal(op: ast.operator, node: ast.AST) -> bool:
    return isinstance(op, ast.Div) and isinstance(node, ast.BinOp) and isinstance(node.left, ast.Constant)


def _plain(name: str) -> str:
    """The last part of a name, as functions, methods in place and layers have it in common."""
    return name.rpartition(".")[2].replace("_", "").lower()


def _inputs(name: str, args: Args, kwargs: Kwargs) -> py.Value | None:
    if name == "method.backward":
        return kwargs.get("inputs")
    return args[1] if len(args) > 1 else kwargs.get("inputs")


def _taken(tracer: Tracer, outputs: py.Value | None, inputs: py.Value | None, node: ast.AST) -> None:
    """Gradients are taken: a result that was kept on the way from what they are taken of is one too many.

    A layer keeps what it does for the gradient of its input, and not for those of its parameters.
    """
    asked = [part for part in parts([inputs]) if isinstance(part, Traced)] if inputs is not None else []
    of_inputs = inputs is None or (bool(asked) and all(tensor.of != "state" for tensor in asked))
    kept = tracer.exports.keeping
    found = [part for part in parts([outputs or py.NONE]) if isinstance(part, Traced)]
    is_followed = any(_comes_from(part, asked) for part in found)
    may_keep = (
        of_inputs
        and not is_followed
        and any(frame.receiver is not None and has_parameters(frame.receiver) for frame in tracer.frames)
    )
    if (may_keep and kept) or any(_keeps(tracer, part, asked) for part in found):
        report(tracer, "inner-gradient", node)
    elif kept or not tracer.exports.is_asked_of_gradients:
        not_known(tracer, node, "the source does not tell what operations save for the gradients")


def _comes_from(output: Traced, asked: list[Traced]) -> bool:
    """Whether the way that a tensor has come leads by one of those asked."""
    step: Origin | None = output.origin
    while step is not None:
        if any(step == tensor.origin for tensor in asked):
            return True
        step = step.parent
    return False


def _keeps(tracer: Tracer, output: Traced, asked: list[Traced]) -> bool:
    """Whether an operation on the way to a tensor keeps its result for one of those asked."""
    steps = list(_steps(output.origin, asked))
    names = {tensor.origin.root.name.rpartition(".")[2] for tensor in asked if tensor.of == "state"}
    if not names:
        return any(id(step.node) in tracer.exports.keeping for step in steps)
    is_met = False
    for step in reversed(steps):
        operands = list(_operands(step.node))
        is_met = is_met or any(_is_named(node, names) for node in operands)
        if is_met and id(step.node) in tracer.exports.keeping:
            return True
    return False


def _steps(origin: Origin, asked: list[Traced]) -> Iterable[Origin]:
    """The way back to what was given, or to what the gradients are taken with respect to."""
    step: Origin | None = origin
    while step is not None and not any(step == tensor.origin for tensor in asked):
        yield step
        step = step.parent


def _operands(node: ast.AST | None) -> Iterable[ast.AST]:
    """What a step computes with first."""
    if isinstance(node, ast.Call):
        return [part for operand in (node.func, *node.args[:1]) for part in walked(operand)]
    return walked(node) if node is not None else []


def _is_named(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in names


def has_parameters(module: py.ModuleValue) -> bool:
    """Whether a module or a part of it has parameters."""
    return any(part.parameters for _, part in library.descendants(module))
