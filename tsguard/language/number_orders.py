"""Orders of arguments with numbers before the Tensors, which Python takes as deprecated and TorchScript does not have.

Source: tools/autograd/deprecated.yaml of torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_OF_SUMS = ("self alpha other",)
_OF_PRODUCTS = ("self value tensor1 tensor2",)
_OF_MATRICES = ("beta self alpha batch1 batch2", "beta self batch1 batch2")
_ORDERS = {
    **dict.fromkeys(("add", "sub"), _OF_SUMS),
    **dict.fromkeys(("addcdiv", "addcmul"), _OF_PRODUCTS),
    **dict.fromkeys(("addbmm", "addmm", "addmv", "addr", "baddbmm"), _OF_MATRICES),
}
_NUMBERS = ("alpha", "beta", "value")


def by_name(function: str, args: Sequence[T], *, is_method: bool) -> list[tuple[str, T]] | None:
    """The arguments of such a call as TorchScript takes them: Tensors by position, then numbers by name.

    Args:
        function: its last name, as in ``add_``.
        args: all that is given by position, but for the receiver of a method.

    Returns:
        Each with its name, "" for none; None where no such order has as many.
    """
    for order in _ORDERS.get(function.rstrip("_"), ()):
        names = [name for name in order.split() if not (is_method and name == "self")]
        if len(names) == len(args):
            given = list(zip(names, args, strict=True))
            numbers = [(name, arg) for name, arg in given if name in _NUMBERS]
            return [*(("", arg) for name, arg in given if name not in _NUMBERS), *numbers]
    return None
