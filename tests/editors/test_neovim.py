"""The page on Neovim, followed: diagnostics appear, and a fix is applied."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
NET = """\
from torch import nn


class Net(nn.Module):
    def forward(self, x, mask=None):
        if mask is not None:
            x = x * mask
        return x
"""


@pytest.mark.skipif(shutil.which("nvim") is None, reason="needs Neovim (apt-get install neovim)")
def test_neovim_shows_a_finding_and_applies_its_fix(tmp_path):
    page = (ROOT / "docs" / "how-to" / "editors.md").read_text()
    (config,) = re.findall(r"## Neovim\n\n```lua\n(.*?)```", page, re.DOTALL)
    (tmp_path / "init.lua").write_text(config)
    binaries = tmp_path / "bin"
    binaries.mkdir()
    tsguard = binaries / "tsguard"
    tsguard.write_text(f'#!/bin/sh\nexec {sys.executable} -m tsguard "$@"\n')
    tsguard.chmod(0o755)
    net = tmp_path / "net.py"
    net.write_text(NET)
    out = tmp_path / "report.json"
    environment = {
        **os.environ,
        "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "TSGUARD_FILE": str(net),
        "TSGUARD_CODE": "TSG185",
        "TSGUARD_OUT": str(out),
    }
    script = Path(__file__).with_name("neovim.lua")
    command = ["nvim", "--headless", "-u", str(tmp_path / "init.lua"), "-c", f"luafile {script}"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert out.exists(), ran.stderr
    report = json.loads(out.read_text())
    assert {"code": "TSG185", "line": 7} in report["before"]
    assert report["applied"].startswith("TSG185")
    assert not [found for found in report["after"] if found["code"] == "TSG185"]
    assert "mask: Optional[Tensor] = None" in net.read_text()
