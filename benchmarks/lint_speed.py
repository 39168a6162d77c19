"""What linting a package costs, beside parsing it with libcst and beside other linters.

    python benchmarks/lint_speed.py [--rounds N] [--scaling] [--peers PYTHON] [--compiled FOLDER]
                                    [PACKAGE-OR-FOLDER...]

Without arguments: timm and torchvision, as installed.  Each round runs every command one
after the other over the same files, so that all meet the same machine; printed are the
medians of CPU time (user and system, children included) and of the paired ratios to
``libcst.parse_module`` alone.  tsguard runs in one process without a cache; the project's
bound is 1.5 times the parse.  The compiled tsguard that `make compiled` builds takes part where
it is found.  TorchFix, Fixit, flake8 and ruff take part where they are
installed for ``--peers`` (by default this Python).  They pin older releases of libcst and
click, so they want an environment of their own: ``python -m venv peers`` and
``peers/bin/pip install torchfix fixit flake8 ruff``.

``--scaling`` also measures tsguard by wall time with two and more processes, and with a
warm cache (the bound: a tenth of a cold run), and checks that all of them report the same.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PARSE = """\
import sys
from pathlib import Path
import libcst
for line in Path(sys.argv[1]).read_text().splitlines():
    libcst.parse_module(Path(line).read_bytes())
"""

COMPILED = "tsguard, compiled"


@dataclass(frozen=True)
class Cost:
    """One run of a command, in seconds; ``cpu`` with its children."""

    cpu: float
    wall: float


def measured(command: Sequence[str], folder: str, environment: Mapping[str, str] | None = None) -> Cost:
    """Run a command in a folder of its own; linters that find something exit with 1."""
    # An installed package has its bytecode; a checkout, or an environment that forbids writing it, may not.
    variables = {**os.environ, "PYTHONPYCACHEPREFIX": str(Path(folder, "bytecode")), **(environment or {})}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command[:6])} exited {done.returncode}: {done.stderr[-500:]}")
    return Cost(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall)


def tsguard(folder: Path, *options: str) -> list[str]:
    """The command that lints a folder."""
    return [sys.executable, "-m", "tsguard", "lint", "--isolated", "--quiet", *options, str(folder)]


def competitors(folder: Path, listing: Path, python: str) -> dict[str, list[str]]:
    """The commands to compare, the yardstick first; peers where they are installed."""
    commands = {
        "libcst.parse_module": [sys.executable, "-c", PARSE, str(listing)],
        "tsguard": tsguard(folder, "--no-cache", "--jobs", "1"),
    }
    peers = {
        "torchfix": [python, "-m", "torchfix", str(folder)],
        "fixit": [python, "-m", "fixit", "lint", str(folder)],
        "flake8": [python, "-m", "flake8", "--isolated", "--jobs", "1", str(folder)],
        "ruff": [python, "-m", "ruff", "check", "--isolated", "--no-cache", str(folder)],
    }
    commands.update({name: peer for name, peer in peers.items() if _has(python, name)})
    return commands


def _has(python: str, module: str) -> bool:
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0


def compare(folder: Path, rounds: int, python: str, compiled: Path) -> None:
    """Print what each command costs over the Python files of a folder."""
    files = sorted(folder.rglob("*.py"))
    with tempfile.TemporaryDirectory() as place:
        listing = Path(place, "files.txt")
        listing.write_text("\n".join(map(str, files)))
        costs: dict[str, list[float]] = {}
        commands = competitors(folder, listing, python)
        if (compiled / "tsguard").is_dir():
            commands[COMPILED] = commands["tsguard"]
        for turn in range(rounds + 1):
            for name, command in commands.items():
                environment = {"PYTHONPATH": str(compiled)} if name == COMPILED else None
                cost = measured(command, place, environment).cpu
                if turn:  # the first has written bytecode
                    costs.setdefault(name, []).append(cost)
    size = sum(file.stat().st_size for file in files) / 1e6
    print(f"{folder.name}: {len(files)} files, {size:.1f} MB; median CPU time of {rounds} rounds")
    yardstick = costs["libcst.parse_module"]
    for name, spent in costs.items():
        ratio = statistics.median(ours / theirs for ours, theirs in zip(spent, yardstick, strict=True))
        print(f"  {name:22} {statistics.median(spent):8.2f} s {ratio:7.2f}")


def scale(folder: Path, rounds: int) -> None:
    """Print what processes and the cache save by wall time; all reports must be the same."""
    cores = os.cpu_count() or 1
    options = {"one process": ["--no-cache", "--jobs", "1"]}
    options |= {f"{n} processes": ["--no-cache", "--jobs", str(n)] for n in (2, 4, 8) if n <= cores}
    options |= {"cache, cold": ["--jobs", "1"], "cache, warm": ["--jobs", "1"]}
    with tempfile.TemporaryDirectory() as place:
        costs: dict[str, list[float]] = {}
        reports: dict[str, str] = {}
        for turn in range(rounds):
            environment = {"TSGUARD_CACHE_DIR": f"{place}/cache{turn}"}
            for name, chosen in options.items():
                report = Path(place, "report.json")
                command = tsguard(folder, *chosen, "--output-format", "json", "-o", str(report))
                costs.setdefault(name, []).append(measured(command, place, environment).wall)
                reports[name] = report.read_text()
    print(f"{folder.name}: median wall time of {rounds} rounds on {cores} cores")
    alone = costs["one process"]
    for name, spent in costs.items():
        ratio = statistics.median(ours / first for ours, first in zip(spent, alone, strict=True))
        same = "" if reports[name] == reports["one process"] else "  A DIFFERENT REPORT"
        print(f"  {name:22} {statistics.median(spent):8.2f} s {ratio:7.2f}{same}")


def located(name: str) -> Path:
    """The folder of a package, or the folder itself."""
    if Path(name).is_dir():
        return Path(name).resolve()
    found = importlib.util.find_spec(name)
    if found is None or not found.submodule_search_locations:
        raise SystemExit(f"{name} is neither a folder nor an installed package")
    return Path(found.submodule_search_locations[0])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packages", nargs="*", default=["timm", "torchvision"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scaling", action="store_true")
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--compiled", type=Path, default=Path("build/compiled"), metavar="FOLDER")
    options = parser.parse_args()
    for folder in map(located, options.packages):
        compare(folder, options.rounds, options.peers, options.compiled.resolve())
        if options.scaling:
            scale(folder, options.rounds)


if __name__ == "__main__":
    main()
