"""What `tsguard lint` imports: nothing that the file at hand has no use for."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest

CLEAN = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x).relu()
"""
SCRIPTS = f"{CLEAN}\n\nscripted = torch.jit.script(Net())\n"
LOADS = f"{CLEAN}\n\nloader = torch.utils.data.DataLoader([1, 2])\n"
BLOCKED = (
    "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x, n=1):\n        return x * n\n"
)

# What each serves; a package stands for all modules in it.
SERVES = {
    "torch": "running code",
    "rich": "tsguard explain",
    "jinja2": "HTML reports",
    "libcst": "fixes",
    "difflib": "what is misspelt",
    "tsguard.analysis.api.files": "files that use torch.jit",
    "tsguard.analysis.api.flow": "files that use torch.jit",
    "tsguard.analysis.pipeline.loaders": "files that load data",
    "tsguard.analysis.pipeline.frames": "files that load data",
    "tsguard.answer": "attempts",
    "tsguard.linting.baseline": "--baseline",
    "tsguard.linting.cache": "runs without --no-cache",
    "tsguard.repairing.fixing": "--fix",
    "tsguard.formats.html": "HTML reports",
    "tsguard.formats.loaders": "tsguard loader",
    "tsguard.repairing.ignoring": "--add-ignore",
    "tsguard.judges.parts": "what can neither be scripted nor traced",
    "tsguard.project.lazy": "modules that give names only when asked",
    "tsguard.runtime": "attempts",
    "tsguard.source.notebooks": "notebooks",
    "tsguard.linting.workers": "several processes",
}


def imported(folder, text, *options):
    """The modules that linting a file leaves imported."""
    (folder / "net.py").write_text(text)
    code = (
        "import json, sys\n"
        "from tsguard.cli import main\n"
        "sys.argv[0] = 'tsguard'\n"
        "try:\n    main()\n"
        "finally:\n    print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    command = [
        sys.executable,
        "-c",
        code,
        "lint",
        "--isolated",
        "--no-cache",
        "--exit-zero",
        *options,
        "net.py",
    ]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return set(json.loads(ran.stderr.splitlines()[-1]))


def served(modules):
    """What the modules serve that not every file needs."""
    return {
        use
        for name, use in SERVES.items()
        if any(module == name or module.startswith(f"{name}.") for module in modules)
    }


def test_a_clean_file_needs_nothing_but_its_verdicts(tmp_path):
    assert served(imported(tmp_path, CLEAN)) == set()


def test_a_finding_without_a_fix_needs_nothing_more(tmp_path):
    assert served(imported(tmp_path, CLEAN.replace(".relu()", ".no_such_method()"))) == set()


def test_a_place_that_has_no_fix_though_others_have_needs_nothing_more(tmp_path):
    text = CLEAN.replace("class Net", "TABLE = [[1.0], {}]\n\n\nclass Net").replace(
        ".relu()", " * len(TABLE)"
    )
    modules = imported(tmp_path, text)
    assert "tsguard.fixes.constants" in modules
    assert served(modules) == set()


def test_what_serves_something_else_is_there():
    own = [name for name in SERVES if name.startswith("tsguard")]
    assert [name for name in own if importlib.util.find_spec(name) is None] == []


@pytest.mark.parametrize(
    ("text", "options", "used"),
    [
        (BLOCKED, (), "fixes"),
        (SCRIPTS, (), "files that use torch.jit"),
        (LOADS, (), "files that load data"),
        (CLEAN, ("--fix",), "--fix"),
        (CLEAN, ("--add-ignore",), "--add-ignore"),
        (CLEAN, ("--output-format", "html"), "HTML reports"),
    ],
)
def test_what_a_file_or_an_option_needs_is_imported_for_it(tmp_path, text, options, used):
    assert used in served(imported(tmp_path, text, *options))
