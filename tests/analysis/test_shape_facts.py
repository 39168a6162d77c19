"""What is known of shapes: equations between dimensions."""

from __future__ import annotations

from tsguard.analysis.trace.shapes.dims import Dim, Symbol, number
from tsguard.analysis.trace.shapes.extents import dimension
from tsguard.analysis.trace.shapes.facts import Facts


def halved(dim: Dim) -> Dim:
    half = dim.floor(number(2))
    assert half is not None
    return half


HALF = halved(dimension(Symbol("tensor", ("x",)), 2))


def test_a_quotient_that_equals_something_with_itself_in_it_stands_for_nothing():
    facts = Facts()
    inner = halved(HALF.plus(number(1)))
    facts.equal(HALF, inner.times(inner))
    assert facts.resolved(HALF) == HALF


def test_of_two_quotients_the_outer_one_is_told_by_the_inner_one():
    facts = Facts()
    outer = halved(HALF.plus(number(1)))
    facts.equal(HALF, outer.plus(number(1)))
    assert (facts.resolved(HALF), facts.resolved(outer)) == (HALF, HALF.plus(number(-1)))


def test_a_quotient_stands_for_what_it_equals():
    facts = Facts()
    facts.equal(HALF, number(3))
    assert facts.number(HALF) == 3
