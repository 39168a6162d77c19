"""The ways in which Python makes and passes on a part of a module: what is promised of one goes for what it holds.

The bodies of constructors are in ``making``, in which each makes ``self.parts``, a module that holds a ``Part``:
torch.jit.script refuses it, and it depends on the mode.  Of those that are ``not_followed`` nothing may be promised.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.rules.on_torch import load
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

MAKING = Path(__file__).parent / "making"


def ways(name: str) -> dict[str, str]:
    """The bodies of a file by their names."""
    parts = (MAKING / name).read_text(encoding="utf-8").removeprefix("### ").split("\n### ")
    return dict(part.split("\n", 1) for part in parts)


FOLLOWED, NOT_FOLLOWED = ways("followed.txt"), ways("not_followed.txt")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", [*FOLLOWED, *NOT_FOLLOWED])
def test_what_is_made_is_judged_or_said_not_to_be_known(tmp_path: Path, way: str) -> None:
    body = (FOLLOWED | NOT_FOLLOWED)[way].strip().replace("\n", "\n        ")
    path = tmp_path / "model.py"
    path.write_text((MAKING / "model.txt").read_text(encoding="utf-8").replace("{made}", body), "utf-8")
    project = Project((tmp_path,))
    found = judge(Program(project), find_target(project.module(path), "Net"))
    assert (found.script, found.mode) == (
        ("blocked", "dependent") if way in FOLLOWED else ("unknown", "unknown")
    )

    net: Any = load(str(path)).Net()
    assert not torch.equal(net.train()(torch.ones(2)), net.eval()(torch.ones(2)))
