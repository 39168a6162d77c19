"""The collector is held back while files are analysed, and as it was afterwards."""

from __future__ import annotations

import gc

import pytest

from tsguard.linting.garbage_collection import infrequent_collection


def test_what_is_kept_is_not_walked_meanwhile():
    before = gc.get_threshold()
    with infrequent_collection() as collect_if_grown:
        collect_if_grown()
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold() != before
    assert (gc.get_freeze_count(), gc.get_threshold()) == (0, before)


def _raising() -> None:
    with infrequent_collection() as collect_if_grown:
        collect_if_grown()
        raise RecursionError


def test_the_collector_is_as_before_also_where_the_work_raises():
    before = gc.get_threshold()
    with pytest.raises(RecursionError):
        _raising()
    assert (gc.get_freeze_count(), gc.get_threshold()) == (0, before)
