"""Write suppressions into files: one comment for each line that findings lie on."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Sequence
from pathlib import Path

from tsguard.report import Finding
from tsguard.source.text import bytes_of, encoding_of, lines_of

_TYPE_IGNORE = re.compile(r"\s+# type: ignore(\[[a-zA-Z, -]+\])?\s*$")
_EXISTING = re.compile(r"(#\s*tsguard:\s*ignore)\s*\[([^\]]*)\]")


def add_ignores(path: Path, findings: Iterable[Finding]) -> int:
    """Suppress findings in a file by comments on their lines.

    Returns:
        How many of them got one; a line that ends within a string or with a backslash
        can hold no comment.

    Raises:
        OSError: the file cannot be read or written.
    """
    data = bytes_of(path)
    encoding = encoding_of(data)
    lines = lines_of(data.decode(encoding))
    changed, added = commented(lines, findings)
    for line, text in changed.items():
        lines[line - 1] = text
    if changed:
        path.write_bytes("".join(lines).encode(encoding))
    return added


def commented(lines: Sequence[str], findings: Iterable[Finding]) -> tuple[dict[int, str], int]:
    """Lines of a file, with their ends, as suppressions for findings change them, by their number.

    Returns:
        The changed lines, and how many of the findings these hide.
    """
    open_lines = _lines_that_take_a_comment("".join(lines))
    codes: dict[int, set[str]] = {}
    added = 0
    for finding in findings:
        line = next((n for n in (finding.end_line, finding.line) if n in open_lines), None)
        if line is not None:
            codes.setdefault(line, set()).add(finding.code)
            added += 1
    return {line: _with_codes(lines[line - 1], found) for line, found in codes.items()}, added


def _lines_that_take_a_comment(text: str) -> set[int]:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text, newline=None).readline))
    except (tokenize.TokenError, SyntaxError):
        return set()
    return {token.start[0] for token in tokens if token.type in (tokenize.NEWLINE, tokenize.NL)}


def _with_codes(line: str, codes: set[str]) -> str:
    existing = _EXISTING.search(line)
    if existing:
        written = re.findall(r"[^,\s]+", existing[2])
        joined = ", ".join([*written, *sorted(codes.difference(written))])
        return f"{line[: existing.start()]}{existing[1]}[{joined}]{line[existing.end() :]}"
    code = line.rstrip("\r\n")
    comment = f"  # tsguard: ignore[{', '.join(sorted(codes))}]"
    # torch takes "# type: ignore" for what it is at the end of a line only.
    types = _TYPE_IGNORE.search(code)
    at = types.start() if types else len(code.rstrip())
    return f"{code[:at]}{comment}{code[at:].rstrip()}{line[len(code) :]}"
