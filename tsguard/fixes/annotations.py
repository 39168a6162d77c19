"""Fixes of annotations: of parameters by what is passed, of results, of attributes and of variables.

An annotation changes nothing in Python, so most of these fixes are safe.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tsguard.fixes.absent_types import taken
from tsguard.fixes.blocks import changed_block, class_around, removed, statement
from tsguard.fixes.composing import composed, safe, unsafe
from tsguard.fixes.definitions_elsewhere import called
from tsguard.fixes.docstrings import documented_type
from tsguard.fixes.edits import between, edit
from tsguard.fixes.imports import imported, torch_imported
from tsguard.fixes.lazily import cst
from tsguard.fixes.parameters import annotated, parameters_with_defaults
from tsguard.fixes.pieces import changed_parameter, changed_statement, rewritten
from tsguard.fixes.places import Function, functions_around, nodes_around, nodes_at
from tsguard.fixes.relatives import descendants
from tsguard.fixes.spelling import spelled
from tsguard.report import Applicability, Fix
from tsguard.source import Span
from tsguard.source.functions import named_parameters
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.events import Event
    from tsguard.project.modules import Module

# What torch infers of a value that an annotation may not name.
OPEN_TYPES = ("...", "NoneType", "Any", "?")


def annotate_by_use(event: Event) -> Fix | None:
    """``steps`` becomes ``steps: int``, where what is done with it takes nothing else, or the docstring says so."""
    # Of an argument that may be left out the default is told too.
    name, type_ = event.facts["parameter"], event.facts.get("needed", "").partition(" = ")[0]
    function = _taking(event, name)
    if function is None or type_:
        fix = annotate_parameter(event.module, function, name, type_)
        if fix is None or function is None or not _asks_for_type(function, name):
            return fix
        return replace(fix, applicability="unsafe", message=f"{fix.message}, as it is used here")
    told = documented_type(function, class_around(event.module.file, event.span), name)
    reason = "as the docstring says"
    if told in (None, "Tensor"):
        told, reason = _container_by_use(function, name), "as it is used"
    fix = annotate_parameter(event.module, function, name, told) if told is not None else None
    return replace(fix, applicability="unsafe", message=f"{fix.message}, {reason}") if fix else None


def _asks_for_type(function: Function, name: str) -> bool:
    """Whether a function asks what its argument is: it takes several types."""
    asking = (n for n in ast.walk(function) if isinstance(n, ast.Call) and n.args)
    return any(
        ast.unparse(n.args[0]) == name and ast.unparse(n.func).rpartition(".")[2] in _TYPE_TESTS
        for n in asking
    )


_TYPE_TESTS = frozenset({"callable", "is_tensor", "isinstance", "type"})
_METHODS = {
    **dict.fromkeys(("items", "keys", "values", "get", "update"), "Dict[str, Tensor]"),
    **dict.fromkeys(("append", "extend", "insert"), "List[Tensor]"),
}


def _container_by_use(function: Function, name: str) -> str | None:
    """The container of Tensors that a function takes a parameter for: it asks for items, or appends to it."""
    found = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == name and node.attr in _METHODS:
            found.add(_METHODS[node.attr])
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) == name:
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                found.add("Dict[str, Tensor]")
        elif isinstance(node, ast.Assign) and ast.unparse(node.value) == name:
            target = node.targets[0]
            if isinstance(target, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in target.elts):
                found.add(f"Tuple[{', '.join(['Tensor'] * len(target.elts))}]")
    return found.pop() if len(found) == 1 else None


def annotate_by_call(event: Event) -> Fix | None:
    """``def pad(x, size)`` becomes ``def pad(x, size: int)``, where it is called with an int.

    All calls in the file that say a type literally must say this one.  It is unsafe where there are others, which
    may pass a Tensor.
    """
    given, told = event.facts["given"], event.facts["annotation"]
    name, type_ = event.facts["argument"], told if told in ("float", "torch.dtype") else given
    fix, found = _annotated_where_called(event, name, type_), _called(event)
    if fix is None or found is None or not _is_called_elsewhere(*found):
        return fix
    return replace(fix, applicability="unsafe", message=f"{fix.message}, as it is called here")


def _is_called_elsewhere(module: Module, function: Function) -> bool:
    """Whether a file calls a function at several places, or makes several modules of which it is the forward."""
    name = function.name
    if name in ("forward", "__call__"):
        owners = [n for n in ast.walk(module.file.tree) if isinstance(n, ast.ClassDef) and function in n.body]
        name = owners[0].name if owners else name
    calls = (n.func for n in ast.walk(module.file.tree) if isinstance(n, ast.Call))
    return sum(name in (getattr(f, "id", None), getattr(f, "attr", None)) for f in calls) > 1


def allow_none(event: Event) -> Fix | None:
    """``def exists(mask)`` becomes ``def exists(mask: Optional[Tensor])``, where it is given what may be None."""
    return _annotated_where_called(event, event.facts["argument"], event.facts["type"])


def _annotated_where_called(event: Event, name: str, type_: str) -> Fix | None:
    found = _called(event)
    return annotate_parameter(*found, name, type_) if found is not None else None


def annotate_omitted(event: Event) -> Fix | None:
    """``def f(x, mask=None)`` becomes ``def f(x, mask: Optional[Tensor] = None)``, where a call leaves it out."""
    return _annotated_where_called(event, event.facts["argument"], f"Optional[{event.facts['wanted']}]")


def welcome_none(event: Event) -> Fix | None:
    """``def f(mask: Tensor)`` becomes ``def f(mask: Optional[Tensor])``, where it is given None and asks for that."""
    found, name = _called(event), event.facts["argument"]
    parameter = _parameter(found[1], name) if found is not None else None
    if found is None or parameter is None or parameter.annotation is None:
        return None
    module, function = found
    written = between(module.file, module.file.span(parameter.annotation))
    asked = {ast.unparse(n) for part in function.body for n in ast.walk(part) if isinstance(n, ast.Compare)}
    if not asked & {f"{name} is None", f"{name} is not None"} or "None" in written or "Optional" in written:
        return None
    optional = imported(module, "typing", ["Optional"], function.lineno)
    change = rewritten(module.file, parameter.annotation, f"Optional[{written}]")
    if isinstance(parameter.annotation, ast.Constant):
        return None
    return safe(f"Annotate {name} as Optional[{written}]", optional, change)


def annotate_parameter(module: Module, function: Function | None, name: str, type_: str) -> Fix | None:
    """The fix that gives a parameter of a function in a file a type, unless it has one."""
    if function is None or any(part in type_ for part in OPEN_TYPES):
        return None
    default = _default(function, name)
    if isinstance(default, ast.Constant) and default.value is None and not type_.startswith("Optional["):
        type_ = f"Optional[{type_}]"
    if type_ == "Optional[Tensor]":  # which is what torch takes it for, whatever it is
        inner = taken(module, function, name)
        if inner is None:
            return None
        type_ = f"Optional[{inner}]"
    written = spelled(type_, module, function.lineno)
    parameter = _parameter(function, name)
    if written is None or parameter is None or parameter.annotation is not None:
        return None
    change = changed_parameter(module.file, function, name, lambda p: annotated(p, written.text))
    # A type comment speaks for all parameters.
    if has_type_comment(module, function):
        return None
    return safe(f"Annotate {name} as {type_}", written.edits, change)


def has_type_comment(module: Module, function: Function) -> bool:
    lines = module.file.lines[function.lineno - 1 : function.body[0].lineno]
    return any("# type:" in line for line in lines)


def _taking(event: Event, name: str) -> Function | None:
    """The innermost function round a place that has a parameter of this name."""
    around = functions_around(event.module.file, event.span)
    return next((f for f in around if _parameter(f, name) is not None), None)


def _parameter(function: Function, name: str) -> ast.arg | None:
    return next((p for p in named_parameters(function.args) if p.arg == name), None)


def _default(function: Function, name: str) -> ast.expr | None:
    return next((default for p, default in parameters_with_defaults(function) if p.arg == name), None)


def _called(event: Event) -> tuple[Module, Function] | None:
    """The function that is called where something is wrong with an argument, with its file."""
    call = next(nodes_at(event.module.file, event.span, ast.Call), None)
    if call is not None:
        return called(event.module, event.span, call.func)
    return called(event.module, event.span, ast.parse(event.facts["function"], mode="eval").body)


def return_what_is_returned(event: Event) -> Fix | None:
    """``-> Tuple[int, int]`` becomes ``-> List[int]``, where that is what a function returns."""
    around = functions_around(event.module.file, event.span)
    actual = event.facts["actual"]
    if not around or around[0].returns is None or any(part in actual for part in OPEN_TYPES):
        return None
    if any(_is_told_wrongly(event, n) for n in walked(around[0]) if isinstance(n, ast.Return)):
        return None
    written = spelled(actual, event.module, around[0].lineno)
    if written is None:
        return None
    change = rewritten(event.module.file, around[0].returns, written.text)
    # An heir may return something else by the methods that it overrides.
    owner = class_around(event.module.file, event.span)
    is_shared = owner is not None and bool(descendants(event.module.file, owner))
    kind: Applicability = "unsafe" if is_shared else "safe"
    return composed(kind, f"Annotate the result as {actual}", written.edits, change)


def _is_told_wrongly(event: Event, node: ast.Return) -> bool:
    """Whether a function returns what another gives that itself returns several values and says that it returns one."""
    call = node.value if isinstance(node.value, ast.Call) else None
    found = called(event.module, event.module.file.span(call), call.func) if call is not None else None
    returns = [n.value for n in walked(found[1]) if isinstance(n, ast.Return)] if found is not None else []
    told = ast.unparse(found[1].returns) if found is not None and found[1].returns is not None else ""
    return any(isinstance(value, ast.Tuple) for value in returns) and told.endswith("Tensor")


def default_of_type(event: Event) -> Fix | None:
    """``rate: int = 0.5`` becomes ``rate: float = 0.5``, and ``rate: float = 1`` has the default 1.0."""
    name, given = event.facts["parameter"], event.facts["given"]
    function = _taking(event, name)
    parameter = _parameter(function, name) if function else None
    if function is None or parameter is None or parameter.annotation is None:
        return None
    default = _default(function, name)
    if (event.facts["annotated"], given) == ("float", "int") and default is not None:
        text = ast.unparse(default)
        change = rewritten(event.module.file, default, f"{text}.0") if text.isdecimal() else None
        return unsafe(f"Write {text} as {text}.0", change)
    written = spelled(given, event.module, function.lineno) if given not in OPEN_TYPES else None
    if written is None:
        return None
    change = rewritten(event.module.file, parameter.annotation, written.text)
    return unsafe(f"Annotate {name} as {given}", written.edits, change)


def drop_local_annotation(event: Event) -> Fix | None:
    """``kept: List[Tensor] = xs`` in a branch becomes ``kept = xs``; a bare ``kept: Tensor`` goes."""
    nodes = nodes_around(event.module.file, event.span.line)
    found = [n for n in nodes if isinstance(n, ast.AnnAssign) and n.lineno == event.span.line]
    return without_annotation(event, found[-1]) if found else None


def without_annotation(event: Event, node: ast.AnnAssign) -> Fix | None:
    file = event.module.file
    if node.value is None:
        return safe(f"Remove the annotation of {ast.unparse(node.target)}", removed(file, node))

    def change(small: cst.BaseSmallStatement) -> cst.BaseSmallStatement | None:
        if not isinstance(small, cst.AnnAssign) or small.value is None:
            return None
        return cst.Assign([cst.AssignTarget(small.target)], small.value)

    made = changed_statement(file, node, change)
    return safe(f"Remove the annotation of {ast.unparse(node.target)}", made)


def write_floats(event: Event) -> Fix | None:
    """``[0.5, 1, 2]`` becomes ``[0.5, 1.0, 2.0]``, where floats are expected.

    Unsafe: a Tensor that is made of them, or multiplied by them, may have another dtype.
    """
    if "float" not in event.facts.get("expected", ""):
        return None
    nodes = list(nodes_at(event.module.file, event.span, ast.List))
    nodes += [n for n in nodes_around(event.module.file, event.span.line) if isinstance(n, ast.List)]
    for node in nodes:
        integers = [e for e in node.elts if isinstance(e, ast.Constant) and type(e.value) is int]
        if integers and len(integers) < len(node.elts):
            edits = [rewritten(event.module.file, e, f"{ast.unparse(e)}.0") for e in integers]
            return unsafe("Write the integers as floats", edits)
    return None


def drop_mutable_default(event: Event) -> Fix | None:
    """``skips: List[Tensor] = []`` becomes Optional, and the list is made in the body."""
    file, name = event.module.file, event.facts["parameter"]
    function = _taking(event, name)
    parameter = _parameter(function, name) if function else None
    default = _default(function, name) if function else None
    if function is None or parameter is None or parameter.annotation is None or default is None:
        return None
    edits = [imported(event.module, "typing", ["Optional"], function.lineno)]
    made = ast.unparse(default)
    if made in ("[]", "{}"):  # which holds Tensors unless it is told otherwise
        edits.append(torch_imported(event.module, function.lineno))
        made = f"torch.jit.annotate({ast.unparse(parameter.annotation)}, {made})"

    def change(definition: cst.FunctionDef) -> cst.BaseStatement | None:
        if not isinstance(definition.body, cst.IndentedBlock):
            return None
        for param in (*definition.params.params, *definition.params.kwonly_params):
            if param.name.value == name and param.annotation is not None:
                inner = cst.SubscriptElement(cst.Index(param.annotation.annotation))
                optional = param.annotation.with_changes(
                    annotation=cst.Subscript(cst.Name("Optional"), [inner])
                )
                new = param.with_changes(annotation=optional, default=cst.Name("None"))
                result = definition.deep_replace(param, new)
                assert isinstance(result, cst.FunctionDef)
                assert isinstance(result.body, cst.IndentedBlock)
                body = list(result.body.body)
                at = 1 if _is_docstring(body[0]) else 0
                body.insert(at, statement(f"if {name} is None:\n    {name} = {made}\n"))
                return result.with_changes(body=result.body.with_changes(body=body))
        return None

    block = changed_block(file, function, cst.FunctionDef, change)
    return unsafe(f"Make the default of {name} in the body", *edits, block)


def _is_docstring(node: cst.BaseStatement) -> bool:
    return (
        isinstance(node, cst.SimpleStatementLine)
        and isinstance(node.body[0], cst.Expr)
        and isinstance(node.body[0].value, cst.SimpleString | cst.ConcatenatedString)
    )


# Source: torch/_sources.py, torch/jit/annotations.py (``type_pattern``).
_IGNORED_BEFORE = re.compile(r"(?P<own>\s*# type: ignore(?:\[[a-zA-Z-]+\])?)(?P<others>\s*#.*\S)")


def drop_type_comment(event: Event) -> Fix | None:
    """A type comment that torch misreads becomes a comment of another kind."""
    file = event.module.file
    for number in range(event.span.line, event.span.end_line + 1):
        line = file.lines[number - 1]
        at = line.find("# type:")
        ignored = _IGNORED_BEFORE.search(line)
        if ignored is not None:  # for mypy, and taken for a type only where it is not last
            moved = f"{ignored['others']}{ignored['own']}"
            span = Span(number, ignored.start() + 1, number, len(line.rstrip()) + 1)
            return safe("Move # type: ignore to the end", edit(file, span, moved))
        if at >= 0:
            change = edit(file, Span(number, at + 1, number, at + 8), "# types:")
            return safe("Call the comment otherwise", change)
    return None
