"""A baseline: findings that a project has accepted for now, so that only new ones are reported."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tsguard.report import BaselineEntry, BaselineUse, Finding
from tsguard.report.fingerprint import fingerprints
from tsguard.settings.config import ConfigError
from tsguard.source.sources import Sources

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Baseline:
    """The accepted findings in a baseline file; paths in it are relative to its folder."""

    file: Path
    entries: tuple[BaselineEntry, ...] = ()

    @classmethod
    def read(cls, file: Path) -> Baseline:
        """Read a baseline file.

        Raises:
            ConfigError: there is none, or it is no baseline of this version.
        """
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            if content["version"] != _VERSION:
                raise ConfigError(
                    f"baseline {file} is of version {content['version']}; write it anew with --update-baseline"
                )
            entries = [BaselineEntry(e["path"], e["code"], e["fingerprint"]) for e in content["findings"]]
            if not all(isinstance(part, str) for e in entries for part in (e.path, e.code, e.fingerprint)):
                raise TypeError
            return cls(file, tuple(entries))
        except FileNotFoundError:
            raise ConfigError(f"baseline {file} does not exist; write it with --update-baseline") from None
        except OSError as error:
            raise ConfigError(f"baseline {file} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                f"baseline {file} is not one that tsguard wrote; write it with --update-baseline"
            ) from error

    def use(
        self, findings: Sequence[Finding], sources: Sources, judged: Callable[[str, str], bool]
    ) -> tuple[list[Finding], BaselineUse]:
        """The findings that the baseline does not hold, and what it is good for.

        ``judged`` tells of a file and a code whether what is not among the findings is not there.
        """
        known = {entry.fingerprint for entry in self.entries}
        new: list[Finding] = []
        accepted: list[Finding] = []
        found = self._entries_of(findings, sources)
        for finding, entry in zip(findings, found, strict=True):
            (accepted if entry.fingerprint in known else new).append(finding)
        marks = {entry.fingerprint for entry in found}
        folder = self.file.absolute().parent
        stale = (
            entry
            for entry in self.entries
            if entry.fingerprint not in marks
            and (
                judged(os.path.normpath(folder / entry.path), entry.code)
                or not (folder / entry.path).exists()
            )
        )
        return new, BaselineUse(tuple(accepted), tuple(stale))

    def adding(self, chosen: Sequence[Finding], findings: Sequence[Finding], sources: Sources) -> Baseline:
        """This baseline and ``chosen`` ones of all ``findings`` besides."""
        entries = self._entries_of(findings, sources)
        added = (entry for finding, entry in zip(findings, entries, strict=True) if finding in chosen)
        return Baseline(self.file, tuple(dict.fromkeys([*self.entries, *added])))

    def save(self) -> None:
        """Write the file."""
        order = sorted(self.entries, key=lambda entry: (entry.path, entry.code, entry.fingerprint))
        content = {"version": _VERSION, "findings": [asdict(entry) for entry in order]}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8", newline="\n")

    def _entries_of(self, findings: Sequence[Finding], sources: Sources) -> list[BaselineEntry]:
        marks = fingerprints(findings, sources.line, self._relative)
        return [
            BaselineEntry(self._relative(f.path), f.code, mark)
            for f, mark in zip(findings, marks, strict=True)
        ]

    def _relative(self, path: str) -> str:
        return Path(os.path.relpath(path, self.file.absolute().parent)).as_posix()
