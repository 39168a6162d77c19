"""How open sizes are written, and what is no such thing."""

from __future__ import annotations

import pytest

from tsguard.settings.dynamic import OpenSizes, open_sizes


@pytest.mark.parametrize(
    ("text", "dimensions"),
    [
        ("x: {0: batch}", ((0, "batch"),)),
        ("x:{0:batch,1:auto}", ((0, "batch"), (1, ""))),
        (" x : { 2 : length , } ", ((2, "length"),)),
    ],
)
def test_what_is_written(text: str, dimensions: tuple[tuple[int, str], ...]) -> None:
    assert open_sizes(text) == OpenSizes("x", dimensions)
    assert open_sizes(str(open_sizes(text))) == open_sizes(text)


def test_a_tensor_inside_an_input_has_its_path() -> None:
    assert open_sizes("batch['image']: {0: n}").input == "batch['image']"


@pytest.mark.parametrize(
    "text", ["", "x", "x: 0", "x: {}", "x: {batch: 0}", "x: {0: 1}", "{0: batch}", "x: {0}"]
)
def test_what_is_not_written_so(text: str) -> None:
    with pytest.raises(ValueError, match="is not written as in"):
        open_sizes(text)
