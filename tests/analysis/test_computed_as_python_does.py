"""What a constructor computes of constants is what Python computes, or is not told."""

from __future__ import annotations

import runpy
from dataclasses import dataclass
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
KINDS = ("", "class_")  # what is written with definitions, and with those of classes


def expressions_of(kind: str) -> list[str]:
    return (CORPUS / f"{kind}expressions.txt").read_text("utf-8").splitlines()


EXPRESSIONS = [(kind, expression) for kind in KINDS for expression in expressions_of(kind)]
NOT_TOLD = [
    "re.match('(a|b)*c', 'ab')",
    "re.match('((a+)+)+b', 'a')",
    "re.match('(a+)+b', 'a' * 30)",
    "re.match('a', 'a' * 300)",
    "counting().__code__.co_varnames",
    "repr(Num.ONE)",
    "str([Num.ONE])",
    "f'{Num.TWO:02d}'",
    "f'{Kind.A!r}'",
    "'%s' % [Kind.A]",
    "importlib.metadata.version('there-is-no-such-distribution')",
]
NET = """\

class Net{index}(nn.Module):
    def __init__(self):
        super().__init__()
        self.told = {expression}
"""


@dataclass(frozen=True)
class Sample:
    program: Program
    path: Path
    expressions: list[str]


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sample]:
    return {kind: sample(kind, tmp_path_factory.mktemp("idioms") / "model.py") for kind in KINDS}


def sample(kind: str, path: Path) -> Sample:
    expressions = [*expressions_of(kind), *(NOT_TOLD if not kind else [])]
    nets = (NET.format(index=index, expression=text) for index, text in enumerate(expressions))
    definitions = CORPUS / f"{kind}definitions.py"
    path.write_text(f"{definitions.read_text('utf-8')}\n\nfrom torch import nn\n{''.join(nets)}", "utf-8")
    program = Program(Project((Path(packaging.__file__).parents[1],)))
    return Sample(program, path, expressions)


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


def interpreted(given: Sample, expression: str) -> object:
    index = given.expressions.index(expression)
    target = find_target(given.program.project.module(given.path), f"Net{index}")
    module = build(PythonInterpreter(given.program), target)
    assert isinstance(module, ModuleValue)
    return told(module.attributes["told"])


@pytest.mark.parametrize(("kind", "expression"), EXPRESSIONS)
def test_what_is_told_is_what_python_computes(samples: dict[str, Sample], kind: str, expression: str) -> None:
    found = interpreted(samples[kind], expression)
    names = runpy.run_path(str(CORPUS / f"{kind}definitions.py"))
    wanted = plain(eval(expression, names))
    assert (type(found), repr(found) if not isinstance(found, set) else found) == (
        type(wanted),
        repr(wanted) if not isinstance(wanted, set) else wanted,
    )


@pytest.mark.parametrize("expression", NOT_TOLD)
def test_what_may_take_for_ever_or_is_not_there_is_not_told(
    samples: dict[str, Sample], expression: str
) -> None:
    assert isinstance(interpreted(samples[""], expression), Value)
