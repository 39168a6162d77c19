"""The workflows of a release say what is so."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tsguard import __version__

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
RELEASE = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_can_be_read_and_its_scripts_parse(workflow):
    jobs = yaml.safe_load(workflow.read_text())["jobs"]
    scripts = [step["run"] for job in jobs.values() for step in job.get("steps", ()) if "run" in step]
    for script in scripts:
        plain = re.sub(r"\$\{\{.*?\}\}", "x", script)
        ran = subprocess.run(["bash", "-n", "-c", plain], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr


def test_the_tests_run_on_the_sources_and_on_the_compiled_wheel():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]
    run = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in jobs.items()}
    assert run == {"as-it-stands": [".ci/run"], "compiled": ["make test-compiled"]}
    for target in ("test", "test-compiled"):
        planned = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True)
        assert "-m pytest" in planned.stdout


def test_nothing_is_published_that_was_not_tried():
    jobs = RELEASE["jobs"]
    assert jobs["publish"]["needs"] == "try"
    assert set(jobs["try"]["needs"]) == {"compiled", "pure"}
    assert jobs["publish"]["if"] == "github.ref_type == 'tag'"


@pytest.mark.parametrize(("tag", "status"), [(f"v{__version__}", 0), ("v99.0.0", 1)])
def test_a_tag_must_be_the_version_and_in_the_changelog(tmp_path, tag, status):
    (step,) = (step for step in RELEASE["jobs"]["pure"]["steps"] if "CHANGELOG" in step.get("run", ""))
    (tmp_path / "tsguard").mkdir()
    shutil.copy(ROOT / "tsguard" / "version.py", tmp_path / "tsguard")
    (tmp_path / "CHANGELOG.md").write_text(f"## [{__version__}] - 2026-01-01\n")
    environment = {"PATH": "/usr/bin:/bin", "GITHUB_REF_NAME": tag}
    ran = subprocess.run(
        ["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=environment, capture_output=True
    )
    assert ran.returncode == status


def test_the_trial_finds_what_it_looks_for(tmp_path):
    (step,) = (step for step in RELEASE["jobs"]["try"]["steps"] if "net.py" in step.get("run", ""))
    source = re.search(r"printf '(.*?)' > net.py", step["run"])[1].encode().decode("unicode_escape")
    (tmp_path / "net.py").write_text(source)
    import tsguard

    found = tsguard.lint(tmp_path / "net.py", isolated=True).findings
    assert [finding.code for finding in found] == ["TSG103"]
