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


@dataclass(slots=True)
class Given:
    """Defaults of each kind."""

    x: int
    items: list[int] = dataclasses.field(default_factory=list)
    later: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.later = self.x + 1


def test_each_object_has_containers_of_its_own():
    one, other = Given(1), Given(x=1, items=[2])
    one.items.append(3)
    assert (Given(1).items, one.items, other.items, one.later) == ([], [3], [2], 2)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Given()


def test_a_value_is_shown_by_its_fields():
    assert repr(Point(1)) == "Point(x=1, y=0, note='')"


def test_methods_are_written_when_they_are_first_called():
    @dataclass(frozen=True, slots=True)
    class Unused:
        x: int

    before = Unused.__eq__
    assert before is not None
    assert Unused(1) == Unused(1)
    assert Unused.__eq__ is not before
