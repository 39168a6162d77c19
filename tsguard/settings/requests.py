"""What the command line asks for: files, folders, standard input, targets; and the files to judge for it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from tsguard.report import Error
from tsguard.report.likely import nearest
from tsguard.report.records import dataclass
from tsguard.settings.config import Settings
from tsguard.source.discovery import Exclusions, python_files

_FILE_TARGET = re.compile(r"(?P<place>.+?\.(?:pyi?|ipynb)):(?P<expression>.+)", re.DOTALL)
# After the letter of a drive comes a path: an expression begins with a name.
_DOTTED_TARGET = re.compile(r"(?P<place>[^\W\d]\w*(?:\.[^\W\d]\w*)*):(?P<expression>[^\W\d].*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Request:
    """One PATH or TARGET.

    ``given`` is as the user wrote it, ``path`` a file or folder that may not exist,
    ``expression`` the target in it, ``text`` what standard input held instead of the
    file, and ``encoding`` how it was written there.
    """

    given: str
    path: Path
    expression: str | None = None
    text: str | None = None
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class Job:
    """One file to judge: all of its targets if ``whole``, and those ``named``.

    ``path`` is absolute, ``shown`` is how reports name it; each named target is the
    argument as given and its expression.
    """

    path: Path
    shown: str
    whole: bool = True
    named: tuple[tuple[str, str], ...] = ()
    text: str | None = None
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class Plan:
    """The files to judge, what could not be found, and the folders that hold no Python.

    Fixes are offered in the files themselves, and in all below the folder ``mended`` if one is given.
    """

    jobs: tuple[Job, ...]
    errors: tuple[Error, ...] = ()
    empty: tuple[str, ...] = ()
    mended: Path | None = None


def parse(argument: str, settings: Settings) -> Request:
    """What a PATH or TARGET argument asks for."""
    if os.path.lexists(argument):
        return Request(argument, Path(argument))
    for at in (match.start() for match in re.finditer(":", argument)):
        if os.path.isfile(argument[:at]):
            return Request(argument, Path(argument[:at]), argument[at + 1 :])
    if match := _FILE_TARGET.fullmatch(argument):
        return Request(argument, Path(match["place"]), match["expression"])
    if match := _DOTTED_TARGET.fullmatch(argument):
        found = _locate(match["place"], settings)
        return Request(argument, found or Path(match["place"]), match["expression"])
    return Request(argument, Path(argument))


def plan(requests: Iterable[Request], settings: Settings) -> Plan:
    """The files that the requests come to, each once, in the order asked for."""
    exclusions = Exclusions(settings.root, settings.exclude, settings.extend_exclude)
    jobs: dict[Path, Job] = {}
    errors: list[Error] = []
    empty: list[str] = []
    for request in requests:
        if not request.given:
            errors.append(Error("an empty name is no file or folder: pass . for the working folder"))
        elif request.text is None and not os.path.lexists(request.path):
            errors.append(_missing(request))
        elif request.text is None and os.path.isdir(request.path):
            found = list(_in_folder(request, exclusions, settings, errors))
            empty += [] if found or request.expression is not None else [request.given]
            for job in found:
                jobs.setdefault(job.path, job)
                jobs[job.path] = replace(jobs[job.path], whole=True)
        elif not (settings.force_exclude and exclusions.excludes(request.path)):
            job = _of_file(request)
            jobs[job.path] = _joined(jobs[job.path], job) if job.path in jobs else job
    return Plan(tuple(jobs.values()), tuple(errors), tuple(empty))


def shown(path: Path) -> str:
    """A path as reports name it: relative to the working folder where it lies below it."""
    absolute, here = Path(os.path.abspath(path)), Path.cwd()
    if absolute.is_relative_to(here):
        return absolute.relative_to(here).as_posix()
    # Outside, a relative path stays one ("../lib/net.py") because the user wrote it so.
    return path.as_posix()


def _in_folder(
    request: Request, exclusions: Exclusions, settings: Settings, errors: list[Error]
) -> Iterator[Job]:
    if request.expression is not None:
        errors.append(Error(f"{request.given}: a target lies in a file, and {request.path} is a folder"))
        return
    if settings.force_exclude and exclusions.excludes(request.path):
        return

    def unreadable(error: OSError) -> None:
        errors.append(Error(f"folder {error.filename} cannot be read: {error.strerror}"))

    folder = Path(os.path.abspath(request.path))
    for path in python_files(folder, exclusions, unreadable):
        yield Job(path, shown(request.path / path.relative_to(folder)))


def _of_file(request: Request) -> Job:
    named = () if request.expression is None else ((request.given, request.expression),)
    path = Path(os.path.abspath(request.path))
    return Job(path, shown(request.path), not named, named, request.text, request.encoding)


def _joined(first: Job, second: Job) -> Job:
    named = tuple(dict.fromkeys((*first.named, *second.named)))
    return replace(first, whole=first.whole or second.whole, named=named, text=first.text or second.text)


def _locate(module: str, settings: Settings) -> Path | None:
    """The file of a dotted module name, as an import from the project would find it."""
    here = Path.cwd()
    for root in dict.fromkeys(
        (here, here / "src", settings.root, settings.root / "src", *settings.search_paths)
    ):
        base = root.joinpath(*module.split("."))
        for candidate in (base / "__init__.py", base.with_name(f"{base.name}.py")):
            if candidate.is_file():
                return candidate
    return None


def _missing(request: Request) -> Error:
    path = request.path
    if request.expression is not None and path.suffix not in (".py", ".pyi", ".ipynb"):
        return Error(f"{request.given}: no module {path} in the working folder, its src or the search-paths")
    siblings: list[Path] = []
    with contextlib.suppress(OSError):
        siblings = sorted(path.parent.iterdir())
    # Endings are left out: that both end in .py does not make two names alike.
    by_stem = {sibling.stem: sibling for sibling in siblings}
    near = nearest(path.stem, by_stem, alike=0.6)
    hint = f"; did you mean {by_stem[near[0]].as_posix()!r}?" if near else ""
    return Error(f"no such file or folder: {path.as_posix()!r}{hint}")
