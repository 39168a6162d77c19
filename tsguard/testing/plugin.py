"""The fixture ``tsguard``, the mark of the same name, and ``pytest --tsguard``.

pytest loads this in every run of an environment that has tsguard: what it needs is imported when
it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

if TYPE_CHECKING:
    from tsguard.report import Report

_PREFIX = "tsguard::"
_NAMED = pytest.StashKey[list[str]]()
_WANTED = pytest.StashKey[bool]()


class Guard:
    """What the fixture ``tsguard`` is: ``check`` and ``lint``, which fail the test where they find something.

    Args:
        options: keyword arguments for ``tsguard.check``, from the marks of the test.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options

    def check(
        self,
        target: str | PathLike[str] | Callable[..., Any],
        inputs: Sequence[Any] | None = None,
        **options: Any,
    ) -> Report:
        """Assert that a target scripts, or does what ``require`` says, and equals eager.

        Takes what ``tsguard.check`` takes; ``require`` is "script" unless it is given.
        """
        import tsguard

        __tracebackhide__ = True
        chosen = {"require": "script", **self._options, **options}
        report = tsguard.check(target, inputs, **chosen)
        # Whoever traces need not script.
        _assert_clean(report, ("script",) if chosen["require"] == "trace" else ())
        return report

    def lint(self, paths: Iterable[str | PathLike[str]] | str | PathLike[str], **options: Any) -> Report:
        """Assert that nothing at or above a warning is found in files; takes what ``tsguard.lint`` takes."""
        import tsguard

        __tracebackhide__ = True
        report = tsguard.lint(paths, **options)
        _assert_clean(report)
        return report


@pytest.fixture(name="tsguard")
def _tsguard(request: pytest.FixtureRequest) -> Guard:
    """Check and lint models; ``@pytest.mark.tsguard(require="trace")`` sets options for a test."""
    options: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers("tsguard"))):
        options.update(mark.kwargs)
    return Guard(options)


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--tsguard``."""
    group = parser.getgroup("tsguard")
    group.addoption(
        "--tsguard", action="store_true", help="Check the targets in [tool.tsguard.targets], a test each."
    )


def pytest_configure(config: pytest.Config) -> None:
    """The mark."""
    config.addinivalue_line(
        "markers", "tsguard(require, min_speedup, ...): options of tsguard.check for the fixture tsguard"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Take the names of targets out of the arguments, of which pytest would look for files."""
    config = session.config
    if config.getoption("--tsguard"):
        config.stash[_NAMED] = [
            each.removeprefix(_PREFIX) for each in config.args if each.startswith(_PREFIX)
        ]
        config.stash[_WANTED] = bool(config.stash[_NAMED]) or not all("::" in each for each in config.args)
        config.args = [each for each in config.args if not each.startswith(_PREFIX)]


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add a test for each configured target, unless the command line names other tests only."""
    if config.getoption("--tsguard") and config.stash[_WANTED]:
        targets = ConfiguredTargets.from_parent(session, name="tsguard", nodeid="tsguard")
        targets.names = _chosen(config)
        items.extend(session.genitems(targets))


def _chosen(config: pytest.Config) -> Iterable[str]:
    """The targets of the configuration, or those of them that the command line names."""
    from tsguard.settings.config import ConfigError, find, load

    try:
        targets = load(find([config.rootpath])).targets
    except ConfigError as error:
        raise pytest.UsageError(str(error)) from None
    named = config.stash[_NAMED]
    if unknown := [name for name in named if name not in targets]:
        raise pytest.UsageError(f"no such target in [tool.tsguard.targets]: {', '.join(unknown)}")
    return named or targets


class ConfiguredTargets(pytest.Collector):
    """The targets that are tests of this run."""

    names: Iterable[str] = ()

    def collect(self) -> Iterator[ConfiguredTarget]:
        for name in self.names:
            yield ConfiguredTarget.from_parent(self, name=name)


class ConfiguredTarget(pytest.Item):
    """One target of the configuration, checked as the configuration says."""

    # Plugins look here for the fixtures of a test, of which this has none.
    funcargs: ClassVar[dict[str, Any]] = {}

    def runtest(self) -> None:
        import os
        from dataclasses import replace

        from tsguard.checking.run import run
        from tsguard.runtime.assigning import configured
        from tsguard.runtime.options import CheckOptions
        from tsguard.settings.config import find, load

        os.chdir(self.config.invocation_params.dir)
        settings = load(find([self.config.rootpath]))
        own = settings.targets[self.name]
        settings = replace(settings, targets={self.name: own})
        options = CheckOptions(time_budget=CheckOptions().time_budget if own.min_speedup else 0.0)
        report, _ = run(configured([], settings), settings, options)
        _assert_clean(report)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, pytest.fail.Exception):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[str, None, str]:
        return "tsguard", None, self.name


def _assert_clean(report: Report, families: Sequence[str] = ()) -> None:
    """Fail with the findings, in the words of the report; those of some ``families`` do not count."""
    from tsguard.formats import View, render

    __tracebackhide__ = True
    grave = [f for f in report.findings if f.severity != "info" and f.family not in families]
    if report.errors or grave:
        from dataclasses import replace

        told = render(replace(report, findings=tuple(grave)), "text", View())
        errors = "".join(f"error: {error.message}\n" for error in report.errors)
        # The first line is what pytest's summary shows.
        codes = ", ".join(dict.fromkeys(finding.code for finding in grave)) or "an error"
        pytest.fail(f"tsguard found {codes}\n\n{told}{errors}".rstrip(), pytrace=False)
