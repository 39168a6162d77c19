"""Containers of modules that are indexed by what is only known at run time."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import (
    around,
    changed_block,
    fresh_name,
    inserted_before,
    method_around,
)
from tsguard.fixes.chosen_modules import choose_from_list
from tsguard.fixes.composing import unsafe
from tsguard.fixes.container_lengths import takes_all
from tsguard.fixes.edits import between, edit
from tsguard.fixes.final_flags import declare_flag
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import Function, nodes_around
from tsguard.fixes.sequences import is_no_list
from tsguard.report import Edit, Fix
from tsguard.source import Span

if TYPE_CHECKING:
    from tsguard.analysis.events import Event


def loop_over_modules(event: Event) -> Fix | None:
    """``for i in range(n): x = self.layers[i](x)`` loops over ``enumerate(self.layers)``.

    Under a flag that ``__init__`` settles the flag is declared ``Final`` first: where it is off there is nothing to mend.
    Unsafe: where the container holds more modules than the loop takes, the rest run too.
    """
    file = event.module.file
    flag = declare_flag(event)
    if flag is not None:
        return flag
    loops = around(file, event.span, ast.For)
    index = event.facts["index"]
    for loop in loops:
        found = _loop_over_some(event, loop, index) or _loop_over(event, loop, index)
        if found is not None:
            return found
    return choose_from_list(event)


def _loop_over_some(event: Event, loop: ast.For, index: str) -> Fix | None:
    """``for i in range(1, len(self.layers)): x = self.layers[i](x)`` loops over all, and asks ``if i >= 1`` first."""
    file, call = event.module.file, loop.iter
    taken, method = list(_containers(loop, index)), method_around(file, event.span)
    bounds = None
    if isinstance(call, ast.Call) and len(taken) == 1 and method is not None:
        bounds = _bounds(event, call, taken[0], index, method)
    stored = [n for part in loop.body for n in ast.walk(part) if isinstance(n, ast.Name) and n.id == index]
    inner = [n for part in loop.body for n in ast.walk(part) if isinstance(n, (ast.Break, ast.Continue))]
    if bounds is None or inner or any(not isinstance(n.ctx, ast.Load) for n in stored):
        return None
    if not isinstance(loop.target, ast.Name) or loop.target.id != index or loop.orelse:
        return None
    name = fresh_name(file, "layer")

    def change(block: cst.For) -> cst.BaseStatement | None:
        class Naming(cst.CSTTransformer):
            def leave_Subscript(self, _: cst.Subscript, node: cst.Subscript) -> cst.BaseExpression:
                text = cst.Module([]).code_for_node(node).replace(" ", "")
                return cst.Name(name) if text == f"{taken[0]}[{index}]" else node

        if not isinstance(block.body, cst.IndentedBlock):
            return None
        body = block.body.visit(Naming())
        assert isinstance(body, cst.IndentedBlock)
        asked = cst.If(cst.parse_expression(bounds), body.with_changes(header=cst.TrailingWhitespace()))
        target = cst.Tuple([cst.Element(cst.Name(index)), cst.Element(cst.Name(name))], lpar=[], rpar=[])
        source = cst.parse_expression(f"enumerate({taken[0]})")
        return block.with_changes(target=target, iter=source, body=block.body.with_changes(body=[asked]))

    return unsafe(f"Loop over {taken[0]}", changed_block(file, loop, cst.For, change))


def _bounds(
    event: Event, call: ast.Call, container: str, index: str, method: tuple[ast.ClassDef, Function]
) -> str | None:
    """What ``range(...)`` asks of the index, where it takes some of the modules only."""
    if ast.unparse(call.func) != "range" or call.keywords or len(call.args) not in (1, 2):
        return None
    start, stop = (None, call.args[0]) if len(call.args) == 1 else call.args
    if isinstance(start, ast.UnaryOp):
        return None  # a negative number takes the last ones first
    asked = [f"{index} >= {ast.unparse(start)}"] if start is not None else []
    if ast.unparse(stop) != f"len({container})":
        if start is None and takes_all(event.module.file, *method, container, stop):
            return None
        asked.append(f"{index} < {ast.unparse(stop)}")
    return " and ".join(asked) or None


def _loop_over(event: Event, loop: ast.For, index: str) -> Fix | None:
    file = event.module.file
    call = loop.iter
    if loop.orelse or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    taken = _containers(loop, index)
    # What only some rounds take may hold fewer modules than there are rounds.
    branches = [n for part in loop.body for n in ast.walk(part) if isinstance(n, (ast.If, ast.IfExp))]
    if any(text in _containers(branch, index) for branch in branches for text in taken):
        return None
    assigned = {
        n.id
        for part in loop.body
        for n in ast.walk(part)
        if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del))
    }
    if not taken or index in assigned or not _takes_all_of_some(event, call, list(taken)):
        return None
    names: dict[str, str] = {}
    for text in taken:
        short = text.rpartition(".")[2]
        wanted = short[:-1] if short.endswith("s") and len(short) > 2 else f"{short}_{index}"
        name = fresh_name(file, wanted if wanted not in names.values() else f"{wanted}_")
        while name in names.values():
            name += "_"
        names[text] = name
    modules = list(names)
    listed = ", ".join(names.values())
    is_range = call.func.id == "range" and len(call.args) == 1 and not call.keywords
    if is_range and isinstance(loop.target, ast.Name) and loop.target.id == index:
        one = len(modules) == 1
        source = modules[0] if one else f"zip({', '.join(modules)})"
        item = listed if one else f"({listed})"
        head = (f"{index}, {item}", f"enumerate({source})")
    elif call.func.id == "enumerate" and len(call.args) == 1 and isinstance(loop.target, ast.Tuple):
        first, item_ = loop.target.elts[0], loop.target.elts[1]
        if not (isinstance(first, ast.Name) and first.id == index):
            return None
        source = between(file, file.span(call.args[0]))
        inner = between(file, file.span(item_))
        head = (f"{index}, ({inner}, {listed})", f"enumerate(zip({source}, {', '.join(modules)}))")
    else:
        return None
    edits: list[Edit | None] = []
    start = file.span(loop.target)
    end = file.span(loop.iter)
    whole = Span(start.line, start.column, end.end_line, end.end_column)
    edits.append(edit(file, whole, f"{head[0]} in {head[1]}"))
    for part in loop.body:
        for node in ast.walk(part):
            if (
                isinstance(node, ast.Subscript)
                and ast.unparse(node.value) in names
                and _is_index(node, index)
            ):
                edits.append(rewritten(file, node, names[ast.unparse(node.value)]))
    return unsafe(f"Loop over {' and '.join(modules)}", edits)


def _takes_all_of_some(event: Event, call: ast.Call, containers: list[str]) -> bool:
    """Whether ``range(stop)`` ends with the shortest of the containers; ``enumerate`` ends with what it counts."""
    method = method_around(event.module.file, event.span)
    if ast.unparse(call.func) != "range" or len(call.args) != 1:
        return True
    return method is not None and any(
        takes_all(event.module.file, *method, held, call.args[0]) for held in containers
    )


def _containers(within: ast.For | ast.If | ast.IfExp, index: str) -> dict[str, None]:
    """The containers of the module that are indexed with the loop's variable."""
    found: dict[str, None] = {}
    parts = within.body if isinstance(within, ast.For) else [within]
    for node in (node for part in parts for node in ast.walk(part)):
        if isinstance(node, ast.Subscript) and _is_index(node, index):
            value = node.value
            if isinstance(value, ast.Attribute) and ast.unparse(value.value) == "self":
                found[ast.unparse(value)] = None
    return found


