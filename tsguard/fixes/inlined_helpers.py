"""Fixes of helpers that Python calls with any types, as ``default(value, other)``: what they compute is written at their calls."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.annotations import annotate_parameter
from tsguard.fixes.composing import unsafe
from tsguard.fixes.conversions import write_floats_in_both
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function, functions_around, nodes_at
from tsguard.fixes.spelling import spelled
from tsguard.fixes.sums import add_tensors
from tsguard.report import Edit, Fix
from tsguard.source.functions import named_parameters

if TYPE_CHECKING:
    from tsguard.analysis.events import Event
    from tsguard.project.modules import Module


def agree_or_inline(event: Event) -> Fix | None:
    """Both sides of a conditional expression are given one type, or it is compiled for each call by itself."""
    functions = functions_around(event.module.file, event.span)
    agreed = write_floats_in_both(event) or _type_after_other(event)
    return agreed or (_inline(event, functions[0]) if functions else None)


def _type_after_other(event: Event) -> Fix | None:
    """``size = width if size is None else size`` tells that the parameter ``size`` is an ``Optional[int]``.

    Unsafe: it may have been annotated otherwise.
    """
    file, types = event.module.file, {event.facts["then"], event.facts["otherwise"]} - {"Tensor"}
    node = next(nodes_at(file, event.span, ast.IfExp), None)
    functions = functions_around(file, event.span)
    type_ = types.pop() if len(types) == 1 else ""
    if node is None or not functions or type_ not in ("int", "float", "bool", "str"):
        return None
    asked = {f"{ast.unparse(node.orelse)} is None", f"{ast.unparse(node.body)} is not None"}
    args = functions[0].args
    every = named_parameters(args)
    param = next(
        (p for p in every if ast.unparse(node.test) in (f"{p.arg} is None", f"{p.arg} is not None")), None
    )
    written = spelled(f"Optional[{type_}]", event.module, functions[0].lineno)
    if param is None or ast.unparse(node.test) not in asked or written is None:
        return None
    if param.annotation is None:
        return annotate_parameter(event.module, functions[0], param.arg, f"Optional[{type_}]")
    change = rewritten(file, param.annotation, written.text)
    is_tensor = ast.unparse(param.annotation) in ("Optional[Tensor]", "Optional[torch.Tensor]")
    fix = unsafe(f"Annotate {param.arg} as Optional[{type_}]", written.edits, change)
    return fix if is_tensor else None


def convert_or_inline(event: Event) -> Fix | None:
    """An argument becomes what the function takes, or the function is compiled for each call by itself."""
    body = event.module.file.tree.body
    helpers = [n for n in body if isinstance(n, Function) and n.name == event.facts.get("function")]
    return add_tensors(event) or (_inline(event, helpers[0]) if helpers else None)


def _inline(event: Event, helper: Function) -> Fix | None:
    """``default(size, 2)`` becomes ``(size if size is not None else 2)``, where ``default`` does nothing else.

    Unsafe: who puts another function in the place of the helper is not heard there.
    """
    module = event.module
    if helper not in module.file.tree.body or _returned(helper) is None:
        return None
    edits: list[Edit | None] = []
    for function in _compiled(module.file.tree):
        for call in (n for n in ast.walk(function) if isinstance(n, ast.Call)):
            if function is not helper and ast.unparse(call.func) == helper.name:
                text = _written(module, helper, call)
                if text is None:
                    return None
                edits.append(rewritten(module.file, call, f"({text})"))
    return unsafe(f"Write what {helper.name} does", edits)


def _compiled(tree: ast.Module) -> list[Function]:
    """The functions and methods that may be compiled: all but constructors."""
    methods = [n for owner in tree.body if isinstance(owner, ast.ClassDef) for n in owner.body]
    found = [n for n in (*tree.body, *methods) if isinstance(n, Function)]
    return [n for n in found if n.name != "__init__"]


def _returned(helper: Function) -> ast.expr | None:
    """What a function returns, where it does nothing else."""
    body = helper.body[1:] if ast.get_docstring(helper) is not None else helper.body
    only = body[0] if len(body) == 1 else None
    args = helper.args
    plain = not (args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs or args.defaults)
    return only.value if isinstance(only, ast.Return) and plain and not helper.decorator_list else None


def _written(module: Module, helper: Function, call: ast.Call) -> str | None:
    """What a call of a helper computes, with its arguments in it; none of them is computed twice."""
    names = [a.arg for a in helper.args.args]
    given = dict(zip(names, call.args, strict=False)) | {str(k.arg): k.value for k in call.keywords}
    value = _returned(helper)
    used = [n.id for n in ast.walk(value) if isinstance(n, ast.Name)] if value is not None else []
    plain = all(
        used.count(name) == 1 or isinstance(given_, (ast.Name, ast.Attribute, ast.Constant))
        for name, given_ in given.items()
    )
    if (
        value is None
        or not plain
        or set(given) != set(names)
        or len(call.args) + len(call.keywords) != len(names)
    ):
        return None

    class Given(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return given.get(node.id, node)

        def visit_Call(self, node: ast.Call) -> ast.expr:
            """A test that is a helper itself: TorchScript learns nothing of None from a call."""
            self.generic_visit(node)
            inner = [
                n
                for n in module.file.tree.body
                if isinstance(n, Function) and n.name == ast.unparse(node.func)
            ]
            asked = _returned(inner[0]) if len(inner) == 1 else None
            text = _written(module, inner[0], node) if isinstance(asked, ast.Compare) else None
            return node if text is None else ast.parse(text, mode="eval").body

    return ast.unparse(Given().visit(ast.parse(ast.unparse(value), mode="eval")))
