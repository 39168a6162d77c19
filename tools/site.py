"""The documentation site's own steps, called by mkdocs: generated reference pages, captures made anew.

A block that begins with ```` ```console run ```` holds commands; what they print is put below each when
the site is built, so that no page shows what the tool does not say.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import tsguard
from tsguard.cli import group
from tsguard.rules import FAMILIES, Rule, all_rules, covers, split_page
from tsguard.rules.links import REPOSITORY, SITE
from tsguard.settings import config as settings
from tsguard.settings.config import Settings, TargetSettings

ROOT = Path(__file__).parent.parent
RUN = re.compile(r"^```console run\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Say where the site and its sources are."""
    config.site_url = SITE
    config.repo_url = REPOSITORY
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from the code."""
    pages = {
        "reference/rules/index.md": "\n".join(_rules()),
        **{f"reference/rules/{rule.page.stem}.md": _rule(rule) for rule in all_rules()},
        "reference/cli.md": "\n".join(_commands()),
        "reference/configuration.md": "\n".join(_configuration()),
        "reference/python.md": "\n".join(_python()),
        "reference/json.md": "\n".join(_json()),
    }
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Run the commands that a page shows."""
    # On the shelf, a page links to its neighbours in the repository; on the site these lie elsewhere.
    markdown = markdown.replace("](../rules/", "](reference/rules/")
    markdown = markdown.replace("[fixtures](../fixtures)", "`fixtures/`")
    return RUN.sub(lambda block: f"```console\n{_ran(block[1])}```", markdown)


def _ran(commands: str) -> str:
    from_readme = _captures()
    shown = ""
    for line in commands.splitlines():
        command = line.removeprefix("$ ")
        shown += f"$ {command}\n{from_readme.printed(command)}"
    return shown


def _captures() -> Any:
    spec = importlib.util.spec_from_file_location("captures", ROOT / "tools" / "captures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _rules() -> Iterator[str]:
    yield "# Rules\n\nEach page is executed by the tests: its *Bad* is refused by torch, its *Good* is not.\n"
    for prefix, name in FAMILIES.items():
        listed = [rule for rule in all_rules() if covers(prefix, rule.code)]
        if listed:
            yield f"\n## {name.capitalize()}\n\n| rule | severity | fix | |\n| --- | --- | --- | --- |"
        for rule in listed:
            link = f"[{rule.code} {rule.name}]({rule.page.stem}.md)"
            yield f"| {link} | {rule.severity} | {rule.fix} | {_cell(rule.summary)} |"


def _rule(rule: Rule) -> str:
    _, body = split_page(rule.page.read_text(encoding="utf-8"))
    facts = f"*{rule.family} · {rule.severity} · fix: {rule.fix} · torch {rule.torch}*"
    # The releases that an example is about are what its fence says after the language.
    titled = re.sub(r"^(```\w+) (torch)(\S+)$", r'\1 title="\2 \3"', body.strip(), flags=re.MULTILINE)
    return f"# {rule.code} {rule.name}\n\n{facts}\n\n{titled}\n"


def _commands() -> Iterator[str]:
    yield "# Command line\n"
    context = click.Context(group, info_name="tsguard")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=f"tsguard {name}")
        yield f"\n## tsguard {name}\n\n```text\n{command.get_help(inner)}\n```"
    yield "\n## Exit status\n\n0: nothing at or above the fail level. 1: findings, or an unmet requirement."
    yield " 2: something could not be done."


def _configuration() -> Iterator[str]:
    yield "# Configuration\n\n`[tool.tsguard]` in `pyproject.toml`, or the same keys in `tsguard.toml`.\n"
    yield "| key | type | default |\n| --- | --- | --- |"
    yield from _keys(settings._KEYS, Settings)
    yield '\n## `[tool.tsguard.targets."FILE:Name(...)"]`\n\n| key | type | default |\n| --- | --- | --- |'
    yield from _keys(settings._TARGET_KEYS, TargetSettings)
    yield f"\n{_paragraphs(Settings)}\n\n{_paragraphs(TargetSettings)}"


def _keys(keys: Any, kind: Any) -> Iterator[str]:
    fields = {field.name.replace("_", "-"): field for field in dataclasses.fields(kind)}
    for key in sorted(keys):
        field = fields.get(key)
        told = "tuple[str, ...]" if field is None else str(field.type)
        default = "" if field is None or field.default is dataclasses.MISSING else f"`{field.default!r}`"
        yield f"| `{key}` | `{_cell(told)}` | {default} |"


def _python() -> Iterator[str]:
    yield "# Python\n\n`import tsguard`: what is listed here is public, see [the promises](policies.md).\n"
    for name in sorted(tsguard.__all__):
        thing = getattr(tsguard, name)
        signature = f"{inspect.signature(thing)}" if inspect.isfunction(thing) else ""
        yield f"\n## tsguard.{name}\n\n```python\n{name}{signature}\n```\n\n```text\n{inspect.getdoc(thing)}\n```"


def _json() -> Iterator[str]:
    schema = json.loads((ROOT / "tsguard" / "formats" / "report.schema.json").read_text(encoding="utf-8"))
    yield "# JSON report\n\n`tsguard lint --output-format json`; `schema_version` is 1. Fields may be added,"
    yield "never renamed or removed.\n"
    for name, about in [("report", schema), *schema["$defs"].items()]:
        yield f"\n## {name}\n\n{about.get('description', '')}\n\n| field | |\n| --- | --- |"
        for field, value in about.get("properties", {}).items():
            yield f"| `{field}` | {_cell(_type(value))} |"


def _type(value: dict[str, Any]) -> str:
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in value:
        return " or ".join(map(_type, value["anyOf"]))
    if value.get("type") == "array":
        return f"list of {_type(value['items'])}"
    if "enum" in value:
        return ", ".join(f"`{each}`" for each in value["enum"])
    return str(value.get("type", value.get("const", "")))


def _paragraphs(kind: Any) -> str:
    return inspect.cleandoc(kind.__doc__).replace("``", "`")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
