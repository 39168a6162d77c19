"""Refusals of what raises in Python too: a module that comes to one in each call is none that anybody uses."""

from __future__ import annotations

import ast

from tsguard.analysis.script.refusals import Refusal
from tsguard.project.modules import Module
from tsguard.source.assigning import assigned_later
from tsguard.source.remembering import remembered
from tsguard.source.walking import walked

_RAISING = frozenset({"missing-attribute", "not-callable/none", "unknown-method/none", "tuple-index/range"})
# Operators that Python has for None.
_OF_NONE = frozenset({"==", "!=", "in", "not in"})

# What no number of iterations can be.
_NOT_COUNTED = frozenset({"float", "str", "NoneType"})


def raises(refusal: Refusal, module: Module) -> bool:
    """Whether Python raises where torch refuses this, whatever the inputs are."""
    return _is_refused_by_python(refusal) and not _may_change(refusal.node, module.file.tree)


def _is_refused_by_python(refusal: Refusal) -> bool:
    if refusal.rule == "operator-types/absent":
        return refusal.facts["operator"] not in _OF_NONE
    if refusal.rule == "argument-type/range":
        return refusal.facts["type"] in _NOT_COUNTED
    if refusal.rule == "argument-type" and refusal.facts["function"] == "range":
        return refusal.facts["given"] in _NOT_COUNTED
    if refusal.rule == "module-index/key":
        return refusal.facts["key"].startswith(("'", '"'))
    return refusal.rule in _RAISING


def _may_change(node: ast.AST, tree: ast.AST) -> bool:
    """Whether an attribute that is read may be another one by the time that the module is called."""
    later = assigned_later(tree)
    read = {part.attr for part in walked(node) if isinstance(part, ast.Attribute)}
    return later is None or not read.isdisjoint(later) or _computes_attributes(tree)


@remembered(256)
def _computes_attributes(tree: ast.AST) -> bool:
    return any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in walked(tree))
