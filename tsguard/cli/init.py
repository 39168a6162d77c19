"""``tsguard init``: a first configuration and a hook, made for what is in the folder."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from tsguard.cli.output import count
from tsguard.report import Report, TargetReport
from tsguard.rules.links import REPOSITORY
from tsguard.settings.config import ConfigError, find, load
from tsguard.version import __version__

_HOOKS = Path(".pre-commit-config.yaml")
_HOOK = f"""\
  - repo: {REPOSITORY}
    rev: v{__version__}
    hooks:
      - id: tsguard
"""
_BASELINE = Path("tsguard-baseline.json")


@click.command("init", short_help="Write an initial configuration and a pre-commit hook.")
@click.option("--dry-run", is_flag=True, help="Show what would be written without writing it.")
def command(dry_run: bool) -> int:
    """Lint the folder, and write a configuration and a pre-commit hook for it.

    The current findings are accepted by a baseline, so that only new ones fail.  Existing files are only
    appended to.
    """
    try:
        known = find([Path.cwd()])
    except ConfigError as error:
        raise click.ClickException(str(error)) from None
    if known is not None and known.parent == Path.cwd():
        click.echo(f"{known.name} configures tsguard already")
        return 0
    report, write_baseline = _linted()
    errors = [finding for finding in report.findings if finding.severity != "info"]
    click.echo(
        f"{count(report.files, 'file')}, {count(len(report.targets), 'target')},"
        f" {count(len(errors), 'error or warning', 'errors and warnings')}"
    )
    table = _configuration(report.targets, bool(errors))
    _add_table(_configured(), table, dry_run)
    _add_hook(dry_run)
    if errors:
        click.echo(f"{_BASELINE}: {'would accept' if dry_run else 'accepts'} what is found today")
        if not dry_run:
            write_baseline()
    click.echo("next: `tsguard lint .`, and `pre-commit install` for the hook")
    return 0


def _linted() -> tuple[Report, Callable[[], None]]:
    """The report on the folder, and what makes the baseline of it."""
    from tsguard.linting.baseline import Baseline
    from tsguard.linting.run import lint
    from tsguard.settings.requests import parse, plan

    settings = load(None)
    report, sources = lint(plan([parse(".", settings)], settings), settings)
    baseline = Baseline(_BASELINE.absolute())
    return report, lambda: baseline.adding(report.findings, report.findings, sources).save()


def _configured() -> Path:
    """The file that takes the configuration: ``pyproject.toml`` where there is one."""
    shared = Path("pyproject.toml")
    return shared if shared.is_file() else Path("tsguard.toml")


def _configuration(targets: Sequence[TargetReport], has_findings: bool) -> str:
    lines = [f'baseline = "{_BASELINE}"'] if has_findings else []
    modules = [target for target in targets if target.kind == "module"]
    ready = [t for t in modules if t.script.verdict == "ok"] or modules
    if ready:
        lines += [
            "",
            "# What `tsguard check .` scripts and traces for real: name the constructor's arguments.",
            f'# [{{prefix}}targets."{ready[0].target}(...)"]',
            '# inputs = ["torch.randn(1, 3, 224, 224)"]',
            '# require = "script"',
        ]
    prefix = "tool.tsguard." if _configured().name == "pyproject.toml" else ""
    head = "[tool.tsguard]\n" if prefix else ""
    return head + "\n".join(lines).replace("{prefix}", prefix).strip("\n") + "\n"


_REPOS = re.compile(r"repos:\s*(#.*)?$")
_OTHER_KEY = re.compile(r"[^\s#-]")
_ITEM = re.compile(r"(?P<indent> *)-\s")


def _with_hook(before: str) -> str | None:
    """A list of hooks with ours at its end; None where the file is written in another way than as a block."""
    if not before.strip():
        return f"repos:\n{_HOOK}"
    lines = before.splitlines()
    start = next((n for n, line in enumerate(lines) if _REPOS.match(line)), None)
    if start is None:
        return None
    end = next((n for n in range(start + 1, len(lines)) if _OTHER_KEY.match(lines[n])), len(lines))
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    items = [found["indent"] for line in lines[start + 1 : end] if (found := _ITEM.match(line))]
    hook = textwrap.indent(textwrap.dedent(_HOOK), items[0] if items else "  ").splitlines()
    return "\n".join([*lines[:end], *hook, *lines[end:]]) + "\n"


def _add_hook(dry_run: bool) -> None:
    before, end = _read(_HOOKS)
    if "id: tsguard" in before:
        return
    text = _with_hook(before)
    if text is None:
        click.echo(f"{_HOOKS}: no list of repos was found in it; add\n{_indented(_HOOK)}")
    else:
        _write(_HOOKS, text, end, _HOOK, dry_run)


def _add_table(file: Path, text: str, dry_run: bool) -> None:
    before, end = _read(file)
    gap = "\n" * (2 - before.endswith("\n")) if before else ""
    _write(file, f"{before}{gap}{text}", end, text, dry_run)


def _read(file: Path) -> tuple[str, str]:
    """What a file holds, and how its lines end."""
    text = file.read_bytes().decode("utf-8") if file.is_file() else ""
    end = "\r\n" if "\r\n" in text else "\n"
    return text.replace("\r\n", "\n"), end


def _write(file: Path, text: str, end: str, added: str, dry_run: bool) -> None:
    if not dry_run:
        file.write_bytes(text.replace("\n", end).encode("utf-8"))
    click.echo(f"{file}: {'would add' if dry_run else 'added'}\n{_indented(added)}")


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines()).rstrip("\n")
