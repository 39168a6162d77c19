"""``tsguard lint --fix``, ``--unsafe-fixes`` and ``--diff`` as a user calls them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

SAFE = "def forward(self, x, p=1):"
UNSAFE = "def forward(self, x, mask=None):"
CLASS = """\
from torch import nn


class Net(nn.Module):
    {signature}
        if mask is not None:
            x = x + mask
        return x
"""
SAFE_NET = CLASS.replace("mask is not None", "p > 0").replace("+ mask", "+ p").format(signature=SAFE)
SAFE_FIXED = SAFE_NET.replace("p=1", "p: int = 1")
UNSAFE_NET = CLASS.format(signature=UNSAFE)


@pytest.fixture
def net(folder):
    (folder / "net.py").write_text(SAFE_NET)
    return folder / "net.py"


class TestFix:
    def test_the_file_is_changed_and_the_rest_reported(self, tsguard, net):
        ran = tsguard("lint", "--fix", "net.py")
        assert ran.status == 0
        assert net.read_text() == SAFE_FIXED
        assert "TSG102" not in ran.out
        assert "no findings (1 fixed); 1 target in 1 file" in ran.err

    def test_what_remains_decides_the_status(self, tsguard, net):
        net.write_text(SAFE_NET.replace("return x", "return x.no_such_method()"))
        ran = tsguard("lint", "--fix", "net.py")
        assert ran.status == 1
        assert "p: int = 1" in net.read_text()
        assert "1 error (1 fixed)" in ran.err

    def test_the_json_report_counts(self, lint, net):
        before = lint("net.py").report
        assert before["summary"]["fixable"] == {"safe": 1, "unsafe": 0}
        (fixable,) = (f["fix"] for f in before["findings"] if f["fix"])
        assert fixable["applicability"] == "safe"
        assert fixable["edits"][0]["path"] == "net.py"
        after = lint("--fix", "net.py").report
        assert (after["summary"]["fixed"], after["findings"]) == (1, [])

    def test_unsafe_fixes_are_hidden_until_asked_for(self, tsguard, net):
        net.write_text(UNSAFE_NET)
        ran = tsguard("lint", "--fix", "net.py")
        assert ran.status == 1
        assert net.read_text() == UNSAFE_NET
        assert "no safe fixes; 1 hidden fix with --unsafe-fixes" in ran.err
        assert tsguard("lint", "--fix", "--unsafe-fixes", "net.py").status == 0
        assert "mask: Optional[Tensor] = None" in net.read_text()

    def test_suppressed_findings_are_not_fixed(self, tsguard, net):
        text = SAFE_NET.replace("p=1):", "p=1):  # tsguard: ignore[TSG102]")
        net.write_text(text)
        assert tsguard("lint", "--fix", "net.py").status == 0
        assert net.read_text() == text

    @pytest.mark.parametrize("option", ["--select=TSG2", "--ignore=TSG102"])
    def test_what_is_not_reported_is_not_fixed(self, tsguard, net, option):
        tsguard("lint", "--fix", option, "net.py")
        assert net.read_text() == SAFE_NET

    def test_files_that_were_not_asked_for_are_not_changed(self, tsguard, net, folder):
        (folder / "use.py").write_text("from net import Net\n\n\nclass Sub(Net):\n    pass\n")
        ran = tsguard("lint", "--fix", "use.py")
        assert "net.py:5" in ran.out
        assert "[*]" not in ran.out
        assert net.read_text() == SAFE_NET

    def test_fixes_that_wait_for_each_other(self, tsguard, net):
        body = "s = []\n        d = {}\n        s.append(1)\n        d['a'] = 1\n        return x * s[0] * d['a']"
        net.write_text(
            f"from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        {body}\n"
        )
        assert tsguard("lint", "--fix", "net.py").status == 0
        assert net.read_text().startswith("from typing import Dict, List\n\n")

    def test_the_cache_does_not_hide_the_change(self, tsguard, net):
        assert tsguard("lint", "net.py").status == 1
        assert tsguard("lint", "--fix", "net.py").status == 0
        assert tsguard("lint", "net.py").status == 0

    def test_standard_input_is_printed_fixed_with_the_report_beside_it(self, tsguard, folder):
        ran = tsguard("lint", "--fix", "-", "--stdin-filename", "net.py", stdin=SAFE_NET.encode())
        assert (ran.status, ran.out) == (0, SAFE_FIXED)
        assert "1 fixed" in ran.err
        clean = tsguard("lint", "--fix", "-", stdin=SAFE_FIXED.encode())
        assert (clean.status, clean.out) == (0, SAFE_FIXED)

    @pytest.mark.parametrize(("start", "encoding"), [("# coding: latin-1\n", "latin-1"), ("", "utf-8-sig")])
    def test_standard_input_is_printed_in_its_encoding_with_its_ends_of_lines(self, start, encoding):
        code, fixed = (
            f"{start}# ø\n{text}".replace("\n", "\r\n").encode(encoding) for text in (SAFE_NET, SAFE_FIXED)
        )
        command = [sys.executable, "-m", "tsguard", "lint", "--isolated", "--fix", "-"]
        assert subprocess.run(command, input=code, capture_output=True, timeout=60).stdout == fixed

    @pytest.mark.parametrize("other", ["--add-ignore", "--update-baseline"])
    def test_it_is_either_fixed_or_accepted(self, tsguard, net, other):
        ran = tsguard("lint", "--fix", other, "net.py")
        assert ran.status == 2
        assert net.read_text() == SAFE_NET

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
    def test_a_file_that_cannot_be_written(self, tsguard, net):
        net.chmod(0o444)
        ran = tsguard("lint", "--fix", "net.py")
        assert ran.status == 2
        assert "cannot be changed" in ran.err


class TestDiff:
    @pytest.mark.skipif(shutil.which("patch") is None, reason="there is no patch here")
    def test_a_patch_and_no_change(self, tsguard, net, folder):
        ran = tsguard("lint", "--diff", "net.py")
        assert ran.status == 1
        assert net.read_text() == SAFE_NET
        assert "would fix 1 finding\n" in ran.err
        subprocess.run(
            ["patch", "-p0"], input=ran.out, cwd=folder, text=True, check=True, capture_output=True
        )
        assert net.read_text() == SAFE_FIXED

    @pytest.mark.skipif(shutil.which("patch") is None, reason="there is no patch here")
    @pytest.mark.parametrize(("mark", "encoding"), [("# coding: latin-1\n", "latin-1"), ("", "utf-8-sig")])
    def test_a_patch_applies_to_a_file_in_its_own_encoding(self, net, mark, encoding):
        before = mark + SAFE_NET.replace("    def ", "    # \xe9t\xe9\n    def ")
        net.write_bytes(before.encode(encoding))
        for given in ("net.py", "-"):
            command = [sys.executable, "-m", "tsguard", "lint", "--diff", given, "--stdin-filename", "net.py"]
            shown = subprocess.run(command, input=net.read_bytes(), capture_output=True, cwd=net.parent)
            assert shown.returncode == 1, shown.stderr
            applied = ["patch", "-o", "fixed.py", "net.py"]
            subprocess.run(applied, input=shown.stdout, cwd=net.parent, check=True, capture_output=True)
            fixed = (net.parent / "fixed.py").read_bytes()
            assert fixed == before.replace(SAFE, "def forward(self, x, p: int = 1):").encode(encoding)

    def test_files_that_use_each_other(self, tsguard, net, folder):
        net.write_text(UNSAFE_NET)
        (folder / "a.py").write_text("from net import Net\n\n\nclass Sub(Net):\n    pass\n")
        ran = tsguard("lint", "--diff", "--unsafe-fixes", ".")
        assert ran.status == 1
        added = [line for line in ran.out.splitlines() if line.startswith("+") and "def " in line]
        assert added == ["+    def forward(self, x, mask: Optional[torch.Tensor] = None):"] or added == [
            "+    def forward(self, x, mask: Optional[Tensor] = None):"
        ]

    def test_nothing_to_change(self, tsguard, net):
        net.write_text(SAFE_FIXED)
        ran = tsguard("lint", "--diff", "net.py")
        assert (ran.status, ran.out) == (0, "")

    def test_findings_without_a_fix_do_not_count(self, tsguard, net):
        net.write_text(UNSAFE_NET)
        assert tsguard("lint", "--diff", "net.py").status == 0
        assert tsguard("lint", "--diff", "--unsafe-fixes", "net.py").status == 1

    def test_a_path_that_does_not_exist(self, tsguard, net):
        ran = tsguard("lint", "--diff", "net.py", "gone.py")
        assert ran.status == 2
        assert "+    def forward(self, x, p: int = 1):" in ran.out

    def test_standard_input(self, tsguard, folder):
        ran = tsguard("lint", "--diff", "-", "--stdin-filename", "net.py", stdin=SAFE_NET.encode())
        assert ran.status == 1
        assert ran.out.startswith("--- net.py\n+++ net.py\n@@")


def test_the_text_marks_what_can_be_fixed(tsguard, net):
    assert "error[TSG102] [*] parameter" in tsguard("lint", "net.py").out
    net.write_text(UNSAFE_NET)
    plain = tsguard("lint", "net.py").out
    assert 'error[TSG185] "mask"' in plain
    assert "[*]" not in plain
    assert "error[TSG185] [*]" in tsguard("lint", "--unsafe-fixes", "net.py").out


def test_a_filter_over_several_lines_becomes_a_loop(tsguard, net):
    net.write_text(
        "from typing import List\n\nfrom torch import Tensor, nn\n\n\nclass Net(nn.Module):\n"
        "    def forward(self, xs: List[Tensor]) -> List[int]:\n        return [\n            i\n"
        "            for i, (a, b) in enumerate(zip(xs, xs))\n            if a.dim() > 1\n"
        "            and b.numel() > 0\n        ]\n"
    )
    tsguard("lint", "--fix", "--unsafe-fixes", "net.py")
    fixed = net.read_text()
    assert "for i, (a, b) in enumerate(zip(xs, xs)):\n" in fixed
    assert "if (a.dim() > 1\n" in fixed
    assert "TSG154" not in tsguard("lint", "net.py").out


class TestFilesThatBelongTogether:
    NET = """\
