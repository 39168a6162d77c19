"""The labelled sets beside the project, where there are any: the bars that the linter has to clear."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

SHARED = Path(__file__).parent.parent.parent.parent / "shared"

pytestmark = pytest.mark.skipif(
    not (SHARED / "oracle" / "score.py").is_file(), reason="the labelled cases are not part of the project"
)


def test_every_labelled_case_is_judged_as_torch_did():
    tsguard = shlex.join([sys.executable, "-m", "tsguard"])
    asked = subprocess.run(
        [
            sys.executable,
            str(SHARED / "oracle" / "score.py"),
            str(SHARED / "cases" / "labels.json"),
            "--tsguard",
            tsguard,
            "--json",
        ],
        capture_output=True,
        text=True,
    )
    assert asked.returncode == 0, asked.stderr
    for group, figures in json.loads(asked.stdout)["scores"].items():
        assert figures["coverage"] == figures["recall"] == figures["precision"] == 1.0, group
