"""The registry of rules, read from the pages in ``rules/``, and the links to their pages."""

from tsguard.rules.registry import (
    FAMILIES,
    CodeBlock,
    Rule,
    UnknownRule,
    Wording,
    all_rules,
    code_blocks,
    covers,
    holds,
    pages,
    rule,
    sections,
    split_page,
)

__all__ = [
    "FAMILIES",
    "CodeBlock",
    "Rule",
    "UnknownRule",
    "Wording",
    "all_rules",
    "code_blocks",
    "covers",
    "holds",
    "pages",
    "rule",
    "sections",
    "split_page",
]
