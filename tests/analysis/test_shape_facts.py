"""What is known of shapes: equations between dimensions."""

from __future__ import annotations

from tsguard.analysis.trace.shapes.dims import Dim, Symbol, number
from tsguard.analysis.trace.shapes.extents import Extent, broadcast, dimension
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


ROWS = dimension(Symbol("tensor", ("x",)), 0)


def test_the_lesser_of_a_dimension_and_what_is_no_less_is_the_dimension():
    assert ROWS.lesser(ROWS.plus(number(2))) == ROWS
    assert number(7).lesser(number(5)) == number(5)
    assert number(1).lesser(ROWS) == number(1)  # no input is empty


def test_the_lesser_of_two_is_told_once_one_is_known():
    facts = Facts()
    lesser = ROWS.lesser(number(32))
    assert lesser is not None
    assert (facts.number(lesser), lesser.least()) == (None, 1)
    facts.equal(ROWS, number(40))
    assert facts.number(lesser) == 32


def test_what_goes_with_a_dimension_and_the_lesser_of_it_and_another_is_as_many():
    lesser = ROWS.lesser(number(32))
    assert broadcast(Extent((ROWS,)), Extent((lesser,))) == Extent((ROWS,))
    assert broadcast(Extent((number(32),)), Extent((lesser,))) == Extent((number(32),))


COUNT = dimension(Symbol("tensor", ("x",)), 1)


def test_what_tells_of_no_symbol_alone_is_noted_once_and_tells_sums_and_differences():
    facts = Facts()
    square = ROWS.times(ROWS)
    nought = square.plus(COUNT.times(COUNT), -1).plus(number(4))  # ROWS**2 - COUNT**2 + 4 == 0
    for _ in range(3):
        facts.equal(nought, number(0))
    assert facts.nothing == [nought]
    assert facts.number(square.plus(COUNT.times(COUNT), -1)) == -4
    assert facts.number(COUNT.times(COUNT).plus(square, -1).plus(number(1))) == 5
    assert facts.number(square) is None
