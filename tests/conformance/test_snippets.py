"""The rules of the language, a few lines each: torch and tsguard agree on every snippet.

A file of ``snippets/`` holds programs between lines of ``###``.  Nothing says what is expected:
torch does.  The last definition is what is scripted.
"""

from __future__ import annotations

import ast
import hashlib
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conformance.agreement import compare
from tests.conformance.programs import Program
from tests.torch_here import RELEASE
from tsguard.language.releases import allows

NOT_RUN = "None"
SNIPPETS = sorted((Path(__file__).parent / "snippets").glob("*.txt"))
IMPORTS = """\
import abc
import cmath
import dataclasses
import math
from dataclasses import dataclass
from enum import Enum
from typing import Any, Dict, Final, Generic, List, NamedTuple, Optional, Tuple, TypeVar, Union

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

T = TypeVar("T")

"""


def _programs(path: Path) -> list[Program]:
    texts = [part.partition("\n")[2] for part in f"\n{path.read_text(encoding='utf-8')}".split("\n###")[1:]]
    return [Program(f"{IMPORTS}{text}", NOT_RUN, _last_definition(text)) for text in texts]


def _last_definition(text: str) -> str:
    definitions = [n.name for n in ast.parse(text).body if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    return definitions[-1]


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.stem)
def test_torch_and_tsguard_agree_on_each_snippet(path: Path, tmp_path: Path):
    if path.stem == "ignored_statements" and allows("<2.9", RELEASE) and find_spec("astunparse") is None:
        pytest.skip(
            "before 2.9 torch writes the code of ignored statements with astunparse, which is not here"
        )
    programs = _programs(path)
    comparisons = compare(programs, tmp_path)
    assert len(comparisons) == len(programs)
    wrong = [c for c in comparisons if not c.agrees or c.verdict == "unknown"]
    assert not [(c.program.source[len(IMPORTS) :], c.verdict, c.outcome, c.message[-300:]) for c in wrong]


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.stem)
def test_no_snippet_is_there_twice(path: Path):
    sources = [hashlib.sha1(program.source.encode()).hexdigest() for program in _programs(path)]
    assert len(sources) == len(set(sources))
