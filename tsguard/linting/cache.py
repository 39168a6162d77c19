"""Inspections kept between runs, in the platform's cache folder, as JSON.

An entry holds as long as nothing it was made from has changed: tsguard itself, the
settings, the file, and every other file that the meaning of its names rests on.  Where the file alone
has changed, it tells what was found of the file as it was.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import msgspec

from tsguard import rules, version
from tsguard.inspection.inspecting import EarlierInspection, Inspection
from tsguard.settings.requests import Job
from tsguard.source.replacing import replace_file
from tsguard.source.text import SourceFile, bytes_of, is_notebook

# Entries of some thousand files.
_MOST_BYTES = 256_000_000
_SECONDS_BETWEEN_TRIMS = 86_400
# A file that was written so shortly before a run may be written again without another time.
_NANOSECONDS_OF_DOUBT = 2_000_000_000

# Size, times of content and of state, inode: who writes to a file cannot leave all of them as they were.
_Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class _State:
    """What a file held, or which names a folder; ``stamp`` None where it does not vouch for that."""

    digest: str
    stamp: _Stamp | None


@dataclass(frozen=True, slots=True)
class _Entry:
    """An inspection, and what it rests on: ``files`` as they were, None for what is not there.

    ``text`` is that of the file itself, None where what was found of it says nothing of another text.
    """

    circumstances: str
    files: dict[str, _State | None]
    inspection: Inspection
    text: str | None


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
        self._states: dict[str, _State | None] = {}
        self._stamps: dict[str, _Stamp | None] = {}
        self._edited: dict[Job, EarlierInspection] = {}
        self._started = time.time_ns()

    @property
    def outlines(self) -> tuple[Path, str]:
        """Where outlines of installed files are kept beside, and who makes them; see ``Outlines``."""
        return self._folder, _tool()

    def get(self, job: Job) -> Inspection | None:
        """The inspection of a job if one is kept and still holds."""
        if job.text is not None:
            return None
        try:
            entry: _Entry = _decoder().decode(self.place(job).read_bytes())
        except (OSError, ValueError):
            return None  # not there, or not what this version writes: made anew
        own = str(job.path)
        others = {path: known for path, known in entry.files.items() if path != own}
        if entry.circumstances != self._circumstances or not all(map(self._holds, others, others.values())):
            return None
        if self._holds(own, entry.files[own]):
            return entry.inspection
        if entry.text is not None:
            self._edited[job] = EarlierInspection(entry.text, entry.inspection, frozenset(others))
        return None

    def before_edit(self, job: Job) -> EarlierInspection | None:
        """What is kept of a job of which ``get`` gave nothing because its own file alone has changed."""
        return self._edited.get(job)

    def put(self, job: Job, inspection: Inspection, files: Collection[str]) -> None:
        """Keep an inspection that rests on the job's file and on ``files``."""
        paths = sorted({str(job.path), str(job.path.parent / "__init__.py"), *files})
        if job.text is not None or any(self._touched(path) for path in paths):
            return
        text = None
        # What goes round by other files does not end at the definitions that it names.
        if inspection.targets and str(job.path) not in files and not is_notebook(job.path):
            text = SourceFile.read(job.path).text
        states = {path: self._state(path) for path in paths}
        entry = _Entry(self._circumstances, states, inspection, text)
        target = self.place(job)
        try:
            replace_file(target, msgspec.json.encode(entry))
        except ValueError:
            return  # what cannot be written (a lone surrogate in a message) costs time, nothing else

    def place(self, job: Job) -> Path:
        """Where the entry of a job lies, if it is kept."""
        key = _digest(
            repr((self._release, str(job.path), job.shown, job.whole, job.named)).encode(
                "utf-8", "surrogatepass"
            )
        )
        return self._folder / key[:2] / f"{key[2:]}.json"

    def trim(self, most: int = _MOST_BYTES) -> None:
        """Delete the entries that were written first, where all come to more bytes; at most once a day."""
        marker = self._folder / "trimmed"
        try:
            if marker.exists() and time.time() - marker.stat().st_mtime < _SECONDS_BETWEEN_TRIMS:
                return
            marker.touch()
            entries = [(path.stat(), path) for path in self._folder.glob("*/*.json")]
            size = sum(stat.st_size for stat, _ in entries)
            for stat, path in sorted(entries, key=lambda entry: entry[0].st_mtime_ns):
                if size <= most:
                    break
                path.unlink()
                size -= stat.st_size
        except OSError:
            return  # another run is at it

    def _holds(self, path: str, known: _State | None) -> bool:
        """Whether a file, or a folder's list of names, is as it was."""
        if known is not None and known.stamp is not None and self._stamp(path) == known.stamp:
            self._states.setdefault(path, known)
            return True
        now = self._state(path)
        return now is known if now is None or known is None else now.digest == known.digest

    def _state(self, path: str) -> _State | None:
        if path not in self._states:
            self._states[path] = self._read(path)
        return self._states[path]

    def _stamp(self, path: str) -> _Stamp | None:
        if path not in self._stamps:
            self._stamps[path] = _stamp(path)
        return self._stamps[path]

    def _read(self, path: str) -> _State | None:
        stamp = _stamp(path)
        if stamp is None:
            return None
        try:
            data = _listed(path) if os.path.isdir(path) else bytes_of(Path(path))
        except OSError:
            return None
        vouches = max(stamp[1], stamp[2]) < self._started - _NANOSECONDS_OF_DOUBT
        return _State(_digest(data), stamp if vouches else None)

    def _touched(self, path: str) -> bool:
        """Whether a file changed during this run, so that what was read may be older than its hash."""
        stamp = _stamp(path)
        return stamp is not None and stamp[1] >= self._started


def _stamp(path: str) -> _Stamp | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _listed(folder: str) -> bytes:
    """The names in a folder by which modules may be found: those of sources and of folders."""
    names = (name for name in os.listdir(folder) if name.endswith((".py", ".pyi")) or "." not in name)
    return "\0".join(sorted(name for name in names if name != "__pycache__")).encode(
        "utf-8", "surrogateescape"
    )


def _default_folder() -> Path:
    chosen = os.environ.get("TSGUARD_CACHE_DIR")
    if chosen:
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("tsguard", appauthor=False)) / "inspections"


@functools.cache
def _tool() -> str:
    """This tsguard: its version, and the state of its files, which a checkout changes without a version.

    Files that were installed are as they were when the first of them was written.
    """
    package = Path(version.__file__)
    state = [version.__version__, sys.version, str(package.stat().st_mtime_ns)]
    is_installed = any(part in ("site-packages", "dist-packages") for part in package.parts)
    for folder in () if is_installed else (package.parent, next(iter(rules.pages().values())).parent):
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
