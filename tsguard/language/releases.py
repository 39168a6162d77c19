"""What torch releases do in ways of their own, as far as it is no data of their tables.

Each of these was asked of torch: tests/language/test_ways.py asks the installed one again.
"""

from __future__ import annotations

import functools
import re

from tsguard.language.tables import as_numbers
from tsguard.report.records import dataclass

_BOUND = re.compile(r"(>=|<)(\d+\.\d+)")


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways of one release.

    attends_over_counts_of_data: attention over as many steps as data tells is left to the program by
        ``torch.export``, in a call or in the layers that are made of it.
    bools_are_numbers: a bool is taken where an int, a float or a number is wanted.
    compares_counts_of_data: ``torch.cosine_similarity`` takes two tensors with as many rows as data tells, and what
        finds out whether they are as many is the program.
    compiles_autograd_properties: ``autograd.Function`` has properties, which are compiled with
        what calls ``apply``, and whose annotations are refused.
    refuses_apply: ``autograd.Function.apply`` is a builtin without an operator to TorchScript.
    slices_by_data: ``torch.export`` takes a slice whose bound an element of a tensor gives.  Before, it
        refuses such and more; what it makes of code is not judged for these releases.
    indexes_by_tensors: ``torch.export`` takes tensors of one number as indices: in a list, beside others, and
        where elements are set.
    passes_over_text_annotations: an annotation in the body of a module's class may be text where no
        attribute of its name is ever set.
    steps_by_data: ``torch.export`` takes a ``torch.arange`` with a step that data tells.
    """

    attends_over_counts_of_data: bool
    bools_are_numbers: bool
    compares_counts_of_data: bool
    compiles_autograd_properties: bool
    indexes_by_tensors: bool
    passes_over_text_annotations: bool
    refuses_apply: bool
    slices_by_data: bool
    steps_by_data: bool


@functools.cache
def ways(release: str) -> Ways:
    """The ways of a release: ``2.4``."""
    return Ways(
        attends_over_counts_of_data=allows(">=2.15", release),
        bools_are_numbers=allows(">=2.3", release),
        compares_counts_of_data=allows(">=2.15", release),
        compiles_autograd_properties=allows(">=2.15", release),
        indexes_by_tensors=allows(">=2.14", release),
        passes_over_text_annotations=allows(">=2.3", release),
        refuses_apply=allows(">=2.14", release),
        slices_by_data=allows(">=2.13", release),
        steps_by_data=allows(">=2.15", release),
    )


@functools.cache
def allows(bounds: str, release: str) -> bool:
    """Whether a release is within bounds such as ``>=2.2,<2.6``, as rule pages give them.

    Raises:
        ValueError: the bounds are none.
    """
    number = as_numbers(release)
    for bound in bounds.split(","):
        found = _BOUND.fullmatch(bound.strip())
        if found is None:
            raise ValueError(f"{bound!r} is no bound of torch releases")
        at_least = number >= as_numbers(found[2])
        if at_least != (found[1] == ">="):
            return False
    return True
