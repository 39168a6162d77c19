"""Refusals: raised where torch would raise, caught where the walk can continue."""

from __future__ import annotations

import ast

from tsguard.language import types as t
from tsguard.language.rule_names import RuleName

# Rules that one repair settles for all uses of what the fact names.
_CAUSES = {"untyped-parameter": "parameter", "optional-not-refined": "value", "not-callable": "value"}


class Refusal(Exception):
    """A rule broken at a node; ``facts`` fill the wording of the rule's page."""

    def __init__(self, rule: RuleName, node: ast.AST, **facts: object) -> None:
        super().__init__(rule)
        self.rule = rule
        self.node = node
        self.facts = {key: str(value) for key, value in facts.items()}

    @property
    def is_of_saving(self) -> bool:
        """Whether torch compiles what it is about, and does not save it."""
        return self.rule.startswith("unsaveable-script")

    @property
    def cause(self) -> tuple[str, str] | None:
        """What several refusals of one function have in common when one repair settles them."""
        rule = self.rule.partition("/")[0]
        return (rule, self.facts[_CAUSES[rule]]) if rule in _CAUSES else None


def unconvertible(node: ast.AST, name: str, owner: str, reason: str) -> Refusal:
    """The refusal of an attribute that torch finds no type for; what is empty can be declared."""
    kind = {"an empty list": "List[Tensor]", "an empty dict": "Dict[str, Tensor]"}.get(reason)
    if kind is None:
        return Refusal("unconvertible-attribute", node, name=name, owner=owner, reason=reason)
    facts = {"name": name, "owner": owner, "reason": reason, "kind": kind}
    return Refusal("unconvertible-attribute/empty", node, **facts)


def not_refined(node: ast.AST, value: str, type_: t.OptionalType | t.UnionType) -> Refusal:
    """The refusal for a value that may be None or of another type; only a local variable can be tested in place."""
    if isinstance(type_, t.UnionType):
        return Refusal("optional-not-refined/union", node, value=value, type=type_)
    rule: RuleName = "optional-not-refined" if value.isidentifier() else "optional-not-refined/expression"
    return Refusal(rule, node, value=value, type=type_, wanted=type_.element)
