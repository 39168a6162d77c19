"""Leaves first, of those what most others need; a circle ends."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tsguard.migration.ordering import leaves_first

NAMES = st.sampled_from("abcdefgh")


def test_parts_come_first():
    parts = {"net": ("block", "head"), "block": ("norm",), "head": (), "norm": ()}
    assert leaves_first(parts) == ["head", "norm", "block", "net"]


def test_of_what_is_ready_the_most_needed_begins():
    parts = {"rare": (), "common": (), "a": ("common",), "b": ("common", "rare")}
    assert leaves_first(parts)[:2] == ["common", "rare"]


def test_a_circle_ends():
    assert sorted(leaves_first({"a": ("b",), "b": ("a",), "c": ("a",)})) == ["a", "b", "c"]
    assert leaves_first({"a": ("b",), "b": ("a",), "c": ("a",)})[-1] == "c"


@given(st.dictionaries(NAMES, st.lists(NAMES, max_size=4)))
def test_everything_is_named_once(parts: dict[str, list[str]]):
    assert sorted(leaves_first(parts)) == sorted(parts)