def _is_index(node: ast.Subscript, index: str) -> bool:
    return isinstance(node.slice, ast.Name) and node.slice.id == index


def index_the_others(event: Event) -> Fix | None:
    """``for layer, x in zip(self.layers, xs)`` loops over the modules and indexes the rest.

    Unsafe: where the rest is longer or shorter, zip stops earlier than this.
    """
    file = event.module.file
    method = method_around(file, event.span)
    loops = [n for n in nodes_around(file, event.span.line) if isinstance(n, ast.For)]
    if method is None:
        return None
    if not loops:
        return index_in_comprehension(event, method[0])
    loop, call = loops[-1], loops[-1].iter
    index, target = None, loop.target
    if isinstance(call, ast.Call) and ast.unparse(call.func) == "enumerate" and len(call.args) == 1:
        if (
            not isinstance(target, ast.Tuple)
            or len(target.elts) != 2
            or not isinstance(target.elts[0], ast.Name)
        ):
            return None
        index, target, call = target.elts[0].id, target.elts[1], call.args[0]
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != "zip" or not isinstance(target, ast.Tuple):
        return None
    modules = containers_among(method[0], call.args)
    if not modules or len(modules) == len(call.args) or len(target.elts) != len(call.args):
        return None
    if any(is_no_list(value) for value in call.args):
        return None  # which cannot be indexed
    others = [(a, t) for a, t in zip(call.args, target.elts, strict=True) if a not in modules]
    held: dict[ast.expr, str] = {}
    for number, (value, _) in enumerate(others):
        named = isinstance(value, (ast.Name, ast.Attribute))
        plain = between(file, file.span(value))
        held[value] = plain if named else fresh_name(file, f"others{number or ''}")
    index = index or fresh_name(file, "i")
    items = [between(file, file.span(t)) for a, t in zip(call.args, target.elts, strict=True) if a in modules]
    sources = [between(file, file.span(a)) for a in modules]
    one = len(modules) == 1
    item, source = (items[0], sources[0]) if one else (f"({', '.join(items)})", f"zip({', '.join(sources)})")
    start, end = file.span(loop.target), file.span(loop.iter)
    head = edit(
        file,
        Span(start.line, start.column, end.end_line, end.end_column),
        f"{index}, {item} in enumerate({source})",
    )
    lines = [f"{between(file, file.span(t))} = {held[a]}[{index}]" for a, t in others]
    taken = inserted_before(file, loop.body[0], *lines)
    made = [f"{held[a]} = {text}" for a, _ in others if held[a] != (text := between(file, file.span(a)))]
    first = inserted_before(file, loop, *made) if made else ()
    return unsafe("Loop over the modules, index the rest", first, head, taken)


