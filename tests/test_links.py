"""The project has one address: what writes it down by hand agrees with tsguard/rules/links.py."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tsguard import __version__
from tsguard.rules.links import REPOSITORY, SITE

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
# What may name the project: its addresses, or OWNER/NAME@VERSION as the workflows of GitHub do.
OURS = re.compile(r"https?://[\w.-]+/?[\w./-]*tsguard[\w./-]*|[\w-]+/tsguard(?=@v)")
WRITTEN = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "action.yml",
    *sorted((ROOT / "docs").rglob("*.md")),
]
OWNER_AND_NAME = REPOSITORY.partition("github.com/")[2]


def addresses(text: str) -> list[str]:
    return [address.rstrip(".") for address in OURS.findall(text)]


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_people_copy_names_the_address(path):
    found = addresses(path.read_text(encoding="utf-8"))
    assert [
        each for each in found if each != OWNER_AND_NAME and not each.startswith((REPOSITORY, SITE))
    ] == []


def test_the_recipes_name_it_at_all():
    recipes = (ROOT / "docs" / "how-to" / "ci.md").read_text(encoding="utf-8")
    assert f"uses: {OWNER_AND_NAME}@v{__version__}" in recipes
    assert f"repo: {REPOSITORY}\n    rev: v{__version__}" in recipes
    assert f"repo: {REPOSITORY}\n    rev: v{__version__}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_package_index_is_told_it():
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    assert urls["Documentation"] == SITE
    assert {
        name: url for name, url in urls.items() if name != "Documentation" and not url.startswith(REPOSITORY)
    } == {}


def test_the_extension_is_told_it():
    manifest = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))
    assert manifest["repository"]["url"] == f"{REPOSITORY}.git"
