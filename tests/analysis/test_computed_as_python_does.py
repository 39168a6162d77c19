"""What a constructor computes of constants is what Python computes, or is not told."""

from __future__ import annotations

import runpy
from enum import Enum
from pathlib import Path

import packaging
import pytest

from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.subjects import build
from tsguard.analysis.values import (
    DictValue,
    EnumMember,
    ListValue,
    ModuleValue,
    RangeValue,
    SetValue,
    TupleValue,
    Value,
    constant,
)
from tsguard.project import Project
from tsguard.project.targets import find_target

CORPUS = Path(__file__).parent / "corpus"
EXPRESSIONS = (CORPUS / "expressions.txt").read_text("utf-8").splitlines()
NOT_TOLD = [
    "re.match('(a|b)*c', 'ab')",
    "re.match('((a+)+)+b', 'a')",
    "re.match('(a+)+b', 'a' * 30)",
    "re.match('a', 'a' * 300)",
    "importlib.metadata.version('there-is-no-such-distribution')",
]
NET = """\

class Net{index}(nn.Module):
    def __init__(self):
        super().__init__()
        self.told = {expression}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, Path]:
    path = tmp_path_factory.mktemp("idioms") / "model.py"
    nets = (NET.format(index=i, expression=e) for i, e in enumerate(EXPRESSIONS + NOT_TOLD))
    definitions = (CORPUS / "definitions.py").read_text("utf-8")
    path.write_text(f"{definitions}\n\nfrom torch import nn\n{''.join(nets)}", "utf-8")
    return Program(Project((Path(packaging.__file__).parents[1],))), path


@pytest.fixture(scope="module")
def names() -> dict[str, object]:
    return runpy.run_path(str(CORPUS / "definitions.py"))


def told(value: Value) -> object:
    if isinstance(value, (ListValue, SetValue, TupleValue)):
        assert not value.open
        kind = tuple if isinstance(value, TupleValue) else list if isinstance(value, ListValue) else set
        return kind(map(told, value.items))
    if isinstance(value, DictValue):
        return {key: told(item) for key, item in value.items.items()}
    if isinstance(value, EnumMember):
        return f"member {value.name}"
    if isinstance(value, RangeValue):
        return range(*(int(str(constant(part))) for part in (value.start, value.stop, value.step)))
    return constant(value)


def plain(value: object) -> object:
    """Members by their names, named tuples as tuples."""
    if isinstance(value, Enum):
        return f"member {value.name}"
    if isinstance(value, (list, tuple)):
        return (list if isinstance(value, list) else tuple)(map(plain, value))
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def interpreted(program: tuple[Program, Path], expression: str) -> object:
    index = (EXPRESSIONS + NOT_TOLD).index(expression)
    target = find_target(program[0].project.module(program[1]), f"Net{index}")
    module = build(PythonInterpreter(program[0]), target)
    assert isinstance(module, ModuleValue)
    return told(module.attributes["told"])


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_what_is_told_is_what_python_computes(
    program: tuple[Program, Path], names: dict[str, object], expression: str
) -> None:
    wanted, found = plain(eval(expression, names)), interpreted(program, expression)
    assert (type(found), repr(found) if not isinstance(found, set) else found) == (
        type(wanted),
        repr(wanted) if not isinstance(wanted, set) else wanted,
    )


@pytest.mark.parametrize("expression", NOT_TOLD)
def test_what_may_take_for_ever_or_is_not_there_is_not_told(
    program: tuple[Program, Path], expression: str
) -> None:
    assert isinstance(interpreted(program, expression), Value)