def containers_among(owner: ast.ClassDef, zipped: list[ast.expr]) -> list[ast.expr]:
    """Those of the arguments of ``zip`` that hold modules."""
    modules = [a for a in zipped if _holds_modules(owner, a)]
    if not modules and any(isinstance(a, ast.Name) for a in zipped):
        # What the constructor takes from elsewhere is, by torch's word, modules beside what is none.
        modules = [a for a in zipped if _is_unpacked(owner, a)]
    return modules


def index_in_comprehension(event: Event, owner: ast.ClassDef) -> Fix | None:
    """``[f(x) for f, x in zip(self.layers, xs)]`` becomes ``[f(xs[i]) for i, f in enumerate(self.layers)]``."""
    file = event.module.file
    found = [n for n in nodes_around(file, event.span.line) if isinstance(n, ast.ListComp)]
    part = found[-1].generators[0] if found and len(found[-1].generators) == 1 else None
    if (
        part is None
        or part.ifs
        or not isinstance(part.target, ast.Tuple)
        or not isinstance(part.iter, ast.Call)
    ):
        return None
    zipped, targets = part.iter.args, part.target.elts
    modules = containers_among(owner, zipped)
    if ast.unparse(part.iter.func) != "zip" or len(zipped) != 2 or len(targets) != 2 or len(modules) != 1:
        return None
    first = zipped[0] is modules[0]
    layer, item, source = (*targets, zipped[1]) if first else (targets[1], targets[0], zipped[0])
    if not isinstance(layer, ast.Name) or not isinstance(item, ast.Name):
        return None
    if not isinstance(source, (ast.Name, ast.Attribute)):
        return None
    index = fresh_name(file, "i")
    start, end = file.span(part.target), file.span(part.iter)
    whole = Span(start.line, start.column, end.end_line, end.end_column)
    head = edit(file, whole, f"{index}, {layer.id} in enumerate({ast.unparse(modules[0])})")
    uses = [n for n in ast.walk(found[-1].elt) if isinstance(n, ast.Name) and n.id == item.id]
    indexed = [rewritten(file, use, f"{ast.unparse(source)}[{index}]") for use in uses]
    return unsafe("Loop over the modules, index the rest", head, indexed)


def _is_unpacked(owner: ast.ClassDef, node: ast.expr) -> bool:
    """Whether an attribute is one of several that one value is unpacked into: ``self.loc, self.conf = heads``."""
    targets = [t for n in ast.walk(owner) if isinstance(n, ast.Assign) for t in n.targets]
    parts = {ast.unparse(e) for t in targets if isinstance(t, (ast.Tuple, ast.List)) for e in t.elts}
    plain = {ast.unparse(t) for t in targets if isinstance(t, ast.Attribute)}
    return isinstance(node, ast.Attribute) and ast.unparse(node) in parts - plain


def _holds_modules(owner: ast.ClassDef, node: ast.expr) -> bool:
    """Whether an expression is an attribute that the class makes a container of modules, or grows as one."""
    if not isinstance(node, ast.Attribute) or ast.unparse(node.value) != "self":
        return False
    values = [
        ast.unparse(n.value)
        for n in ast.walk(owner)
        if isinstance(n, ast.Assign) and [ast.unparse(t) for t in n.targets] == [f"self.{node.attr}"]
    ]
    return any(
        value.startswith(("nn.ModuleList", "nn.Sequential", "torch.nn.ModuleList", "ModuleList"))
        for value in values
    )
