"""Frozen dataclasses as tsguard makes them: values for mypy, and as cheap as others when they are made."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import pytest

from tsguard.report.records import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A value."""

    x: int
    y: int = 0
    note: str = dataclasses.field(default="", compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A value that is only itself."""

    x: int


@dataclass(frozen=True, slots=True)
class Hashed:
    """A value with a hash of its own."""

    x: int

    def __hash__(self) -> int:
        return 7


@dataclass(slots=True)
class Changing:
    """No value."""

    x: int


def test_equal_values_are_one_key():
    assert {Point(1, note="a"): 1}[Point(1, note="b")] == 1
    assert Point(1) != Point(2)
    assert dataclasses.replace(Point(1), x=2) == Point(2)


def test_without_equality_an_object_is_only_itself():
    assert len({Node(1), Node(1)}) == 2


def test_a_hash_that_the_class_defines_stays():
    assert hash(Hashed(1)) == 7


def test_what_may_change_is_no_key():
    with pytest.raises(TypeError, match="unhashable"):
        hash(Changing(1))


def test_values_are_made_like_any_other_object():
    assert "__setattr__" not in vars(Point)
    assert not hasattr(Point(1), "__dict__")


@pytest.mark.slow
def test_mypy_lets_nobody_change_a_value(tmp_path):
    file = tmp_path / "changing.py"
    file.write_text(
        "from tsguard.report.records import dataclass\n\n\n"
        "@dataclass(frozen=True, slots=True)\nclass Point:\n    x: int\n\n\nPoint(1).x = 2\nPoint('a')\n"
    )
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "--strict", str(file)]
    said = subprocess.run(command, capture_output=True, text=True).stdout
    assert 'changing.py:9: error: Property "x" defined in "Point" is read-only' in said
    assert "changing.py:10: error: Argument 1" in said
