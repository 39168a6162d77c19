"""Operators that are functions of Python do not compile as values: torch is asked of each."""

from __future__ import annotations

import subprocess
import sys

from tsguard.analysis.script.module_attributes import WRITTEN_IN_PYTHON
from tsguard.language.tables import tables

ASKED = """\
import inspect, sys, torch
for name in sys.argv[1:]:
    function = getattr(torch, name.partition(".")[2])
    try:
        if inspect.isfunction(function):
            torch.jit.script(function)
    except Exception:
        print(name)
"""
NAMED = "import torch; print(*torch.functional.__all__)"


def _printed(code: str, *names: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code, *names], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_torch_compiles_none_of_them_and_all_others_that_are_operators():
    names = {f"torch.{name}" for name in _printed(NAMED)}
    operators = {name for name in names if isinstance(tables().entry(name), str)}
    assert _printed(ASKED, *sorted(operators)) == WRITTEN_IN_PYTHON
