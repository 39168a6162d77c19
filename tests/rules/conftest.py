"""What the tests of the rule pages share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.rules.on_torch import TorchProcess, TorchUnavailable


@pytest.fixture(scope="session")
def torch_process() -> Iterator[TorchProcess]:
    """One process with torch for all pages; skips where torch is not installed."""
    try:
        process = TorchProcess()
    except TorchUnavailable as reason:
        pytest.skip(f"torch cannot be imported here: {reason}")
    yield process
    process.close()
