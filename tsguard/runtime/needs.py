"""What a target lacks to be attempted, and the exact words to add on the command line."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from tsguard.runtime.attempts import TargetAttempts
from tsguard.runtime.shown import said

# What no other inputs would help.
_WHATEVER_INPUTS = frozenset({"FileNotFoundError", "ImportError", "ModuleNotFoundError", "NameError"})
_HOW = "give them with --input, once for each argument"


@dataclass(frozen=True, slots=True)
class Need:
    """``what`` is missing, ``why`` it was not found, where that tells something; ``help`` says how to give it."""

    what: str
    help: str
    why: str = ""


def needs(found: TargetAttempts) -> Need | None:
    """What the target needs from the user; None when it was called, or is itself at fault."""
    if found.stop is None or found.callable or found.stop.fault:
        return None
    subject = found.subject
    if found.stop.step == "construct" and subject.constructor is None:
        if not found.stop.needed:
            return None
        arguments = ", ".join(f"{name}=..." for name in found.stop.needed)
        target = f"{subject.shown}:{subject.qualname}({arguments})"
        return Need("constructor arguments", f"give them in the target: {shlex.quote(target)}")
    if found.stop.step == "inputs" and subject.inputs is None:
        unwritten = found.stop.error.type == "NotImplementedError" and not found.stop.needed
        if found.stop.error.type in _WHATEVER_INPUTS or unwritten:
            return None
        tried = " ".join(map(input_option, found.stop.needed))
        why = f"; the nearest try ends in {said(found.stop.error)}"
        how = f"give them with --input, or repair the module if it should take {tried}" if tried else _HOW
        return Need("example inputs", how, why)
    return None


def input_option(expression: str) -> str:
    """The command line option that gives one argument of ``forward``."""
    # Python's own quotes stay readable inside double ones.
    plain = "'" in expression and not set(expression) & set('"$`\\!')
    return f'--input "{expression}"' if plain else f"--input {shlex.quote(expression)}"
