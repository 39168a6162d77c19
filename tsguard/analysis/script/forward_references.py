"""Annotations that are strings at run time, in the fields of a NamedTuple and in what stays in Python.

Source: torch/_jit_internal.py (``_get_named_tuple_properties``), torch/jit/annotations.py (``try_ann_to_type``,
``try_real_annotations``).
"""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.script.refusals import Refusal
from tsguard.language.rule_names import RuleName
from tsguard.project.modules import Module
from tsguard.source.functions import named_parameters
from tsguard.source.unparsing import unparsed
from tsguard.source.walking import walked


def uses_future_annotations(module: Module) -> bool:
    """``from __future__ import annotations``: annotations are strings at run time."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(a.name == "annotations" for a in node.names)
        for node in module.file.tree.body
    )


def are_strings(cls: py.ClassValue) -> bool:
    """Whether the annotations in a class body are strings at run time."""
    return uses_future_annotations(cls.module) and "evaluated annotations" not in cls.marks


def reference(annotation: ast.expr, cls: py.ClassValue) -> str | None:
    """The text of a field's annotation that is a string at run time; None of others."""
    if are_strings(cls):
        return unparsed(annotation)
    return (
        annotation.value
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str)
        else None
    )


def refused_field(cls: py.ClassValue, name: str, text: str, node: ast.AST) -> Refusal:
    """A field whose annotation torch cannot resolve, at the mention of its class."""
    return Refusal("unknown-annotation/field", node, field=f"{name}: {text}", name=cls.name)


def refuse_unreadable(cls: py.ClassValue, name: str, annotation: ast.expr, node: ast.AST) -> None:
    """Torch looks names and subscripts up; ``|`` in a string and quotes inside of it are beyond it.

    Raises:
        Refusal: the field has such an annotation.
    """
    text = reference(annotation, cls)
    if (text is not None and ("|" in text or _is_quoted(text))) or (
        text is None and _holds_string(annotation)
    ):
        raise refused_field(cls, name, text or unparsed(annotation), node)


def _is_quoted(text: str) -> bool:
    return "'" in text or '"' in text


def _holds_string(annotation: ast.expr) -> bool:
    """``Optional[List["Node"]]``: a name in quotes inside of an annotation."""
    return any(isinstance(node, ast.Constant) and isinstance(node.value, str) for node in walked(annotation))


def refuse_references(cls: py.ClassValue, node: ast.AST) -> None:
    """Inside of another annotation, as in ``Optional[Output]``, torch looks nothing up.

    Raises:
        Refusal: a field's annotation is a string.
    """
    for name, annotation in cls.annotations.items():
        text = reference(annotation, cls)
        if text is not None:
            raise refused_field(cls, name, text, node)


def refuse_left_in_python(function: py.FunctionValue, node: ast.AST) -> None:
    """Torch takes the signature of a function that stays in Python as it is at run time, and looks no name up.

    Raises:
        Refusal: an annotation of the function is a string.
    """
    assert isinstance(function.node, ast.FunctionDef)
    spec = function.node.args
    written = [a.annotation for a in named_parameters(spec)] + [function.node.returns]
    strings = uses_future_annotations(function.module)
    quoted = [a for a in written if a is not None and (strings or _holds_string(a))]
    if quoted:
        text = unparsed(quoted[0]).strip("'")
        is_cached = "cached" in function.marks
        rule: RuleName = "unknown-annotation/cached" if is_cached else "unknown-annotation/ignored"
        raise Refusal(rule, node, annotation=text, function=function.name)
