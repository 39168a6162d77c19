"""The GitHub action and the recipes for other CI systems, run as a runner's shell would."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "how-to" / "ci.md").read_text()
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
BAD = """\
from torch import nn


class Net(nn.Module):
    def forward(self, x, **more):
        return x
"""


@pytest.fixture
def shell(tmp_path):
    """Runs a script in a folder that holds a module that does not script; what it printed, and its status."""
    binaries = tmp_path / "bin"
    binaries.mkdir()
    for name, module in (("tsguard", "tsguard"), ("python", "")):
        file = binaries / name
        file.write_text(f'#!/bin/sh\nexec {sys.executable} {f"-m {module}" if module else ""} "$@"\n')
        file.chmod(0o755)
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "net.py").write_text(BAD)
    path = os.pathsep.join([str(binaries), os.environ["PATH"]])

    def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
        variables = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **environment}
        return subprocess.run(
            ["bash", "-e", "-c", script], cwd=folder, env=variables, capture_output=True, text=True
        )

    run.folder = folder
    return run


class TestAction:
    def lint(self, shell, **inputs: str):
        """The action's own script, with the files that GitHub gives a step."""
        (step,) = (step for step in ACTION["runs"]["steps"] if step.get("id") == "lint")
        given = {name: about["default"] for name, about in ACTION["inputs"].items()} | inputs
        environment = {
            name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: given[match[1]], value)
            for name, value in step["env"].items()
        }
        files = {name: str(shell.folder / name.lower()) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        temporary = str(shell.folder.parent)
        return shell(step["run"], GITHUB_ACTIONS="true", RUNNER_TEMP=temporary, **files, **environment)

    def test_findings_are_annotations_a_summary_and_sarif(self, shell):
        ran = self.lint(shell)
        assert ran.returncode == 1
        assert "::error title=tsguard (TSG103),file=net.py,line=5" in ran.stdout
        assert "TSG103" in (shell.folder / "github_step_summary").read_text()
        output = (shell.folder / "github_output").read_text()
        log = json.loads(Path(output.removeprefix("sarif=").strip()).read_text())
        assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["TSG103"]

    def test_accepted_findings_do_not_fail(self, shell):
        accepting = "tsguard lint --baseline accepted.json --update-baseline ."
        assert shell(accepting).returncode == 0
        ran = self.lint(shell, baseline="accepted.json")
        assert ran.returncode == 0, ran.stderr
        output = (shell.folder / "github_output").read_text()
        log = json.loads(Path(output.removeprefix("sarif=").strip()).read_text())
        assert log["runs"][0]["results"] == []

    def test_arguments_may_be_quoted_and_stand_on_several_lines(self, shell):
        folder = shell.folder / "my models"
        folder.mkdir()
        (shell.folder / "net.py").rename(folder / "net.py")
        ran = self.lint(shell, args="--select TSG103\n'my models'\n")
        assert ran.returncode == 1
        assert "file=my models/net.py,line=5" in ran.stdout
        assert self.lint(shell, args="--ignore TSG103 'my models'").returncode == 0

    def test_nothing_in_the_arguments_is_run(self, shell):
        self.lint(shell, args='"$(touch made)" `touch made` ; touch made')
        assert not (shell.folder / "made").exists()

    @pytest.mark.parametrize("args", ["'net.py", "--no-such-option", "gone.py"])
    def test_wrong_arguments_are_usage_errors(self, shell, args):
        assert self.lint(shell, args=args).returncode == 2

    def test_uses_in_several_folders_do_not_overwrite_each_other(self, shell):
        outputs = []
        for _ in range(2):
            self.lint(shell)
            outputs = (shell.folder / "github_output").read_text().splitlines()
        assert len(set(outputs)) == 2
        (upload,) = (step for step in ACTION["runs"]["steps"] if "upload-sarif" in step.get("uses", ""))
        assert "inputs.folder" in upload["with"]["category"]

    @pytest.mark.parametrize(("version", "expected"), [("", "/action"), ("0.1.0", "tsguard==0.1.0")])
    def test_it_installs_itself_or_a_release(self, shell, version, expected):
        (step,) = (step for step in ACTION["runs"]["steps"] if "pip install" in step.get("run", ""))
        script = step["run"].replace("python -m pip install --quiet", "echo")
        ran = shell(script, VERSION=version, GITHUB_ACTION_PATH="/action")
        assert ran.stdout.strip() == expected


def test_the_gitlab_recipe_leaves_a_report(shell):
    (recipe,) = re.findall(r"## GitLab\n\n```yaml\n(.*?)```", PAGE, re.DOTALL)
    job = yaml.safe_load(recipe)["tsguard"]
    script = "\n".join(line for line in job["script"] if not line.startswith("pip install"))
    assert shell(script).returncode == 1
    issues = json.loads((shell.folder / job["artifacts"]["reports"]["codequality"]).read_text())
    assert [issue["check_name"] for issue in issues] == ["TSG103"]


def test_the_jenkins_recipe_leaves_results(shell):
    steps = re.findall(r"sh '(.*?)'", PAGE)
    ran = shell("\n".join(step for step in steps if not step.startswith("pip install")))
    assert ran.returncode == 1
    (results,) = re.findall(r"junit '(.*?)'", PAGE)
    assert ElementTree.parse(shell.folder / results).findall(".//failure")
