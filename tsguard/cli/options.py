"""Options that commands have in common, and the settings that they come to."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from tsguard.report import SEVERITIES, Purpose, Severity
from tsguard.report.records import dataclass
from tsguard.settings.config import FORMATS, ConfigError, Settings, find, load
from tsguard.settings.dynamic import OpenSizes, open_sizes
from tsguard.settings.selection import Layer, UnknownSelector, selector

Command = Callable[..., int]
Decorator = Callable[[Command], Command]


class Unusable(click.ClickException):
    """What was asked for cannot be done: one message, exit status 2."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Options:
    """The common options as given; None, () and False where they are not."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    output_format: str | None = None
    output: Path | None = None
    config: Path | None = None
    isolated: bool = False
    exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    jobs: int | None = None
    no_cache: bool = False
    statistics: bool = False
    quiet: bool = False
    verbose: bool = False
    color: str = "auto"
    exit_zero: bool = False
    fail_level: Severity | None = None
    only_failing: bool = False
    require_known: bool = False
    baseline: Path | None = None
    update_baseline: bool = False
    torch_version: str | None = None
    purpose: Purpose = "trace"
    dynamic: tuple[OpenSizes, ...] = ()

    def settings(self, paths: Sequence[Path]) -> Settings:
        """The configuration that serves these paths, overruled by the options.

        Raises:
            Unusable: the configuration cannot be used.
        """
        if self.isolated and self.config is not None:
            raise click.UsageError(
                "--isolated ignores all configuration files: it cannot be combined with --config"
            )
        if self.quiet and self.verbose:
            raise click.UsageError("--quiet cannot be combined with --verbose")
        try:
            file = None if self.isolated else self.config or find(paths)
            settings = load(file)
        except ConfigError as error:
            raise Unusable(str(error)) from None
        layer = Layer(self.select, self.extend_select or (), self.ignore or ())
        return replace(
            settings,
            selection=settings.selection.then(layer),
            extend_exclude=(*settings.extend_exclude, *self.exclude),
            force_exclude=self.force_exclude or settings.force_exclude,
            jobs=settings.jobs if self.jobs is None else self.jobs,
            cache=settings.cache and not self.no_cache,
            output_format=self.output_format or settings.output_format,
            fail_level=self.fail_level or settings.fail_level,
            require_known=self.require_known or settings.require_known,
            baseline=self.baseline or settings.baseline,
            torch_version=self.torch_version or settings.torch_version,
            purpose=self.purpose,
            dynamic=self.dynamic or settings.dynamic,
            demanded=self.dynamic,
        )


def takes(kind: type[Any], parameter: str, options: Sequence[Decorator]) -> Decorator:
    """Give a command options that it takes together, as one parameter of a dataclass whose fields they are.

    An option that is not given leaves the field its default; a field ``given`` gets the names of the others.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_options(**given: Any) -> int:
            values = {field.name: given.pop(field.name, None) for field in fields(kind)}
            absent = {
                f.name for f in fields(kind) if f.default is not MISSING and values[f.name] in (None, ())
            }
            chosen = {name: value for name, value in values.items() if name not in absent}
            if "given" in values:
                chosen["given"] = frozenset(chosen)
            together = kind(**chosen)
            return command(**{parameter: together}, **given)

        decorated: Command = with_options
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


