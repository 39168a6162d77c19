"""Settings: ``[tool.tsguard]`` of the nearest ``pyproject.toml``, or ``tsguard.toml``.

Relative paths and patterns in a configuration file start from its folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, cast

from tsguard.report import SEVERITIES, Purpose, Severity
from tsguard.report.likely import nearest
from tsguard.report.records import dataclass
from tsguard.settings.dynamic import OpenSizes, open_sizes
from tsguard.settings.selection import Layer, Selection, UnknownSelector, selector

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit", "html")


class ConfigError(Exception):
    """A configuration cannot be used; the message says where, why and what to write."""


@dataclass(frozen=True, slots=True)
class TargetSettings:
    """What the configuration says of one target that ``check`` attempts.

    Each field stands for the command line option of its name, which goes before it; None and () leave it to
    that and to its default.  ``constructor`` is an expression that makes the module instead of what the
    target says; no configuration file has it.
    """

    inputs: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    backends: tuple[str, ...] = ()
    require: str | None = None
    min_speedup: float | None = None
    constructor: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that a run may be told, with the defaults of a run told nothing.

    ``severity`` replaces those of rules, by selector;
    ``root`` is the project's folder; ``file`` the configuration read, None without one;
    ``exclude`` None stands for the default exclusions; ``jobs`` 0 for as many as
    there are cores; ``purpose`` "export" judges traces for torch.export's sake, with the sizes
    ``dynamic`` left open, of which inputs those ``demanded`` are of, some target has to have.  What torch.export makes of the code is not asked where nothing ``tells_export``:
    no format but JSON does in a report on traces.
    """

    root: Path = field(default_factory=Path.cwd)
    file: Path | None = None
    selection: Selection = field(default_factory=Selection)
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    search_paths: tuple[Path, ...] = ()
    python: Path | None = None
    torch_version: str | None = None
    output_format: str | None = None
    fail_level: Severity = "warning"
    severity: tuple[tuple[str, Severity], ...] = ()
    require_known: bool = False
    targets: Mapping[str, TargetSettings] = field(default_factory=dict)
    baseline: Path | None = None
    jobs: int = 0
    cache: bool = True
    purpose: Purpose = "trace"
    dynamic: tuple[OpenSizes, ...] = ()
    demanded: tuple[OpenSizes, ...] = ()
    tells_export: bool = True

    @property
    def left_open(self) -> tuple[OpenSizes, ...] | None:
        """The sizes that torch.export is to leave open, () for the first of each tensor; None where it is not asked."""
        return self.dynamic if self.tells_export or self.purpose != "trace" else None

    @property
    def import_folders(self) -> tuple[Path, ...]:
        """Where the project's own modules are imported from, beside the folder of the file that imports them."""
        return tuple(dict.fromkeys((*self.search_paths, self.root, self.root / "src")))


def find(paths: Sequence[Path]) -> Path | None:
    """The configuration file nearest to what all the paths have in common.

    Raises:
        ConfigError: a ``pyproject.toml`` on the way cannot be parsed.
    """
    starts = [path if os.path.isdir(path) else path.parent for path in map(Path.absolute, paths)] or [
        Path.cwd()
    ]
    try:
        common = Path(os.path.commonpath([os.path.normpath(start) for start in starts]))
    except ValueError:  # on different drives
        return None
    for folder in (common, *common.parents):
        own = folder / "tsguard.toml"
        if os.path.isfile(own):
            return own
        shared = folder / "pyproject.toml"
        if os.path.isfile(shared) and b"tsguard" in _bytes(shared) and _table(shared) is not None:
            return shared
    return None


def passed_over(files: Iterable[Path], used: Path | None) -> tuple[Path, ...]:
    """The configurations that are nearer to some of these files than the one that a run of all of them uses.

    Raises:
        ConfigError: one of them cannot be parsed.
    """
    folders = dict.fromkeys(file.parent for file in files)
    nearest = dict.fromkeys(find([folder]) for folder in folders)
    return tuple(file for file in nearest if file is not None and file != used)


def load(file: Path | None) -> Settings:
    """The settings that a configuration file gives; the defaults for None.

    Raises:
        ConfigError: the file cannot be read or parsed, or holds an unknown key or a
            value of the wrong type.
    """
    if file is None:
        return Settings()
    table = _table(file)
    if table is None:
        raise ConfigError(f"{file} has no [tool.tsguard] table")
    shared = file.name == "pyproject.toml"
    place = f"{file}: {'[tool.tsguard] ' if shared else ''}"
    _reject_unknown(table, _KEYS, place)
    root = Path(os.path.abspath(file)).parent  # without "..", which no file below it has
    read = {key: _KEYS[key](value, f"{place}{key}", root) for key, value in table.items()}
    layer = Layer(read.pop("select", None), read.pop("extend-select", ()), read.pop("ignore", ()))
    named = {key.replace("-", "_"): value for key, value in read.items()}
    return Settings(root=root, file=file, selection=Selection((layer,)), **named)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from error


