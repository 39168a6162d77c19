"""What the analysis gives up at: budgets, depths and counts in one place, each with its reason.

A step is one statement executed or one expression evaluated.
"""

from __future__ import annotations

from typing import Final

# -- the whole of one target ---------------------------------------------------------------

CONSTRUCTION_STEPS: Final = 600_000
"""The making of one target, all its constructors together."""

SCRIPT_STEPS: Final = 200_000
"""What is compiled in one go: only loops that are unrolled within loops take more."""

MODE_STEPS: Final = 100_000
"""Following one target in both modes."""

WORLD_STEPS: Final = 4_000
"""All worlds that a target's questions open once it is known not to be ``ok``: they only tell when."""

GUESSED_STEPS: Final = 200_000
"""The same as long as it may be ``ok``, which is a promise, for what no default answers."""

REFUSED_STEPS: Final = 60_000
"""The same once the first is refused, for what it guessed: that it always is refused rests on that."""

DEFAULT_STEPS: Final = 40_000
"""The same for what a default answers: it is ``ok`` with that, what else may be given is told beyond it."""

LOOKED_STEPS: Final = 10_000
"""Tracing a target, or following it in both modes, with other arguments than its defaults: the parts of what takes more
are mostly targets themselves."""

SETTLED_WORLDS: Final = 10
"""The number of them once it is known not to be ``ok``."""

MOST_WORLDS: Final = 300
"""The same as long as it may be."""

TURNED_ANSWERS: Final = 3
"""Answers that tell a world from the first: of more, nobody knows whether any argument gives them all."""


# -- calls within it -----------------------------------------------------------------------

DEEPEST_CALL: Final = 48
"""Calls within calls; each takes some of Python's own stack."""

RECURSIONS: Final = 2
"""A function that goes on calling itself with what nobody knows finds no end that can be told."""

MODE_RECURSIONS: Final = 3
"""The same where the function is followed in each mode."""

DEFINITION_STEPS: Final = 2_000
"""Evaluating a definition (bases, decorators, defaults): nothing that one rests on takes so many steps to
make."""

PACKAGE_STEPS: Final = 40_000
"""Running a function of another package while a target is made: more, and its result is unknown."""

FOREIGN_STEPS: Final = 12_000
"""Following a function of another package while tracing, the same."""

ASIDE_STEPS: Final = 1_500
"""The side of a branch that the example does not take: it is looked at for its values, nothing in it is
reported."""

TRACED_CHILD_STEPS: Final = 10
"""The price of one child of a Sequential, so that thousands of them count."""

COMPILED_CHILD_STEPS: Final = 5
"""The same where it is compiled: matching a call costs less than following it."""

MODE_INDEPENDENT_FUNCTIONS: Final = 80
"""Functions that are looked through for anything that depends on the mode before they are followed all the
same."""


# -- loops and sequences -------------------------------------------------------------------

UNROLLED_ITEMS: Final = 64
"""Items that are told apart, each a turn of a loop; of more, nobody counts them."""

COUNTED_TURNS: Final = 1_024
"""Numbers of a range, or letters of a text, each a turn of a loop: of more, what a turn does is asked of one that nobody
knows. Within a loop of more than FEW_TURNS these are UNROLLED_ITEMS: of a table, nobody counts all entries."""

FEW_TURNS: Final = 16

HINTED_ITEMS: Final = 12
"""The same where the number is only a default, and so a guess."""

TRACED_ROWS: Final = 64
"""Rows of a tensor that a loop goes over."""

TRACED_TURNS: Final = 64
"""Turns of a ``while`` whose condition is decided each time."""

OPEN_TURNS: Final = 3
"""Turns of a ``while`` loop that something in it may have left: what more of them do is what these do."""

TRACED_PIECES: Final = 64
"""Pieces of a ``chunk`` or ``split`` that are told apart."""

ROUNDED_PIECES: Final = 2
"""Pieces from which on rounding may give fewer than were asked for: of two, a size of one gives less."""

SHAPED_PIECES: Final = 64
"""The same where only shapes are followed."""

CLONED_LAYERS: Final = 64
"""Copies of a layer (``num_layers``) that get a name of their own."""

ITEMS_PER_STEP: Final = 16
"""Items of a sequence that are copied for the price of one step."""


# -- values that grow ----------------------------------------------------------------------

LONGEST_TEXT: Final = 10_000
"""Characters of a text, or bytes, that user code may have us compute."""

MOST_BITS: Final = 40_000
"""Bits of an integer that user code may have us compute."""

LARGEST_ARGUMENT: Final = 1_000
"""An argument of functions whose cost grows faster than that of arithmetic (``math.factorial``)."""

MOST_PARTS: Final = 10_000
"""Parts of a tuple, list or dict that is read as a constant: of one that holds another twice, there are twice as many."""

LONGEST_PATTERN: Final = 2_000
"""Characters of a pattern."""

LONGEST_SEARCHED: Final = 200
"""Characters of a text that a pattern is tried on: some patterns take time that grows with a power of them."""

LONGEST_REPEATED: Final = 20
"""Characters of a text that a pattern with a repeated group is tried on: it may take time exponential in them."""

REMEMBERED_CALLS: Final = 16
"""Outcomes that are kept of calls with arguments alike, each of a world of other answers."""

DEEPEST_KEY: Final = 16
"""How deep values are compared by structure: a list may hold itself."""

KEYED_VALUES: Final = 5_000
"""Values that one structural key looks at: what is held twice by what is held twice is met that often."""

DEEPEST_CONSTRUCTION: Final = 24
"""Depth of calls to which a module's construction is remembered: deeper, DEEPEST_CALL may have cut it
short."""

CONSTRUCTION_VALUES: Final = 5_000
"""Values that a construction's key looks at, for the same reason as KEYED_VALUES."""

REPEATED_VALUES: Final = 200
"""Values that a call is given, or that a container of a module holds, which are compared before a call is not
followed again: of more, that costs as much as following it."""

REPEATED_CALLS: Final = 8
"""Outcomes that are remembered of calls that are given the same: worlds of other answers have others."""

SEARCHED_VALUES: Final = 200
"""Values that are looked through for the one that a compiled constant came from: a list may hold itself."""


# -- unknown values ------------------------------------------------------------------------

TERM_PARTS: Final = 40
"""Parts of a term. Of what has more, the place alone is kept: sums of sums have no end."""

DEEPEST_TERM: Final = 3
"""Tuples within tuples in a term."""

DICT_OPTIONS: Final = 4
"""Entries of a dict that an unknown key may choose from, or instead of that of its default, each a world."""

TYPICAL_SIZE: Final = 8
"""The size that stands for an unknown one where a comparison with a number has to be guessed."""

MODE_KEEPING_CALLS: Final = 20
"""Calls in code of one mode that is looked at for whether it only keeps something."""

MODE_OPTIONS: Final = 6
"""Values that one name may have at the end of different paths."""

DIM_TERMS: Final = 8
"""Terms of a symbolic size; sums with more are unknown."""

DEEPEST_DIM: Final = 12
"""Divisions within divisions in a symbolic size."""

DEEPEST_BOUND: Final = 3
"""Divisions within divisions in a size of which the least is worked out."""


# -- what is said --------------------------------------------------------------------------

ORIGIN_STEPS: Final = 4
"""Steps from an input to a value that a message names."""

DEEPEST_NAME: Final = 8
"""Assignments that a name is followed through."""
