"""Inspections kept between runs, in the platform's cache folder, as JSON.

An entry holds as long as nothing it was made from has changed: tsguard itself, the
settings, the file, and every other file that the meaning of its names rests on.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import msgspec

from tsguard import __version__, rules
from tsguard.linting.inspection import Inspection
from tsguard.settings.requests import Job
from tsguard.source.text import bytes_of


@dataclass(frozen=True, slots=True)
class _Entry:
    """An inspection, and what it rests on: ``files`` are the digests of files, None for what is not there."""

    circumstances: str
    files: dict[str, str | None]
    inspection: Inspection


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
            entry = _decoder().decode(self._entry(job).read_bytes())
        except (OSError, ValueError):
            return None  # not there, or not what this version writes: made anew
        if entry.circumstances != self._circumstances:
            return None
        if any(self._hash(path) != known for path, known in entry.files.items()):
            return None
        return entry.inspection

    def put(self, job: Job, inspection: Inspection, files: Iterable[Path]) -> None:
        """Keep an inspection that rests on the job's file and on ``files``."""
        paths = sorted({str(job.path), str(job.path.parent / "__init__.py"), *map(str, files)})
        if job.text is not None or any(self._touched(path) for path in paths):
            return
        entry = _Entry(self._circumstances, {path: self._hash(path) for path in paths}, inspection)
        target = self._entry(job)
        scratch = target.with_suffix(f".{os.getpid()}.tmp")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            scratch.write_bytes(msgspec.json.encode(entry))
            scratch.replace(target)
        except (OSError, ValueError):
            return  # what cannot be written (a lone surrogate in a message) costs time, nothing else

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
def _decoder() -> msgspec.json.Decoder[_Entry]:
    return msgspec.json.Decoder(_Entry)
