"""The torch tables: facts asked of torch releases, shipped as data, loaded lazily.

One release is there whole, of each other what changes from its neighbour that is nearer to
that one (tsguard/language/changes.py says how); tools/table_changes.py writes them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tsguard.language.changes import changed

FOLDER = Path(__file__).parent / "tables"
WHOLE = "2.13"


def as_numbers(release: str) -> tuple[int, ...]:
    """A release as numbers, which compare as releases do.

    Raises:
        ValueError: it is no release.
    """
    return tuple(map(int, release.split(".")))


RELEASES = tuple(sorted((p.name for p in FOLDER.iterdir() if p.is_dir()), key=as_numbers))


def nearer(release: str, releases: Sequence[str] = RELEASES) -> str | None:
    """The release whose tables those of a release are told as changes of; None of that told whole."""
    if release == WHOLE:
        return None
    number = releases.index(release)
    return releases[number + (1 if number < releases.index(WHOLE) else -1)]


# Bases with a forward of their own, and a layer of each that only checks the rank of its input besides
# (torch/nn/modules/batchnorm.py, instancenorm.py).
_PRIVATE = {
    "torch.nn.modules.batchnorm._BatchNorm": "torch.nn.BatchNorm1d",
    "torch.nn.modules.instancenorm._InstanceNorm": "torch.nn.InstanceNorm1d",
}
# Layers that are another one but for what eager quantization makes of them (torch/nn/modules/linear.py).
_ALIKE = {
    f"torch.nn.modules.{home}.NonDynamicallyQuantizableLinear": "torch.nn.Linear"
    for home in ("activation", "linear")
}


class Tables:
    """The tables of one torch release."""

    def __init__(self, release: str) -> None:
        self.release = release
        self._canonical: dict[str, str] = {}

    def table(self, name: str) -> Any:
        """One table, whole."""
        told = json.loads((FOLDER / self.release / f"{name}.json").read_text(encoding="utf-8"))
        near = nearer(self.release)
        return told if near is None else changed(Tables(near).table(name), told)

    @functools.cached_property
    def operators(self) -> dict[str, list[str]]:
        """Operator to its overloads' schemas, in the order in which torch tries them."""
        table: dict[str, list[str]] = self.table("operators")
        return table

    @functools.cached_property
    def names(self) -> dict[str, Any]:
        """Qualified name to what it means to ``torch.jit.script``."""
        table: dict[str, Any] = self.table("names")
        return table

    @functools.cached_property
    def listed_modules(self) -> frozenset[str]:
        """The modules all of whose public names the table holds; of others it knows submodules only."""
        own = {name.rpartition(".")[0] for name, entry in self.names.items() if not _names_module(entry)}
        modules = (name for name, entry in self.names.items() if _names_module(entry))
        return frozenset(own.intersection(modules) - {"torch._C"})

    @functools.cached_property
    def modules(self) -> dict[str, Any]:
        """Module class of ``torch.nn`` to its attributes and methods, private bases with a forward included."""
        table: dict[str, Any] = self.table("modules")
        bases = {
            base: {**table[layer], "bases": table[layer]["bases"][1:]} for base, layer in _PRIVATE.items()
        }
        alike = {
            name: {**table[layer], "bases": [layer, *table[layer]["bases"]]} for name, layer in _ALIKE.items()
        }
        return {**table, **bases, **alike}

    @functools.cached_property
    def tensor(self) -> dict[str, str]:
        """Member of ``torch.Tensor`` in Python to "method" or "property"."""
        table: dict[str, str] = self.table("tensor")["members"]
        return table

    @functools.cached_property
    def module_members(self) -> frozenset[str]:
        """The names that every ``nn.Module`` has."""
        return frozenset(self.table("tensor")["module"])

    @functools.cached_property
    def _of_bases(self) -> dict[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for entry in self.modules.values():
            names = frozenset(
                name for kind in ("attributes", "methods", "parameters", "buffers") for name in entry[kind]
            )
            for base in entry["bases"]:
                found[base] = found.get(base, names) & names
        return found

    def members_of_base(self, name: str) -> frozenset[str] | None:
        """What a class that only lends to layers (``_ConvNd``) gives its objects: what all those layers have.

        None where no layer derives from the class.
        """
        return self._of_bases.get(name)

    def canonical(self, name: str) -> str:
        """The first name of what a qualified name means (aliases followed)."""
        known = self._canonical.get(name)
        if known is None:
            known = self._canonical[name] = self._first_name(name)
        return known

    @functools.cached_property
    def _homes(self) -> dict[str, str]:
        """Where the classes of torch are defined, to the name that the tables have for each."""
        found: dict[str, str] = {}
        for name, entry in self.names.items():
            home = entry.get("is", "") if isinstance(entry, dict) else ""
            if home not in self.names and home.startswith("torch."):
                found.setdefault(home, name)
        return found

    def _first_name(self, name: str) -> str:
        seen = 0
        while seen < 8:
            entry = self.names.get(name)
            if isinstance(entry, str) and entry.startswith("="):
                name = entry[1:]
            elif isinstance(entry, dict) and "module" in entry and entry["module"] != name:
                name = entry["module"]
            elif entry is None and name in self._homes:
                name = self._homes[name]
            elif entry is None and "." in name:
                owner, _, member = name.rpartition(".")
                parent = self.canonical(owner) if owner in self.names or "." in owner else owner
                if parent == owner:
                    return name
                name = f"{parent}.{member}"
            else:
                return name
            seen += 1
        return name

    def entry(self, name: str) -> Any:
        """A name's entry: a dict, an operator's name, or None where torch has no such name."""
        return self.names.get(self.canonical(name))

    def is_code(self, name: str) -> bool:
        """Whether a name of torch or Python is known to be a function, a class or a module, and no value."""
        entry = self.entry(name)
        return isinstance(entry, str) or (isinstance(entry, dict) and not {"const", "atom"} & entry.keys())


def _names_module(entry: Any) -> bool:
    return entry.startswith("=") if isinstance(entry, str) else "module" in entry and not entry.get("class")


@functools.cache
def tables(release: str = RELEASES[-1]) -> Tables:
    """The tables of a release; the newest by default."""
    return Tables(release)
