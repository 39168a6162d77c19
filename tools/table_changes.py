"""Put the tables that tools/torch_tables.py has written into the package.

    python tools/table_changes.py FOLDER

FOLDER holds a folder of tables for each torch release that is new, or asked again.  The
package holds one release whole, of each other what changes from its neighbour, and a
digest of each release's tables, by which a test knows that they are rebuilt as they were.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tsguard.language import tables
from tsguard.language.changes import change

# What is there, or compiles, only if torch was built with CUDA, NCCL or the like.
_OF_THE_BUILD = re.compile(
    r"cuda::|torch\.cuda\.(?!amp\.)|torch\.version\.|torch\._C\._[cC]uda|torch\.distributed\.ProcessGroup"
    r"|torch\._utils\.(_get_device_index|get_current_device_index)$"
)
NAMES = ("operators", "names", "tensor", "modules")


def write(folder: Path, name: str, table: dict[str, Any]) -> None:
    """One entry a line, so that a change of torch reads well as a change of the file."""
    entries = [
        f"{json.dumps(key)}:{json.dumps(value, separators=(',', ':'))}" for key, value in table.items()
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text("{\n" + ",\n".join(entries) + "\n}\n", encoding="utf-8")


def hangs_on_the_build(name: str) -> bool:
    """Whether what an operator or a name means hangs on how torch was built, and not on its release."""
    return _OF_THE_BUILD.match(name) is not None


def without_cuda(asked: dict[str, Any], plain: dict[str, Any]) -> dict[str, Any]:
    """The tables of a build with CUDA as far as they are of the release.

    What hangs on the build is taken from ``plain``, tables of a build without CUDA, where the release
    has it at all; operators that only CUDA has are left out.
    """
    if not any(name.startswith("cuda::") for name in asked["operators"]):
        return asked
    operators = {name: told for name, told in asked["operators"].items() if not hangs_on_the_build(name)}
    names = {
        name: plain["names"].get(name, told) if hangs_on_the_build(name) else told
        for name, told in asked["names"].items()
    }
    return {**asked, "operators": operators, "names": names}


def digest(whole: Mapping[str, Any]) -> str:
    """A digest of all tables of a release, by their names."""
    return blake2b(json.dumps(whole, sort_keys=True).encode(), digest_size=16).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    asked = {path.name: path for path in parser.parse_args().folder.iterdir() if path.is_dir()}
    releases = sorted({*tables.RELEASES, *asked}, key=tables.as_numbers)
    plain = _whole(tables.WHOLE, None)
    whole = {release: without_cuda(_whole(release, asked.get(release)), plain) for release in releases}
    digests = {release: digest(table) for release, table in whole.items()}
    write(tables.FOLDER, "digests", digests)
    for release in releases:
        near = tables.nearer(release, releases)
        for name in NAMES:
            table = whole[release][name]
            write(tables.FOLDER / release, name, change(whole[near][name], table) if near else table)


def _whole(release: str, asked: Path | None) -> dict[str, dict[str, Any]]:
    if asked is None:
        return {name: tables.tables(release).table(name) for name in NAMES}
    return {name: json.loads((asked / f"{name}.json").read_text(encoding="utf-8")) for name in NAMES}


if __name__ == "__main__":
    main()
