"""``tsguard init``: a first configuration and a hook, made for what is in the folder."""

from __future__ import annotations

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
    for file, text in ((_configured(), table), (_HOOKS, _hooks())):
        _add(file, text, dry_run)
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


def _hooks() -> str:
    """The hook, with the head of the file where there is none."""
    if not _HOOKS.is_file():
        return f"repos:\n{_HOOK}"
    return "" if "id: tsguard" in _HOOKS.read_text(encoding="utf-8") else _HOOK


def _add(file: Path, text: str, dry_run: bool) -> None:
    if not text:
        return
    before = file.read_text(encoding="utf-8") if file.is_file() else ""
    gap = "" if not before else "\n" * (2 - before.endswith("\n")) if file.suffix == ".toml" else ""
    if not dry_run:
        file.write_text(f"{before}{gap}{text}", encoding="utf-8")
    click.echo(f"{file}: {'would add' if dry_run else 'added'}\n{_indented(text)}")


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines()).rstrip("\n")