def _table(file: Path) -> dict[str, Any] | None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        document: Any = tomllib.loads(_bytes(file).decode())
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not valid TOML: it is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not valid TOML: {error}") from error
    if file.name != "pyproject.toml":
        return cast("dict[str, Any]", document)
    tools = document.get("tool")
    table = tools.get("tsguard") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{file}: tool.tsguard must be a table, not {_kind(table)}")
    return table


def _reject_unknown(table: dict[str, Any], known: Mapping[str, object], place: str) -> None:
    for key in table:
        if key not in known:
            near = nearest(key.replace("_", "-"), known)
            hint = f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(sorted(known))}"
            raise ConfigError(f"{place}there is no key {key!r}; {hint}")


def _kind(value: Any) -> str:
    kinds = {str: "a string", bool: "a boolean", int: "a number", float: "a number", list: "a list"}
    return kinds.get(type(value), "a table" if isinstance(value, dict) else "a date or time")


def _expected(what: str, place: str, value: Any) -> ConfigError:
    return ConfigError(f"{place} must be {what}, not {_kind(value)}")


# A reader checks one key's value: it takes the value, its place in words, and the
# folder that relative paths start from.
_Reader = Callable[[Any, str, Path], Any]


def _string(value: Any, place: str, root: Path) -> str:
    if not isinstance(value, str):
        raise _expected("a string", place, value)
    return value


def _strings(value: Any, place: str, root: Path) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _expected("a list of strings", place, value)
    return tuple(_string(item, f"{place}: each item", root) for item in value)


def _boolean(value: Any, place: str, root: Path) -> bool:
    if not isinstance(value, bool):
        raise _expected("true or false", place, value)
    return value


def _count(value: Any, place: str, root: Path) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _expected("a whole number", place, value)
    if value < 0:
        raise ConfigError(f"{place} must not be negative")
    return value


def _ratio(value: Any, place: str, root: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _expected("a number", place, value)
    return float(value)


def _path(value: Any, place: str, root: Path) -> Path:
    return root / os.path.expanduser(_string(value, place, root))


def _paths(value: Any, place: str, root: Path) -> tuple[Path, ...]:
    return tuple(_path(item, place, root) for item in _strings(value, place, root))


def _selectors(value: Any, place: str, root: Path) -> tuple[str, ...]:
    try:
        return tuple(selector(item) for item in _strings(value, place, root))
    except UnknownSelector as error:
        raise ConfigError(f"{place}: {error}") from None


def _one_of(choices: Sequence[str]) -> _Reader:
    def read(value: Any, place: str, root: Path) -> str:
        if _string(value, place, root) not in choices:
            raise ConfigError(f"{place} must be one of {', '.join(choices)}, not {value!r}")
        return str(value)

    return read


def _open_sizes(value: Any, place: str, root: Path) -> tuple[OpenSizes, ...]:
    try:
        return tuple(map(open_sizes, _strings(value, place, root)))
    except ValueError as error:
        raise ConfigError(f"{place}: {error}") from None


def _severities(value: Any, place: str, root: Path) -> tuple[tuple[str, Severity], ...]:
    if not isinstance(value, dict):
        raise _expected("a table of codes and severities", place, value)
    read = _one_of(SEVERITIES)
    return tuple(
        (_selectors([code], place, root)[0], cast("Severity", read(level, f"{place}.{code!r}", root)))
        for code, level in value.items()
    )


def _per_file(value: Any, place: str, root: Path) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise _expected("a table of patterns and codes", place, value)
    return tuple(
        (pattern, _selectors(codes, f"{place}.{pattern!r}", root)) for pattern, codes in value.items()
    )


def _targets(value: Any, place: str, root: Path) -> dict[str, TargetSettings]:
    if not isinstance(value, dict) or not all(isinstance(table, dict) for table in value.values()):
        raise ConfigError(
            f"{place} must hold one table for each target, such as {{'model.py:Net' = {{inputs = []}}}}"
        )
    read = {}
    for target, table in value.items():
        inside = f"{place}.{target!r}: "
        if ":" not in target:
            raise ConfigError(f"{inside}a target is a name in a file, such as 'model.py:Net'")
        _reject_unknown(table, _TARGET_KEYS, inside)
        given = {key: _TARGET_KEYS[key](item, f"{inside}{key}", root) for key, item in table.items()}
        read[target] = TargetSettings(**{key.replace("-", "_"): item for key, item in given.items()})
    return read


_TARGET_KEYS: dict[str, _Reader] = {
    "inputs": _strings,
    "devices": _strings,
    "modes": _strings,
    "backends": _strings,
    "require": _one_of(("script", "trace", "either")),
    "min-speedup": _ratio,
}
_KEYS: dict[str, _Reader] = {
    "select": _selectors,
    "extend-select": _selectors,
    "ignore": _selectors,
    "per-file-ignores": _per_file,
    "exclude": _strings,
    "extend-exclude": _strings,
    "force-exclude": _boolean,
    "search-paths": _paths,
    "python": _path,
    "torch-version": _string,
    "output-format": _one_of(FORMATS),
    "fail-level": _one_of(SEVERITIES),
    "severity": _severities,
    "require-known": _boolean,
    "dynamic": _open_sizes,
    "targets": _targets,
    "baseline": _path,
    "jobs": _count,
    "cache": _boolean,
}