from torch import nn

from helpers import tiled


class Net(nn.Module):
    def forward(self, x):
        return tiled(x, 2)
"""
    HELPERS = "# what is shared\n\n\ndef tiled(x, times):\n    return x.repeat(1, times)\n"

    @pytest.fixture
    def pair(self, folder):
        (folder / "net.py").write_text(self.NET)
        (folder / "helpers.py").write_text(self.HELPERS)
        return folder

    def test_a_fix_lies_in_the_file_that_is_to_change(self, lint, tsguard, pair):
        fixes = [f["fix"] for f in lint(".").report["findings"] if f["fix"]]
        assert {edit["path"] for fix in fixes for edit in fix["edits"]} == {"helpers.py"}
        assert tsguard("lint", "--fix", "--unsafe-fixes", ".").status == 0
        assert (pair / "helpers.py").read_text() == self.HELPERS.replace("times)", "times: int)", 1)
        assert (pair / "net.py").read_text() == self.NET

    def test_a_file_that_was_not_asked_for_is_left_alone(self, tsguard, pair):
        ran = tsguard("lint", "--fix", "--unsafe-fixes", "net.py")
        assert "fixed" not in ran.err
        assert (pair / "net.py").read_text() == self.NET
        assert (pair / "helpers.py").read_text() == self.HELPERS
