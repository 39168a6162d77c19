"""The README tells what is so: its configuration loads, its options exist, its captures are of this code."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import click
import pytest

from tsguard.cli import group
from tsguard.settings.config import load

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PLACE = re.compile(r"(?:error|warning|info)\[(TSG\d{3,4})\].*\n +--> (\S+:\d+):\d+")


def test_the_configuration_loads(tmp_path):
    (table,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    file = tmp_path / "pyproject.toml"
    file.write_text(table, encoding="utf-8")
    settings = load(file)
    assert list(settings.targets) == ["model.py:Net(64)"]
    assert settings.per_file_ignores


def test_the_options_exist():
    commands = {name: group.get_command(click.Context(group), name) for name in ("lint", "check", "loader")}
    named = re.findall(r"tsguard (lint|check|loader)([^`\n]*)", TEXT)
    assert named
    for name, rest in named:
        known = {option for parameter in commands[name].params for option in parameter.opts}
        assert set(re.findall(r"(?<!\S)--[a-z-]+", rest)) <= known, f"tsguard {name}{rest}"


@pytest.mark.parametrize("target", re.findall(r"\]\((?!http)([^)]+)\)", TEXT))
def test_what_it_links_to_exists(target):
    assert (ROOT / target).exists()


def test_the_findings_that_it_shows_are_found(monkeypatch):
    spec = importlib.util.spec_from_file_location("captures", ROOT / "tools" / "captures.py")
    captures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(captures)
    shown = {capture["name"]: capture for capture in captures.CAPTURED.finditer(TEXT)}
    assert set(shown) == {"LINT", "DEMO"}
    lint = shown["LINT"]
    assert PLACE.findall(lint["printed"])
    now = PLACE.findall(captures.printed(lint["command"]))
    assert now == PLACE.findall(lint["printed"]), "run python tools/captures.py LINT"
