"""Fixes of wrappers that pass ``**kwargs`` on to modules of which only some take them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import changed_block, class_around, inserted_after
from tsguard.fixes.composing import unsafe
from tsguard.fixes.declared_constants import declared_final
from tsguard.fixes.imports import module_imported
from tsguard.fixes.lazily import cst
from tsguard.fixes.places import Function
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.project.modules import Module


def pass_where_taken(module: Module, function: Function, kwarg: str, seen: tuple[str, ...]) -> list[Fix]:
    """``return self.fn(x, **kwargs)`` becomes ``if self.fn_takes_mask: ...``, a flag that the constructor settles.

    Unsafe: who passes keywords to a module that takes none is not told so any more.

    Args:
        seen: the names of the keywords that eager passed, call by call: once some, once none.
    """
    file = module.file
    names = next((text.split(", ") for text in seen if text), [])
    owner = class_around(file, file.span(function))
    taken = {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}
    wrapped = _wrapped(function, kwarg)
    if len(seen) != 2 or "" not in seen or owner is None or wrapped is None or taken & set(names):
        return []
    held = _held(owner, wrapped)
    flag = f"{wrapped}_takes_{names[0]}"
    inspect = module_imported(module, "inspect", owner.lineno)
    declared = declared_final(module, owner, flag, type_="Final[bool]")
    if held is None or inspect is None or declared is None:
        return []
    line = f'self.{flag} = "{names[0]}" in inspect.signature(self.{wrapped}.forward).parameters'
    settled = inserted_after(file, held, line)

    def change(block: cst.FunctionDef) -> cst.BaseStatement:
        body = block.body.visit(_chosen(flag, kwarg, names))
        equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
        more = [cst.Param(cst.Name(name), equal=equal, default=cst.Name("None")) for name in names]
        own = block.params
        params = own.with_changes(params=[*own.params, *more], star_kwarg=None)
        return block.with_changes(body=body, params=params)

    edit = changed_block(file, function, cst.FunctionDef, change)
    fix = unsafe(f"Pass **{kwarg} where they are taken", inspect, declared, settled, edit)
    return [fix] if fix is not None else []


def _wrapped(function: Function, kwarg: str) -> str | None:
    """The attribute of the module that all the keywords are passed on to, each time in a plain statement."""
    found = set()
    used = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == kwarg]
    for statement in (n for n in ast.walk(function) if isinstance(n, (ast.Return, ast.Assign))):
        for call in (n for n in ast.walk(statement) if isinstance(n, ast.Call)):
            passed = [k.value for k in call.keywords if k.arg is None and k.value in used]
            if passed and isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "self":
                found.add(call.func.attr)
                used.remove(next(n for n in used if n is passed[0]))
    return found.pop() if len(found) == 1 and not used else None


def _held(owner: ast.ClassDef, name: str) -> ast.stmt | None:
    """The one statement of the constructor that sets an attribute."""
    inits = [n for n in owner.body if isinstance(n, Function) and n.name == "__init__"]
    nodes = [n for init in inits for n in init.body if isinstance(n, ast.Assign)]
    found = [n for n in nodes if any(ast.unparse(t) == f"self.{name}" for t in n.targets)]
    return found[0] if len(found) == 1 else None


def _chosen(flag: str, kwarg: str, names: list[str]) -> cst.CSTTransformer:
    """Writes statements that pass the keywords on with their names under a flag, and without them elsewhere."""

    class Chosen(cst.CSTTransformer):
        def leave_SimpleStatementLine(
            self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
        ) -> cst.BaseStatement:
            blocks = []
            for given in (names, []):
                part = updated_node.visit(passing({kwarg: given}))
                if part is updated_node or not isinstance(part, cst.SimpleStatementLine):
                    return updated_node
                blocks.append(cst.IndentedBlock([part.with_changes(leading_lines=[])]))
            test = cst.parse_expression(f"self.{flag}")
            return cst.If(test, blocks[0], cst.Else(blocks[1]), leading_lines=updated_node.leading_lines)

    return Chosen()


def passing(names: Mapping[str, list[str]]) -> cst.CSTTransformer:
    """Writes names out in every call that passes ``*args`` and ``**kwargs`` on."""

    class Passing(cst.CSTTransformer):
        def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
            args: list[cst.Arg] = []
            for arg in updated_node.args:
                value = arg.value
                if arg.star and isinstance(value, cst.Name) and value.value in names:
                    args += [_written(name, arg.star == "**") for name in names[value.value]]
                else:
                    args.append(arg)
            if args == list(updated_node.args):
                return updated_node
            if args:
                args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            return updated_node.with_changes(args=args)

    return Passing()


def _written(name: str, keyword: bool) -> cst.Arg:
    if not keyword:
        return cst.Arg(cst.Name(name))
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(cst.Name(name), keyword=cst.Name(name), equal=equal)
