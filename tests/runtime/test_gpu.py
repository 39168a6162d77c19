"""The same attempts on a CUDA device; skipped where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.conftest import Attempting
from tsguard.runtime.attempts import Bounds
from tsguard.runtime.launcher import Launcher
from tsguard.runtime.plan import AttemptSpec, Settings
from tsguard.runtime.site import cuda_devices
from tsguard.runtime.task import Limits

pytestmark = pytest.mark.gpu
FIXTURES = Path(__file__).parents[2] / "fixtures"
BOUNDS = Bounds(Limits(seconds=120), Settings(timing_seconds=2.0))


@pytest.fixture(autouse=True)
def gpu(launcher: Launcher) -> None:
    if not cuda_devices(launcher):
        pytest.skip("no CUDA device here")


def test_a_fine_model_passes_and_is_timed(attempting: Attempting) -> None:
    specs = tuple(
        AttemptSpec(b, "cuda:0", m) for b, m in (("script", "eval"), ("trace", "eval"), ("script", "train"))
    )
    found = attempting((FIXTURES / "fine.py").read_text(), "Mixer", specs, BOUNDS)
    assert {a.status for a in found.attempts.values()} == {"ok"}
    assert all(found.attempts[spec].speedup is not None for spec in specs)


def test_a_trace_that_fixes_the_device_is_told(attempting: Attempting) -> None:
    source = (
        "import torch\n\nclass Net(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n"
        "        return x + torch.ones(x.shape[-1], device=x.device)\n"
    )
    spec = AttemptSpec("trace", "cuda:0")
    attempt = attempting(source, specs=(spec,), bounds=BOUNDS).attempts[spec]
    assert "a trace made on the CPU does not work on cuda:0" in (attempt.note or "")
