"""What TorchFix says of code that torch.jit.script refuses or breaks: the Bad examples of the rule pages.

    pip install torchfix; python benchmarks/peers.py [TORCHFIX]

TORCHFIX is the command, by default ``torchfix``. The tests hold tsguard and torch to the
same examples, so tsguard's figure is all of them by construction.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.rules.pages import examples


def reported(command: str, folder: Path) -> set[str]:
    """The names of the files in a folder that TorchFix, with all its rules on, says something of."""
    ran = subprocess.run([command, "--select=ALL", str(folder)], capture_output=True, text=True)
    return {path.name for path in folder.iterdir() if f"{path.name}:" in ran.stdout}


def main() -> None:
    command = sys.argv[1] if len(sys.argv) > 1 else "torchfix"
    refused = [example for example in examples("script") if example.kind == "bad"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [example.write(folder) for example in refused]
        print(f"{len(paths)} examples; TorchFix reports {', '.join(sorted(reported(command, folder)))}")


if __name__ == "__main__":
    main()
