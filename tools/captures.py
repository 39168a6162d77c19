"""Put what tsguard really prints into README.md.

    python tools/captures.py [NAME...]

Between ``<!-- NAME -->`` and ``<!-- /NAME -->`` stands a command and what it printed, on
standard output and standard error, the last time that this was run.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
CAPTURED = re.compile(
    r"<!-- (?P<name>[A-Z]+) -->\n```console\n\$ (?P<command>.+)\n(?P<printed>(?:.*\n)*?)```\n<!-- /(?P=name) -->"
)


def printed(command: str) -> str:
    """What a command prints in the project's folder, without color."""
    arguments = shlex.split(command)
    arguments[:1] = [sys.executable, "-m", arguments[0]]
    environment = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "TSGUARD_OUTPUT_FORMAT")}
    ran = subprocess.run(
        arguments, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return ran.stdout


def main() -> None:
    text = README.read_text(encoding="utf-8")
    wanted = sys.argv[1:] or [capture["name"] for capture in CAPTURED.finditer(text)]

    def renewed(capture: re.Match[str]) -> str:
        if capture["name"] not in wanted:
            return capture[0]
        name, command = capture["name"], capture["command"]
        return f"<!-- {name} -->\n```console\n$ {command}\n{printed(command)}```\n<!-- /{name} -->"

    README.write_text(CAPTURED.sub(renewed, text), encoding="utf-8")


if __name__ == "__main__":
    main()
