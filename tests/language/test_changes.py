"""A change from one value to another, and the value that it makes."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tsguard.language.changes import change, changed

NAMES = st.text("ab=", max_size=3)
# What a table holds: no member is called "=", which is how a change says a value.
# Nor does a table hold 0 or 1 where another holds false or true, which compare equal.
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(2, 4) | NAMES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab", min_size=1, max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no fault of the values
@given(VALUES, VALUES)
def test_a_change_makes_the_one_value_the_other_also_after_it_was_written(old: object, new: object):
    assert changed(old, json.loads(json.dumps(change(old, new)))) == new


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ({"a": "1", "b": "2"}, {"a": "1", "c": "3"}, {"b": None, "c": "3"}),
        (["f(int)", "f(str)"], ["f(str)", "f(float)"], [1, "f(float)"]),
        ({"a": {"x": "1", "y": "2"}}, {"a": {"x": "1", "y": "3"}}, {"a": {"y": "3"}}),
        ({"a": 1}, {"a": 2}, {"a": {"=": 2}}),
    ],
    ids=["members", "items", "members of members", "other values"],
)
def test_only_what_differs_is_told(old: object, new: object, told: object):
    assert change(old, new) == told


def test_members_are_told_in_order():
    assert list(changed({"b": "1"}, {"c": "2", "a": "3"})) == ["a", "b", "c"]
