"""Rounds of fixes end: where nothing changes, and where they would go in a circle."""

from __future__ import annotations

from tsguard.repairing.settling import settled

NEXT = {"start": "typed", "typed": "untyped", "untyped": "typed"}


def test_they_go_on_until_nothing_changes():
    assert settled(0, lambda n: n + 1 if n < 5 else None, int, 20) == (5, False)


def test_two_that_undo_each_other_end():
    assert settled("start", NEXT.get, str, 20) == ("typed", True)


def test_a_second_run_changes_nothing_more():
    once, _ = settled("start", NEXT.get, str, 20)
    assert settled(once, NEXT.get, str, 20) == (once, True)


def test_states_are_the_same_by_their_key():
    last, circles = settled((0, "a"), lambda s: (s[0] + 1, "a"), lambda s: s[1], 20)
    assert (last, circles) == ((0, "a"), True)


def test_what_never_ends_is_ended():
    assert settled(0, lambda n: n + 1, int, 20) == (20, False)
