"""Fixes of ``**kwargs`` that a function reads by name: they become parameters."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import changed_block
from tsguard.fixes.callers import gives_more
from tsguard.fixes.composing import unsafe
from tsguard.fixes.lazily import cst
from tsguard.fixes.places import Function, functions_around
from tsguard.fixes.signatures import without_last_comma
from tsguard.fixes.spelling import Spelled, spelled
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def name_keywords(event: Event) -> Fix | None:
    """``def f(x, **kwargs): ... kwargs.get("scale", 1.0)`` becomes ``def f(x, scale: float = 1.0): ... scale``.

    Unsafe: who passes other keywords is refused then.
    """
    module, functions = event.module, functions_around(event.module.file, event.span)
    kwarg = functions[0].args.kwarg if functions else None
    if kwarg is None or event.facts["parameter"] != f"**{kwarg.arg}":
        return None
    function, name = functions[0], kwarg.arg
    bound = {n.arg for n in ast.walk(function.args) if isinstance(n, ast.arg)}
    nodes = [n for part in function.body for n in ast.walk(part)]
    reads = [read for n in nodes if (read := _read(n, name)) is not None]
    if not reads or len(reads) != sum(isinstance(n, ast.Name) and n.id == name for n in nodes):
        return None
    if _takes_away(nodes, name) or gives_more(module.file, function, name, {key for key, _ in reads}):
        return None
    defaults: dict[str, ast.Constant] = {}
    types: dict[str, Spelled] = {}
    for key, default in reads:
        type_ = _type(default)
        how = spelled(type_, module, function.lineno) if type_ else None
        if (
            how is None
            or key in bound
            or ast.unparse(defaults.setdefault(key, default)) != ast.unparse(default)
        ):
            return None
        if not _is_free(nodes, key, name) or (key.startswith("__") and not key.endswith("__")):
            return None
        types[key] = how

    def change(block: cst.FunctionDef) -> cst.BaseStatement:
        added = [
            cst.Param(
                cst.Name(key),
                cst.Annotation(cst.parse_expression(types[key].text)),
                equal=cst.AssignEqual(),
                default=cst.parse_expression(ast.unparse(default)),
            )
            for key, default in defaults.items()
        ]
        own = without_last_comma(block.params.with_changes(star_kwarg=None))
        # Behind a star, or behind defaults, what is added is by keyword or has a default as well.
        field = "kwonly_params" if isinstance(own.star_arg, cst.ParamStar | cst.Param) else "params"
        params = own.with_changes(**{field: [*getattr(own, field), *added]})
        body = block.body.visit(_by_name(name))
        return block.with_changes(body=body, params=params)

    edit = changed_block(module.file, function, cst.FunctionDef, change)
    imports = tuple(e for e in dict.fromkeys(e for how in types.values() for e in how.edits))
    listed = ", ".join(defaults)
    return unsafe(f"Make {listed} parameters", imports, edit)


def _read(node: ast.AST, name: str) -> tuple[str, ast.Constant] | None:
    """What ``kwargs.get("scale", 1.0)`` asks for, with its default."""
    if not isinstance(node, ast.Call) or ast.unparse(node.func) not in (f"{name}.get", f"{name}.pop"):
        return None
    if node.keywords or not 1 <= len(node.args) <= 2:
        return None
    key = node.args[0]
    default = node.args[1] if len(node.args) == 2 else ast.Constant(None)
    if not isinstance(key, ast.Constant) or not isinstance(default, ast.Constant):
        return None
    if len(node.args) == 1 and ast.unparse(node.func).endswith(".pop"):
        return None
    return (key.value, default) if isinstance(key.value, str) and key.value.isidentifier() else None


def _type(default: ast.Constant) -> str | None:
    if default.value is None:
        return "Optional[Tensor]"
    kind = type(default.value)
    return kind.__name__ if kind in (bool, int, float, str) else None


def _is_free(nodes: list[ast.AST], key: str, name: str) -> bool:
    """Whether the function has no variable of the keyword's name, global ones included, or one that is the keyword only."""
    own = [n for n in nodes if isinstance(n, ast.Name) and n.id == key]
    stores = [n for n in own if not isinstance(n.ctx, ast.Load)]
    for node in stores:
        values = [n.value for n in nodes if isinstance(n, ast.Assign) and any(t is node for t in n.targets)]
        read = _read(values[0], name) if values else None
        if read is None or read[0] != key:
            return False
    return bool(stores) or not own


def _takes_away(nodes: list[ast.AST], name: str) -> bool:
    """Whether ``kwargs.pop("scale", 1.0)`` may find what another read took: one of the same key, or of another round."""
    loops = (
        ast.For,
        ast.While,
        ast.ListComp,
        ast.GeneratorExp,
        ast.SetComp,
        ast.DictComp,
        ast.Lambda,
        Function,
    )
    repeated = {id(n) for loop in nodes if isinstance(loop, loops) for n in ast.walk(loop)}
    reads = [(n, read[0]) for n in nodes if isinstance(n, ast.Call) and (read := _read(n, name)) is not None]
    keys = [key for _, key in reads]
    return any(
        keys.count(key) > 1 or id(node) in repeated
        for node, key in reads
        if ast.unparse(node.func).endswith(".pop")
    )


def _by_name(kwarg: str) -> cst.CSTTransformer:
    """Writes the names of the keywords where they are read; ``scale = scale`` goes."""

    class ByName(cst.CSTTransformer):
        def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
            function = cst.Module([]).code_for_node(updated_node.func)
            if function not in (f"{kwarg}.get", f"{kwarg}.pop"):
                return updated_node
            return cst.Name(ast.literal_eval(cst.Module([]).code_for_node(updated_node.args[0].value)))

        def leave_SimpleStatementLine(
            self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
        ) -> cst.SimpleStatementLine | cst.RemovalSentinel:
            line = updated_node.body[0] if len(updated_node.body) == 1 else None
            if not isinstance(line, cst.Assign) or len(line.targets) != 1 or line is original_node.body[0]:
                return updated_node
            target, value = line.targets[0].target, line.value
            same = (
                isinstance(target, cst.Name) and isinstance(value, cst.Name) and target.value == value.value
            )
            return cst.RemoveFromParent() if same else updated_node

    return ByName()
