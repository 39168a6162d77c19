"""What attempts may take, and what decides what is said of them: budgets and thresholds, each with its reason.

Seconds are of wall clock.  What the user sets (``--timeout``, ``--memory``, ``--time-budget``) is no part of it.
"""

from __future__ import annotations

from typing import Final

# -- processes -----------------------------------------------------------------------------

IMPORT_SECONDS: Final = 300.0
"""The first import of torch from a slow disk, or in a container that has never read it."""

CLEAR_UP_SECONDS: Final = 15.0
"""A supervisor that has said how its worker ended kills what is left, and ends."""

TICK_SECONDS: Final = 0.05
"""How often a supervisor looks after its worker."""

COUNT_SECONDS: Final = 0.5
"""How often it looks for the worker's children: that reads about all processes of the machine."""

STACK_GRACE_SECONDS: Final = 1.5
"""Time for a worker that is late to write its Python stack."""

MOST_PROCESSES: Final = 256
"""Children of one worker; more end it."""

IDLE_SECONDS: Final = 0.5
"""How often the process that forks workers looks for what ended workers left behind, when nobody asks for
one."""

CLUSTER_SECONDS: Final = 30
"""Time for a cluster's scheduler to answer, and for one worker to have joined it."""

CLUSTER_RETRIES: Final = 3
"""A worker of a cluster may be taken away; its task is then done elsewhere."""

PART_OF_MEMORY: Final = 0.8
"""The part of the memory limit that a guess may fill: more raises, and the worker lives on."""


# -- constructing and calling a target -----------------------------------------------------

MOST_CONSTRUCTIONS: Final = 16
"""Sets of constructor arguments for which inputs are searched."""

SECONDS_FOR_OTHERS: Final = 40.0
"""Time after which no other constructor arguments are tried, once inputs were not found with one set."""

TRIES_FOR_OTHERS: Final = 20
"""Guesses at inputs with each of these others."""

CONSTRUCTION_TRIES: Final = 60
"""Calls of a constructor whose arguments are guessed."""

MOST_HOLLOW: Final = 8
"""Instances with layers without elements, after which these are taken."""

CONSTRUCTION_LESSONS: Final = 60
"""Guesses that an error message leads to, among them."""

CONSTRUCTION_SECONDS: Final = 20.0
"""Time for all of these calls."""

DEEPEST_ARGUMENT: Final = 3
"""Arguments of arguments: a module that takes a configuration that holds a module."""

DEEPEST_EXAMPLE: Final = 2
"""Examples in docstrings that are made from other examples."""

DEEPEST_USE: Final = 4
"""Calls through which it is followed what becomes of an argument."""

MOST_ALIKE: Final = 16
"""After so many errors that differ in their numbers only, inputs are not at fault."""

SEARCH_SECONDS: Final = 30.0
"""Time for the search for inputs."""

STAND_IN_SECONDS: Final = 5.0
"""Time for one run on stand-ins, which has not to come through to tell something."""

TRIAL_SECONDS: Final = 15.0
"""Time for one call with guessed inputs: one that takes longer is slow, not wrong."""

UNDECLARED_COST: Final = 4.0
"""What makes a guess less likely that has another dtype than the code declares."""

LARGEST_INPUT: Final = 2**23
"""Elements of a guessed tensor."""

MOST_GUESSES: Final = 3
"""Guesses at inputs again, for types that the compiled target takes."""

DEEPEST_VALUE: Final = 20
"""Containers within containers among inputs and results: one may hold itself."""


# -- what torch says -----------------------------------------------------------------------

MOST_BLOCKERS: Final = 15
"""Refusals past torch's first that are asked for."""

ALL_BLOCKERS_SECONDS: Final = 10.0
"""Time for asking, target by target."""

LONGEST_MESSAGE: Final = 600
"""Characters of torch's message that a report holds."""

SECONDS_FOR_PARTS: Final = 5.0
"""Time for finding the submodules that script by themselves."""

SEEN_ELEMENTS: Final = 64
"""Elements of a list beyond which its type is told from these."""


# -- agreeing with eager, and how fast -----------------------------------------------------

WORSE: Final = 4.0
"""How many times further from the exact result than eager's own error a result may be: compiled code sums
in other orders."""

MOST_SUBMODULES: Final = 60
"""Submodules that a breakdown tries, those that take the most time."""

ENOUGH_OF_THE_GAIN: Final = 0.8
"""The part of all gain that makes a choice of submodules enough."""

LEAST_SHARE: Final = 0.02
"""The share of eager's time below which a submodule is not timed."""

TOO_CLOSE: Final = 0.15
"""A speedup so near to one is measured again in another process, where weights may lie better."""

SHARP: Final = 0.05
"""Half of an interval's width, relative to the ratio, at which measuring ends."""

BLOCK_SECONDS: Final = 0.0004
"""Calls that are timed together on the CPU take so long at least: the clock's grain is no part of the
ratio."""

GPU_BLOCK_SECONDS: Final = 0.002
"""The same on a GPU, with the price of its events."""

WARM_UP_SECONDS: Final = 3.0
"""Time after which a call counts as warm though its time still falls."""

STEADY: Final = 0.10
"""The change between two calls' times that counts as none."""

SPECIALISED: Final = 5
"""Calls after which the executor has rewritten forward and backward."""

LONG_CALL_SECONDS: Final = 0.1
"""A call of this length needs no repetition to be estimated."""

PATIENCE: Final = 12
"""So many times the budget the fewest pairs that give an interval may take."""


# -- data loaders --------------------------------------------------------------------------

BUSY: Final = 0.15
"""The share of the cores used by others from which on a measurement is said to be disturbed."""

START_SHARE: Final = 0.02
"""Starting workers is worth avoiding where it takes more than this share of an epoch."""

WAITING: Final = 0.5
"""The share of an item's time spent waiting from which on more workers than cores make sense."""

FEWEST_NUMBERS: Final = 2
"""So many numbers of workers are tried even if time is up: one alone says nothing."""

STOPPING_SECONDS: Final = 15.0
"""What stopping workers that do not answer takes torch at most."""

DYING_SECONDS: Final = 0.5
"""Time for a dead worker's exit code: what is noticed first is often only a closed connection."""

FEWEST_BATCHES: Final = 3
"""Batches that are fetched even if time is up."""

MOST_BATCHES: Final = 200
"""Batches that are fetched at most."""

STACK_SECONDS: Final = 0.5
"""Time for workers that hang to write their stacks."""

TURN_SECONDS: Final = 0.5
"""Length of one turn with pinned memory, or without."""

COPIES: Final = 10
"""Copies of a batch to the GPU, of which the median is reported."""

COLLATE_WARM_UP_CALLS: Final = 8
"""Calls before a collate function is timed: the profiling executor is done after the third."""

WORTH_DOUBLING: Final = 1.08
"""What a doubling of workers must bring for the next to be tried."""

SEEMS_AS_GOOD: Final = 0.92
"""What a number must reach of the best to be measured further."""

FEWEST_TURNS: Final = 2
"""Turns that each number of workers gets."""

ENOUGH_ROUNDS: Final = 10
"""Turns of each contender before the recommendation may be settled."""

MOST_ROUNDS: Final = 24
"""Turns after which it is settled as it is."""
