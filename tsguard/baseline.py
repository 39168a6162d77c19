"""A baseline: findings that a project has accepted for now, so that only new ones are reported."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from tsguard.config import ConfigError
from tsguard.fingerprint import fingerprints
from tsguard.report import Finding
from tsguard.source.sources import Sources

_VERSION = 1


class Baseline:
    """The fingerprints in a baseline file; paths in it are relative to its folder.

    Args:
        known: the fingerprints of accepted findings.
    """

    def __init__(self, file: Path, known: frozenset[str]) -> None:
        self._file = file
        self._known = known

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
            return cls(file, frozenset(entry["fingerprint"] for entry in content["findings"]))
        except FileNotFoundError:
            raise ConfigError(f"baseline {file} does not exist; write it with --update-baseline") from None
        except OSError as error:
            raise ConfigError(f"baseline {file} cannot be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(
                f"baseline {file} is not one that tsguard wrote; write it with --update-baseline"
            ) from error

    def new(self, findings: Sequence[Finding], sources: Sources) -> list[Finding]:
        """The findings that the baseline does not hold."""
        marks = fingerprints(findings, sources, self._relative)
        return [finding for finding, mark in zip(findings, marks, strict=True) if mark not in self._known]

    @classmethod
    def write(cls, file: Path, findings: Sequence[Finding], sources: Sources) -> None:
        """Accept these findings and no others."""
        baseline = cls(file, frozenset())
        marks = fingerprints(findings, sources, baseline._relative)
        entries = [
            {"path": baseline._relative(finding.path), "code": finding.code, "fingerprint": mark}
            for finding, mark in zip(findings, marks, strict=True)
        ]
        entries.sort(key=lambda entry: (entry["path"], entry["code"], entry["fingerprint"]))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            json.dumps({"version": _VERSION, "findings": entries}, indent=1) + "\n", encoding="utf-8"
        )

    def _relative(self, path: str) -> str:
        return Path(os.path.relpath(path, self._file.absolute().parent)).as_posix()
