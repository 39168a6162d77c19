"""Functions of numpy that return arrays, as numpy has it."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from tsguard.analysis.python import numpy_arrays
from tsguard.analysis.values import Const, External

SQUARE = numpy.ones((3, 3))
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "append": (SQUARE, 1),
    "broadcast_to": (SQUARE, (2, 3, 3)),
    "convolve": ([1, 2], [1]),
    "delete": (SQUARE, 0),
    "diag": (SQUARE,),
    "expand_dims": (SQUARE, 0),
    "flip": (SQUARE,),
    "full_like": (SQUARE, 1),
    "identity": (3,),
    "insert": (SQUARE, 0, 1),
    "kaiser": (3, 1.0),
    "kron": (SQUARE, SQUARE),
    "moveaxis": (SQUARE, 0, 1),
    "pad": (SQUARE, 1),
    "reshape": (SQUARE, 9),
    "roll": (SQUARE, 1),
    "swapaxes": (SQUARE, 0, 1),
    "tri": (3,),
    "tril": (SQUARE,),
    "triu": (SQUARE,),
    "vander": ([1, 2],),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_it_is_an_array(name: str):
    made = numpy_arrays.call(External(f"numpy.{name}"), [Const(0) for _ in ARGUMENTS[name]], {})
    assert numpy_arrays.is_array(made)
    assert type(getattr(numpy, name)(*ARGUMENTS[name])) is numpy.ndarray
