"""Fixes of functions of torch that TorchScript has no operator for: what they give is written in another way."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import around
from tsguard.fixes.composing import safe, unsafe
from tsguard.fixes.edits import between, insertion
from tsguard.fixes.imports import has_torch, is_of_torch
from tsguard.fixes.norm_hooks import first_definition
from tsguard.fixes.numbers import as_floats, numbers_in
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import nodes_at
from tsguard.report import Edit, Fix
from tsguard.source import SourceFile

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

# What torch.finfo tells of float16, bfloat16, float64, and of float32 and the rest.
_LIMITS = {
    "max": ("65504.0", "3.3895313892515355e+38", "1.7976931348623157e+308", "3.4028234663852886e+38"),
    "min": ("-65504.0", "-3.3895313892515355e+38", "-1.7976931348623157e+308", "-3.4028234663852886e+38"),
    "eps": ("0.0009765625", "0.0078125", "2.220446049250313e-16", "1.1920928955078125e-07"),
    "tiny": (
        "6.103515625e-05",
        "1.1754943508222875e-38",
        "2.2250738585072014e-308",
        "1.1754943508222875e-38",
    ),
}
_LIMIT = '''
def finfo_{name}(dtype: torch.dtype) -> float:
    """torch.finfo(dtype).{name}, which TorchScript has no operator for."""
    if dtype == torch.float16:
        return {0}
    if dtype == torch.bfloat16:
        return {1}
    if dtype == torch.float64:
        return {2}
    return {3}


'''
_DTYPES = {"float32": "torch.float32", "float64": "torch.float64", "float": "torch.float64", "int64": "torch.int64",
           "int32": "torch.int32", "int": "torch.int64", "bool": "torch.bool"}  # fmt: skip
_MADE = {"eye": "torch.eye", "zeros": "torch.zeros", "ones": "torch.ones"}
_TENSORS = {"Tensor": "torch.float32", "FloatTensor": "torch.float32", "LongTensor": "torch.int64"}


def write_otherwise(event: Event) -> Fix | None:
    """A call of such a function by what TorchScript has: ``isinstance``, constants, ``torch.tensor``, ``torch.empty``."""
    file = event.module.file
    if not has_torch(event.module):
        return None
    calls = [*nodes_at(file, event.span, ast.Call), *around(file, event.span, ast.Call)]
    for call in calls:
        make = _WRITTEN.get(ast.unparse(call.func).partition(".")[2])
        if make is not None and is_of_torch(event.module, ast.unparse(call.func)):
            return make(event, call)
    return None


def _ask_by_isinstance(event: Event, call: ast.Call) -> Fix | None:
    """``torch.is_tensor(x)`` becomes ``isinstance(x, torch.Tensor)``, which is what it asks."""
    file = event.module.file
    if len(call.args) != 1 or call.keywords:
        return None
    given = between(file, file.span(call.args[0]))
    return safe("Ask by isinstance", rewritten(file, call, f"isinstance({given}, torch.Tensor)"))


def _tell_limits(event: Event, call: ast.Call) -> Fix | None:
    """``torch.finfo(x.dtype).max`` becomes ``finfo_max(x.dtype)``, a function that knows the types of floats.

    Unsafe: of float8 it knows nothing.
    """
    file = event.module.file
    outer = next((a for a in around(file, event.span, ast.Attribute) if a.value is call), None)
    wanted = outer.attr if outer is not None else _asked_of(file, call)
    first = first_definition(file)
    if wanted not in _LIMITS or first is None or len(call.args) != 1 or call.keywords:
        return None
    name = f"finfo_{wanted}"
    edits: list[Edit | None] = []
    for node in (n for n in ast.walk(file.tree) if isinstance(n, ast.Attribute) and n.attr == wanted):
        made = node.value
        if isinstance(made, ast.Call) and ast.unparse(made.func) == ast.unparse(call.func) and made.args:
            text = between(file, file.span(made.args[0]))
            edits.append(rewritten(file, node, f"{name}({text})"))
    if name not in event.module.bindings:
        text = _LIMIT.lstrip().format(*_LIMITS[wanted], name=wanted).replace("\n", file.newline)
        edits.append(insertion(file, first, 1, text))
    return unsafe(f"Tell the {wanted} by a function", edits)


def _asked_of(file: SourceFile, call: ast.Call) -> str:
    """Which attribute of a call's result is read, where that is the only thing done with it."""
    nodes = [n for n in ast.walk(file.tree) if isinstance(n, ast.Attribute) and n.value is call]
    return nodes[0].attr if nodes else ""


