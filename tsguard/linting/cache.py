"""Inspections kept between runs, in the platform's cache folder, as JSON.

An entry holds as long as nothing it was made from has changed: tsguard itself, the
settings, the file, and every other file that the meaning of its names rests on.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import time
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import asdict, fields, is_dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tsguard import __version__, rules
from tsguard.linting.inspection import Inspection
from tsguard.settings.requests import Job
from tsguard.source.text import bytes_of


class Cache:
    """Entries of runs under one set of circumstances.

    Args:
        circumstances: whatever else inspections depend on, as text.
        release: the torch release that is judged for; entries for several are kept side by side.
        folder: where the entries lie; None for the platform's cache folder.
    """

    def __init__(self, circumstances: str, release: str, folder: Path | None = None) -> None:
        self._folder = folder or _default_folder()
        self._release = release
        self._circumstances = f"{_tool()}\0{os.getcwd()}\0{circumstances}"
        self._hashes: dict[str, str | None] = {}
        self._started = time.time_ns()

    def get(self, job: Job) -> Inspection | None:
        """The inspection of a job if one is kept and still holds."""
        if job.text is not None:
            return None
        try:
            entry = json.loads(self._entry(job).read_bytes())
            if entry["circumstances"] != self._circumstances:
                return None
            if any(self._hash(path) != known for path, known in entry["files"].items()):
                return None
            inspection: Inspection = _decoder(Inspection)(entry["inspection"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # not there, or not what this version writes: made anew
        return inspection

    def put(self, job: Job, inspection: Inspection, files: Iterable[Path]) -> None:
        """Keep an inspection that rests on the job's file and on ``files``."""
        paths = sorted({str(job.path), str(job.path.parent / "__init__.py"), *map(str, files)})
        if job.text is not None or any(self._touched(path) for path in paths):
            return
        entry = {
            "circumstances": self._circumstances,
            "files": {path: self._hash(path) for path in paths},
            "inspection": asdict(inspection),
        }
        target = self._entry(job)
        scratch = target.with_suffix(f".{os.getpid()}.tmp")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            scratch.write_text(json.dumps(entry, separators=(",", ":")), encoding="utf-8")
            scratch.replace(target)
        except OSError:
            return  # a cache that cannot be written costs time, nothing else

    def _entry(self, job: Job) -> Path:
        key = _digest(
            repr((self._release, str(job.path), job.shown, job.whole, job.named)).encode(
                "utf-8", "surrogatepass"
            )
        )
        return self._folder / key[:2] / f"{key[2:]}.json"

    def _hash(self, path: str) -> str | None:
        if path not in self._hashes:
            try:
                self._hashes[path] = _digest(bytes_of(Path(path)))
            except OSError:
                self._hashes[path] = None
        return self._hashes[path]

    def _touched(self, path: str) -> bool:
        """Whether a file changed during this run, so that what was read may be older than its hash."""
        try:
            return os.stat(path).st_mtime_ns >= self._started
        except OSError:
            return False


def _default_folder() -> Path:
    chosen = os.environ.get("TSGUARD_CACHE_DIR")
    if chosen:
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("tsguard", appauthor=False)) / "inspections"


@functools.cache
def _tool() -> str:
    """This tsguard: its version, and the state of its files, which a checkout changes without a version."""
    folders = (Path(__file__).parent, next(iter(rules.pages().values())).parent)
    state = [__version__, sys.version]
    for folder in folders:
        for root, _, names in os.walk(folder):
            for name in names:
                if name.endswith((".py", ".json", ".md")):
                    stat = os.stat(os.path.join(root, name))
                    state.append(f"{name} {stat.st_size} {stat.st_mtime_ns}")
    return _digest("\n".join(sorted(state)).encode())


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


@functools.cache
def _decoder(kind: Any) -> Callable[[Any], Any]:
    """What turns plain JSON values back into values of a type."""
    if is_dataclass(kind):
        return _dataclass_decoder(typing.cast(type, kind))
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        if arguments[-1] is Ellipsis:
            item = _decoder(arguments[0])
            return lambda values: tuple(map(item, values))
        items = [_decoder(argument) for argument in arguments]
        return lambda values: tuple(item(value) for item, value in zip(items, values, strict=True))
    if origin in (types.UnionType, typing.Union):
        (some,) = (_decoder(argument) for argument in arguments if argument is not type(None))
        return lambda value: None if value is None else some(value)
    return lambda value: value


def _dataclass_decoder(kind: type) -> Callable[[Any], Any]:
    hints = typing.get_type_hints(kind)
    parts = [(field.name, _decoder(hints[field.name])) for field in fields(kind)]
    return lambda values: kind(**{name: decode(values[name]) for name, decode in parts})