def is_typed(option: str) -> bool:
    """Whether an option stands on the command line: not a default, nor set by the environment."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE


def _selectors(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...] | None:
    try:
        return tuple(selector(part) for value in values for part in value.split(",") if part) or None
    except UnknownSelector as error:
        raise click.BadParameter(str(error)) from None


def _open_sizes(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> tuple[OpenSizes, ...]:
    try:
        return tuple(map(open_sizes, values))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _writable(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    """A file to write to, whose folder is there before anything is done that could not be kept."""
    if value is not None and not value.parent.is_dir():
        raise click.BadParameter(f"{value} cannot be written: there is no folder {str(value.parent)!r}")
    return value


_CODES: dict[str, Any] = {"multiple": True, "metavar": "CODES", "callback": _selectors}
_FILE: Any = click.Path(path_type=Path, dir_okay=False)
# What every command that writes a report takes.
_REPORT: tuple[Decorator, ...] = (
    click.option(
        "--output-format",
        type=click.Choice(FORMATS),
        envvar="TSGUARD_OUTPUT_FORMAT",
        help="The format of the report.  [default: text]",
    ),
    click.option("-o", "--output", type=_FILE, callback=_writable, help="Write the report to a file."),
    click.option("--config", type=_FILE, help="The configuration file: a pyproject.toml or tsguard.toml."),
    click.option("--isolated", is_flag=True, help="Ignore all configuration files."),
    click.option("-q", "--quiet", is_flag=True, help="Print findings and errors only."),
    click.option(
        "-v", "--verbose", is_flag=True, help="Print all targets and findings, and why a verdict is unknown."
    ),
    click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        help="When to color the output.  [default: auto, which respects NO_COLOR and FORCE_COLOR]",
    ),
    click.option("--exit-zero", is_flag=True, help="Exit with status 0 even if there are findings."),
)
# What commands that judge code take besides.
_RULES: tuple[Decorator, ...] = (
    click.option("--select", help="Report only these rules: codes, code prefixes, names or ALL.", **_CODES),
    click.option("--extend-select", help="Report these rules in addition to the selected ones.", **_CODES),
    click.option("--ignore", help="Do not report these rules.", **_CODES),
)
_FILES: tuple[Decorator, ...] = (
    click.option(
        "--exclude",
        multiple=True,
        metavar="PATTERN",
        help="Exclude files that match this pattern, as in .gitignore.",
    ),
    click.option(
        "--force-exclude", is_flag=True, help="Apply exclusions to files named on the command line too."
    ),
    click.option(
        "-j", "--jobs", type=click.IntRange(0), help="The number of processes.  [default: one per core]"
    ),
    click.option("--no-cache", is_flag=True, help="Do not read or write the cache."),
    click.option(
        "--for",
        "purpose",
        type=click.Choice(["trace", "export"]),
        default="trace",
        help="Whether the trace verdict is about torch.jit.trace alone or about torch.export too.  [default: trace]",
    ),
    click.option(
        "--dynamic",
        multiple=True,
        metavar="'INPUT: {DIM: NAME}'",
        callback=_open_sizes,
        help="The dynamic dimensions for torch.export: 'x: {0: batch, 1: auto}'.  [default: the first of each tensor]",
    ),
    click.option(
        "--torch-version",
        metavar="VERSION[,VERSION]",
        help="The torch releases to check against.  [default: the installed one]",
    ),
    click.option(
        "--fail-level",
        type=click.Choice(SEVERITIES),
        help="The lowest severity that makes the exit status 1.  [default: warning]",
    ),
    click.option("--only-failing", is_flag=True, help="Do not list findings below the fail level."),
    click.option("--require-known", is_flag=True, help="Exit with status 1 if a verdict is unknown."),
    click.option("--baseline", type=_FILE, help="Report only findings that are not in this file."),
    click.option(
        "--update-baseline", is_flag=True, help="Accept the current findings: write them to the baseline."
    ),
    click.option("--statistics", is_flag=True, help="Print the number of findings of each rule."),
)

input_option: Decorator = click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="EXPR",
    help="An example input: 'torch.randn(1, 3, 64, 64)' or 'mask=None'.",
)
python_option: Decorator = click.option(
    "--python",
    type=click.Path(exists=True, path_type=Path),
    metavar="PATH",
    help="The Python interpreter, or the environment, that has torch.",
)

common_options = takes(Options, "options", (*_RULES, *_REPORT, *_FILES))
report_options = takes(Options, "options", _REPORT)