def _make_in_torch(event: Event, call: ast.Call) -> Fix | None:
    """``torch.from_numpy(np.eye(3).astype(np.float32))`` becomes ``torch.eye(3, dtype=torch.float32)``.

    An array is made of numbers that are written there.
    """
    if len(call.args) != 1 or call.keywords:
        return None
    file, made, dtype, flat = event.module.file, call.args[0], "", False
    while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute):
        if made.func.attr == "astype" and len(made.args) == 1 and not dtype:
            dtype = _dtype(made.args[0])
            if not dtype:
                return None
        elif made.func.attr in ("flatten", "ravel") and not made.args:
            flat = True
        else:
            break
        made = made.func.value
    text = _array(file, made, dtype)
    change = rewritten(file, call, text + (".flatten()" if flat else "")) if text else None
    return safe("Make it in torch", change)


def _array(file: SourceFile, made: ast.expr, dtype: str) -> str | None:
    """What makes the array of a call of numpy in torch."""
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute) or not made.args:
        return None
    named = [k.value for k in made.keywords if k.arg == "dtype"]
    given = [*made.args[1:], *named]
    if len(given) > 1 or len(named) != len(made.keywords):
        return None
    own = _dtype(given[0]) if given else "torch.float64"
    function, text = made.func.attr, between(file, file.span(made.args[0]))
    if function == "array" and isinstance(made.args[0], ast.List):
        kinds = numbers_in(made.args[0])
        own = own if given else "torch.int64" if kinds == {int} else "torch.float64"
        text = text if len(kinds) == 1 else as_floats(text)
        return f"torch.tensor({text}, dtype={dtype or own})" if kinds and kinds <= {int, float} else None
    if function not in _MADE or (function == "eye" and len(made.args) > 1) or not own:
        return None
    return f"{_MADE[function]}({text}, dtype={dtype or own})"


def _dtype(node: ast.expr) -> str:
    return _DTYPES.get(ast.unparse(node).rpartition(".")[2], "")


def _make_by_function(event: Event, call: ast.Call) -> Fix | None:
    """``torch.Tensor(n, 2)`` becomes ``torch.empty(n, 2)``, ``torch.FloatTensor([1, 2])`` a ``torch.tensor``.

    Unsafe: what ``torch.set_default_dtype`` was told is not asked for.
    """
    file, args = event.module.file, call.args
    kind = ast.unparse(call.func).rpartition(".")[2]
    if call.keywords or not args or any(isinstance(a, ast.Starred) for a in args):
        return None
    text = ", ".join(between(file, file.span(a)) for a in args)
    if len(args) > 1:
        dtype = "" if kind == "Tensor" else f", dtype={_TENSORS[kind]}"
        change = rewritten(file, call, f"torch.empty({text}{dtype})")
    else:
        plain = isinstance(args[0], ast.List) and numbers_in(args[0]) in ({int}, {float})
        change = rewritten(file, call, f"torch.tensor({text}, dtype={_TENSORS[kind]})") if plain else None
    return unsafe("Make the Tensor by a function", change)


def _multiply(event: Event, call: ast.Call) -> Fix | None:
    """``torch.spmm(a, x)`` becomes ``torch.mm(a, x)``, of which it is another name."""
    return safe("Write torch.mm", rewritten(event.module.file, call.func, "torch.mm"))


_WRITTEN: dict[str, Callable[[Event, ast.Call], Fix | None]] = {
    "is_tensor": _ask_by_isinstance,
    "finfo": _tell_limits,
    "spmm": _multiply,
    "from_numpy": _make_in_torch,
    "as_tensor": _make_in_torch,
    **dict.fromkeys(_TENSORS, _make_by_function),
}
