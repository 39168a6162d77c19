"""The names of all rules and their variants as a type, made from the pages: ``python -m tools.rule_names``.

What reports a rule is typed by it, so that a name which no page words is an error of types.
"""

from __future__ import annotations

from pathlib import Path

from tsguard import rules

TARGET = Path(__file__).parent.parent / "tsguard" / "language" / "rule_names.py"
_HEAD = '''\
"""The names of all rules and variants that code reports; made from the pages by ``tools/rule_names.py``."""

from typing import Literal, TypeAlias

RuleName: TypeAlias = Literal[
'''


def source() -> str:
    """The module's text."""
    names = sorted(
        f"{rule.name}/{variant}" if variant else rule.name
        for rule in map(rules.rule, rules.pages())
        for variant in rule.wordings
    )
    return _HEAD + "".join(f'    "{name}",\n' for name in names) + "]\n"


if __name__ == "__main__":
    TARGET.write_text(source(), encoding="utf-8")
