"""What makes everyday use pleasant: watching, completion, first steps, severities, links, stale entries."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import yaml

from tsguard.rules import pages
from tsguard.rules.links import takes_links

BAD = """\
from torch import nn


class Net(nn.Module):
    def forward(self, x, **more):
        return x
"""
GOOD = BAD.replace(", **more", "")


def test_watching_lints_again_when_a_file_changes(tmp_path):
    net = tmp_path / "net.py"
    net.write_text(BAD)
    command = [
        sys.executable,
        "-m",
        "tsguard",
        "lint",
        "--isolated",
        "--watch",
        "--output-format",
        "concise",
        ".",
    ]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        killer = threading.Timer(120, process.kill)
        killer.start()
        try:
            seen = _until(process, "watching")
            assert "TSG103" in seen
            net.write_text(GOOD)
            assert "TSG103" not in _until(process, "watching")
            net.write_text(f"{BAD}\n")
            assert "TSG103" in _until(process, "watching")
        finally:
            killer.cancel()
            process.kill()


def _until(process: subprocess.Popen[str], word: str) -> str:
    """What a process prints up to a line with a word; time stamps of files tell changes apart from then on."""
    lines = []
    for line in process.stdout:
        lines.append(line)
        if word in line:
            time.sleep(0.1)
            return "".join(lines)
    raise AssertionError(f"it ended: {''.join(lines)}")


def test_watching_changes_nothing(tsguard):
    ran = tsguard("lint", "--watch", "--fix", ".")
    assert ran.status == 2
    assert "--watch only shows findings" in ran.err


class TestCompletion:
    def test_bash_completes_commands_and_options(self, tmp_path):
        binary = tmp_path / "tsguard"
        binary.write_text(f'#!/bin/sh\nexec {sys.executable} -m tsguard "$@"\n')
        binary.chmod(0o755)
        script = (
            "source <(tsguard completion bash)\n"
            'COMP_WORDS=(tsguard lint --stat); COMP_CWORD=2; _tsguard_completion tsguard; echo "${COMPREPLY[@]}"\n'
        )
        environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
        ran = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True)
        assert ran.stdout.split() == ["--statistics"], ran.stderr

    def test_it_is_installed_where_the_shell_looks(self, tsguard, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path))
        assert tsguard("completion", "fish", "--install").status == 0
        assert "complete" in (tmp_path / ".config" / "fish" / "completions" / "tsguard.fish").read_text()

    def test_an_unknown_shell_is_asked_for(self, tsguard, monkeypatch):
        monkeypatch.setenv("SHELL", "/bin/dash")
        assert "name the shell" in tsguard("completion").err


def test_explain_lists_a_family(tsguard):
    ran = tsguard("explain", "TSG0")
    assert [line.split()[0] for line in ran.out.splitlines()] == [c for c in pages() if c.startswith("TSG0")]


class TestSeverity:
    @pytest.mark.parametrize(
        ("table", "status", "severity"),
        [
            ("", 1, "error"),
            ("[severity]\nTSG1 = 'info'\n", 0, "info"),
            ("[severity]\nTSG1 = 'info'\nTSG103 = 'warning'\n", 1, "warning"),
            ("[severity]\nvariable-arguments = 'info'\n", 2, None),
        ],
    )
    def test_the_configuration_grades_rules(self, tsguard, tmp_path, monkeypatch, table, status, severity):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "net.py").write_text(BAD)
        (tmp_path / "tsguard.toml").write_text(table)
        ran = tsguard("lint", "--select", "TSG103", "--no-cache", ".")
        assert ran.status == status
        assert severity is None or f"{severity}[TSG103]" in ran.out


class TestInit:
    @pytest.fixture
    def folder(self, tmp_path, monkeypatch) -> Path:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "net.py").write_text(BAD)
        return tmp_path

    def test_the_folder_is_green_afterwards_and_red_for_what_is_new(self, tsguard, folder):
        assert tsguard("lint", ".").status == 1
        assert tsguard("init").status == 0
        assert tsguard("lint", ".").status == 0
        (folder / "more.py").write_text(BAD)
        assert tsguard("lint", ".").status == 1
        hooks = yaml.safe_load((folder / ".pre-commit-config.yaml").read_text())
        assert [hook["id"] for hook in hooks["repos"][0]["hooks"]] == ["tsguard"]

    def test_what_is_there_is_kept(self, tsguard, folder):
        (folder / "pyproject.toml").write_text("[project]\nname = 'x'\n")
        (folder / ".pre-commit-config.yaml").write_text(
            "repos:\n  - repo: meta\n    hooks: [{ id: identity }]\n"
        )
        assert tsguard("init").status == 0
        assert (folder / "pyproject.toml").read_text().startswith("[project]\nname = 'x'\n\n[tool.tsguard]\n")
        hooks = yaml.safe_load((folder / ".pre-commit-config.yaml").read_text())
        assert len(hooks["repos"]) == 2
        assert "configures tsguard already" in tsguard("init").out

    def test_a_dry_run_writes_nothing(self, tsguard, folder):
        assert "would add" in tsguard("init", "--dry-run").out
        assert sorted(path.name for path in folder.iterdir()) == ["net.py"]


HOOKED = {
    "indented": "repos:\n  - repo: https://x/y\n    rev: v1\n    hooks:\n      - id: a\n",
    "not indented": "repos:\n-   repo: https://x/y\n    rev: v1\n    hooks:\n    -   id: a\n",
    "with a key behind": "repos:\n  - repo: local\n    hooks:\n      - id: a\n\nci:\n  skip: [a]\n",
    "without a last line end": "repos:\n  - repo: local\n    hooks:\n      - id: a",
    "with line ends of another system": "repos:\r\n- repo: local\r\n  hooks:\r\n  - id: a\r\n",
    "with a key before": "ci:\n  skip: [a]\nrepos:\n- repo: local\n  hooks:\n  - id: a\n",
}


@pytest.mark.parametrize("layout", HOOKED)
def test_the_hook_joins_the_others_in_any_layout(tsguard, tmp_path, monkeypatch, layout):
    monkeypatch.chdir(tmp_path)
    hooks = tmp_path / ".pre-commit-config.yaml"
    hooks.write_bytes(HOOKED[layout].encode())
    assert tsguard("init").status == 0
    written = hooks.read_bytes().decode()
    found = yaml.safe_load(written)
    assert [hook["id"] for repo in found["repos"] for hook in repo["hooks"]] == ["a", "tsguard"]
    assert {key: found[key] for key in found if key != "repos"} == {
        key: value for key, value in yaml.safe_load(HOOKED[layout]).items() if key != "repos"
    }
    assert ("\r\n" in written) is ("\r\n" in HOOKED[layout])
    assert not written.replace("\r\n", "").count("\r")


def test_hooks_in_a_layout_of_their_own_are_left(tsguard, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hooks = tmp_path / ".pre-commit-config.yaml"
    hooks.write_text("repos: [{repo: local, hooks: [{id: a}]}]\n")
    assert "add" in tsguard("init").out
    assert hooks.read_text() == "repos: [{repo: local, hooks: [{id: a}]}]\n"


def test_a_baseline_keeps_what_was_not_judged(tsguard, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(BAD)
    update = ("lint", "--isolated", "--baseline", "accepted.json", "--update-baseline")
    tsguard(*update, ".")
    before = (tmp_path / "accepted.json").read_text()
    assert before.count("fingerprint") == 2
    assert tsguard(*update, "typo.py").status == 2
    tsguard(*update, "one.py")
    tsguard(*update, "--select", "TSG3", ".")
    assert (tmp_path / "accepted.json").read_text() == before
    (tmp_path / "one.py").write_text(GOOD)
    tsguard(*update, "one.py")
    assert (tmp_path / "accepted.json").read_text().count("fingerprint") == 1


@pytest.mark.parametrize(
    "content", ["1", '{"version": 1, "findings": [{"path": 1, "code": 2, "fingerprint": 3}]}']
)
def test_a_file_that_is_no_baseline_is_an_error(tsguard, tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text(BAD)
    (tmp_path / "accepted.json").write_text(content)
    ran = tsguard("lint", "--isolated", "--baseline", "accepted.json", ".")
    assert ran.status == 2
    assert "is not one that tsguard wrote" in ran.err


def test_a_pipe_of_another_encoding_loses_no_report(tmp_path):
    (tmp_path / "net.py").write_text(BAD.replace("**more", "**moré"))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ran = subprocess.run(
        [sys.executable, "-m", "tsguard", "lint", "--isolated", "--no-cache", "net.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1
    assert "TSG103" in ran.stdout


def test_stale_entries_of_a_baseline_are_counted(tsguard, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    net = tmp_path / "net.py"
    net.write_text(BAD)
    tsguard("lint", "--baseline", "accepted.json", "--update-baseline", ".")
    ran = tsguard("lint", "--baseline", "accepted.json", ".")
    assert "1 finding accepted by the baseline" in ran.err
    assert "stale" not in ran.err
    net.write_text(GOOD)
    ran = tsguard("lint", "--baseline", "accepted.json", ".")
    assert "1 stale entry in it: --update-baseline removes it" in ran.err
    # What is left out by --select is not gone.
    assert "stale" not in tsguard("lint", "--baseline", "accepted.json", "--select", "TSG3", ".").err


class TestLinks:
    def test_codes_lead_to_their_pages(self, tsguard, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("FORCE_HYPERLINK", "1")
        (tmp_path / "net.py").write_text(BAD)
        page = pages()["TSG103"].absolute().as_uri()
        assert f"\x1b]8;;{page}\x1b\\TSG103\x1b]8;;\x1b\\" in tsguard("lint", "--color", "always", ".").out
        assert "\x1b]8" not in tsguard("lint", "--color", "never", ".").out

    @pytest.mark.parametrize(
        ("environment", "expected"),
        [
            ({"TERM_PROGRAM": "WezTerm"}, True),
            ({"VTE_VERSION": "6003"}, True),
            ({"VTE_VERSION": "4999"}, False),
            ({"TERM": "xterm-256color"}, False),
            ({"TERM_PROGRAM": "WezTerm", "FORCE_HYPERLINK": "0"}, False),
        ],
    )
    def test_terminals_that_show_them_say_so(self, environment, expected):
        master, slave = os.openpty()
        with os.fdopen(slave, "w") as terminal, os.fdopen(master):
            assert takes_links(terminal, environment) is expected

    def test_a_file_takes_none(self, tmp_path):
        with (tmp_path / "out").open("w") as file:
            assert not takes_links(file, {"TERM_PROGRAM": "WezTerm"})


def test_a_configuration_that_is_named_by_a_way_around_serves_its_folder(tsguard, tmp_path, monkeypatch):
    for name in ("p/m.py", "p/skip/s.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(BAD)
    (tmp_path / "p/tsguard.toml").write_text('exclude = ["skip"]\nper-file-ignores = {"m.py" = ["ALL"]}\n')
    (tmp_path / "q").mkdir()
    monkeypatch.chdir(tmp_path / "q")
    ran = tsguard("lint", "--no-cache", "--config", "../p/tsguard.toml", "../p")
    assert (ran.status, "TSG103" in ran.out) == (0, False)
    ran = tsguard("lint", "--config", "../p/tsguard.toml", "--force-exclude", "../p/skip/s.py")
    assert (ran.status, "TSG103" in ran.out) == (0, False)


@pytest.mark.parametrize("option", [("--output-format", "json"), ("--statistics",), ("-o", "out.json")])
def test_repairing_takes_no_options_of_reports(tsguard, tmp_path, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text(BAD)
    ran = tsguard("fix", *option, "net.py")
    assert ran.status == 2
    assert "writes no report" in ran.err


def test_what_the_environment_asks_of_reports_is_not_refused(tsguard, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TSGUARD_OUTPUT_FORMAT", "sarif")
    (tmp_path / "net.py").write_text(BAD)
    assert "net.py:Net  blocked" in tsguard("migrate", "net.py").out
    assert "is not for it" not in tsguard("fix", "net.txt").err
    assert tsguard("migrate", "--output-format", "sarif", "net.py").status == 2
    assert "is not for it" in tsguard("fix", "--output-format", "sarif", "net.py").err


def test_repairing_says_that_notebooks_are_left(tsguard, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    ran = tsguard("fix", "net.ipynb")
    assert ran.status == 2
    assert "notebooks are left as they are" in ran.err


@pytest.mark.parametrize(
    ("form", "variable"),
    [("github", "GITHUB_WORKSPACE"), ("sarif", "GITHUB_WORKSPACE"), ("gitlab", "CI_PROJECT_DIR")],
)
def test_paths_count_from_the_root_that_a_job_names(tsguard, tmp_path, monkeypatch, form, variable):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/net.py").write_text(BAD)
    monkeypatch.chdir(tmp_path / "sub")
    monkeypatch.delenv(variable, raising=False)
    command = ("lint", "--isolated", "--no-cache", "--output-format", form, "net.py")
    assert "sub/net.py" not in tsguard(*command).out
    monkeypatch.setenv(variable, str(tmp_path))
    assert "sub/net.py" in tsguard(*command).out
    monkeypatch.setenv(variable, str(tmp_path / "elsewhere"))
    assert "sub/net.py" not in tsguard(*command).out
