"""Every module of torch.nn, held by a module of the user's: torch and tsguard agree."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests.conformance.agreement import compare
from tests.conformance.programs import Program
from tests.conformance.test_generated import said
from tools.nn_samples import SAMPLES
from tsguard.language.tables import RELEASES, Tables

nn = pytest.importorskip("torch.nn")

# Containers, whose contents make them what they are; a wrapper for several GPUs; bases without a forward.
UNSAMPLED = {
    "Container", "DataParallel", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "RNNBase",
    "RNNCellBase", "Sequential",
}  # fmt: skip

_SOURCE = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.{name}({sample})

    def forward(self, {parameters}):
        return self.layer({parameters})
"""


def _program(name: str, sample: str) -> Program:
    signature = inspect.signature(getattr(nn, name).forward)
    required = [
        parameter.name
        for parameter in list(signature.parameters.values())[1:]
        if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    parameters = ", ".join(required or ["x"])
    # Torch only compiles it: no input fits them all.
    return Program(_SOURCE.format(name=name, sample=sample, parameters=parameters), "()")


def test_every_module_of_torch_nn_is_in_the_tables():
    classes = {
        name
        for name, value in vars(nn).items()
        if inspect.isclass(value) and issubclass(value, nn.Module) and value is not nn.Module
    }
    tabled = {name.removeprefix("torch.nn.") for name in Tables(RELEASES[-1]).modules}
    assert classes - tabled - UNSAMPLED == set()


def test_torch_and_tsguard_agree_on_each(tmp_path: Path):
    programs = [
        _program(name, sample) for name, samples in SAMPLES.items() for sample in samples if hasattr(nn, name)
    ]
    comparisons = compare(programs, tmp_path)
    assert len(comparisons) > 150
    assert not [said(comparison) for comparison in comparisons if not comparison.agrees]
    assert {comparison.verdict for comparison in comparisons} <= {"ok", "blocked", "broken"}
