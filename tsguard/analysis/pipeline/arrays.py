"""Numpy arrays converted to tensors: copied, converted to float32, or in double precision."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.analysis.events import Event, text_of
from tsguard.analysis.pipeline.context import Pipeline
from tsguard.analysis.pipeline.frames import Frame, Site
from tsguard.analysis.pipeline.names import PipelineNames
from tsguard.source.walking import walked

# Functions that return an array of their own, which nothing else can change.
_FRESH = frozenset(
    f"numpy.{name}"
    for name in (
        *("stack", "concatenate", "vstack", "hstack", "array", "zeros", "ones", "full", "arange", "linspace"),
        *("load", "loadtxt", "genfromtxt", "fromfile", "random.rand", "random.randn", "random.randint"),
        *("random.random", "random.uniform", "random.normal", "random.permutation", "copy", "pad", "where"),
    )
)
_FLOAT64 = frozenset(
    f"numpy.{name}"
    for name in (
        *(
            "random.rand",
            "random.randn",
            "random.random",
            "random.uniform",
            "random.normal",
            "random.random_sample",
        ),
        *("random.standard_normal", "loadtxt", "genfromtxt"),
    )
)
# These give float64 unless they are told another dtype.
_FLOAT64_UNLESS_TOLD = frozenset(f"numpy.{name}" for name in ("zeros", "ones", "empty", "linspace"))
_INTEGER = frozenset({"numpy.random.randint", "numpy.random.permutation", "numpy.argmax", "numpy.argsort"})
_CONVERTERS = frozenset({"torch.from_numpy", "torch.tensor", "torch.as_tensor", "torch.asarray"})
_TENSORS = frozenset(
    f"torch.{name}"
    for name in (
        *("tensor", "from_numpy", "as_tensor", "stack", "cat", "zeros", "ones", "rand", "randn", "full"),
        *("zeros_like", "ones_like", "full_like", "empty", "arange", "Tensor", "FloatTensor", "LongTensor"),
    )
)
_IN_MEMORY = frozenset({"torch.utils.data.TensorDataset", "torch.utils.data.dataset.TensorDataset"})


def check(pipeline: Pipeline) -> Iterator[Event]:
    names = pipeline.names
    for site in pipeline.names.survey.calls:
        call = site.node
        called = names.qualified(call.func, site.frame)
        if called == "torch.Tensor" and len(call.args) == 1:
            yield from _integers_to_float(pipeline, call, site)
        elif called == "torch.tensor" and call.args:
            yield from _copied(pipeline, call, site)
    yield from _double_precision(pipeline)


def is_tensor(expression: ast.expr, names: PipelineNames, frame: Frame) -> bool:
    """Whether an expression gives a tensor for certain: it calls what returns nothing else."""
    return isinstance(expression, ast.Call) and names.qualified(expression.func, frame) in _TENSORS


def _array(expression: ast.expr, names: PipelineNames, frame: Frame) -> tuple[ast.Call, str, Frame] | None:
    """The numpy call that makes an array, through names."""
    value, where = names.origin(expression, frame)
    name = names.qualified(value.func, where) if isinstance(value, ast.Call) else ""
    return (value, name, where) if isinstance(value, ast.Call) and name.startswith("numpy.") else None


def _dtype(call: ast.Call, names: PipelineNames, frame: Frame) -> str:
    """The dtype that an array is asked for by keyword; "" for none, "?" where it cannot be told."""
    for keyword in call.keywords:
        if keyword.arg is None:
            return "?"
        if keyword.arg == "dtype":
            named = names.qualified(keyword.value, frame).rpartition(".")[2]
            literal = keyword.value.value if isinstance(keyword.value, ast.Constant) else ""
            return named or (literal if isinstance(literal, str) else "") or getattr(keyword.value, "id", "?")
    return ""


def _integers_to_float(pipeline: Pipeline, call: ast.Call, site: Site[ast.Call]) -> Iterator[Event]:
    array = _array(call.args[0], pipeline.names, site.frame)
    if array is None:
        return
    value, name, where = array
    dtype = _dtype(value, pipeline.names, where)
    if dtype.startswith(("int", "uint")) or (name in _INTEGER and dtype == ""):
        yield pipeline.event("integers-to-float", call, array=text_of(call.args[0], 30))


def _copied(pipeline: Pipeline, call: ast.Call, site: Site[ast.Call]) -> Iterator[Event]:
    """An array made in place, which nobody else holds, copied."""
    value = call.args[0]
    if not isinstance(value, ast.Call) or call.keywords or len(call.args) > 1:
        return
    name = pipeline.names.qualified(value.func, site.frame)
    if name in _FRESH and not _is_small(name, value):
        yield pipeline.event("array-copied", call, array=text_of(value, 40))


def _is_small(name: str, call: ast.Call) -> bool:
    """Whether what is converted is written out: a few numbers, whatever way they go."""
    return name == "numpy.array" and all(
        not isinstance(a, (ast.Name, ast.Attribute, ast.ListComp)) for a in call.args[:1]
    )


def _double_precision(pipeline: Pipeline) -> Iterator[Event]:
    """float64 arrays that become the items of a dataset as they are."""
    for expression, names, frame in _data(pipeline):
        if not (isinstance(expression, ast.Call) and len(expression.args) == 1 and not expression.keywords):
            continue
        if names.qualified(expression.func, frame) not in _CONVERTERS:
            continue
        array = _array(expression.args[0], names, frame)
        if array is not None and _is_float64(*array[:2], _dtype(array[0], names, array[2])):
            yield pipeline.event("double-precision-data", expression, array=text_of(array[0], 40))


def _is_float64(call: ast.Call, name: str, dtype: str) -> bool:
    if name in _FLOAT64_UNLESS_TOLD and len(call.args) > 1 and name != "numpy.linspace":
        return False  # its second argument is the dtype
    return (name in _FLOAT64 | _FLOAT64_UNLESS_TOLD and dtype == "") or dtype in ("float64", "double")


def _data(pipeline: Pipeline) -> Iterator[tuple[ast.expr, PipelineNames, Frame]]:
    """What is returned as an item, or made a TensorDataset of."""
    for code in pipeline.item_code:
        for node in walked(code.function):
            if isinstance(node, ast.Return) and node.value is not None:
                parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                for part in parts:
                    held = part.value if isinstance(part, ast.Subscript) else part  # self.images[index]
                    value, where = code.names.origin(held, code.frame)
                    yield value, code.names, where
    for site in pipeline.names.survey.calls:
        if pipeline.names.qualified(site.node.func, site.frame) in _IN_MEMORY:
            for argument in site.node.args:
                value, where = pipeline.names.origin(argument, site.frame)
                yield value, pipeline.names, where
