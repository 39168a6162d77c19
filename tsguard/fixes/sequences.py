"""Fixes of unpacking: of Tensors, of lists in calls, of targets in brackets."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.fixes.annotations import annotate_by_use, annotate_parameter
from tsguard.fixes.blocks import around, fresh_name, inserted_before, statement_around
from tsguard.fixes.composing import composed, safe, unsafe
from tsguard.fixes.edits import between, edit
from tsguard.fixes.lazily import cst
from tsguard.fixes.pieces import changed_statement, rewritten
from tsguard.fixes.places import Function, functions_around, nodes_around, nodes_at
from tsguard.report import Applicability, Edit, Fix
from tsguard.source import SourceFile
from tsguard.source.functions import named_parameters

if TYPE_CHECKING:
    from tsguard.analysis.events import Event

_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
# Methods of Tensors that take their sizes as one list too.
_TAKING_SIZES = frozenset(
    {"view", "reshape", "expand", "repeat", "permute", "new_zeros", "new_ones", "new_empty", "tile"}
)
_MAKING = frozenset({"zeros", "ones", "empty", "rand", "randn"})


def unbind_or_type(event: Event) -> Fix | None:
    """``a, b = pair`` of a parameter that nothing else is done with is taken for one of a tuple, and annotated so.

    What the docstring says of the parameter comes first.
    """
    name = event.facts["parameter"]
    told = annotate_by_use(event)
    if told is not None:
        return told
    functions = functions_around(event.module.file, event.span)
    outer = statement_around(event.module.file, event.span)
    target = outer.targets[0] if isinstance(outer, ast.Assign) else None
    uses = (
        [n for n in ast.walk(functions[0]) if isinstance(n, ast.Name) and n.id == name] if functions else []
    )
    if len(uses) != 1 or not isinstance(outer, ast.Assign) or outer.value is not uses[0]:
        return unbind(event)
    if not isinstance(target, (ast.Tuple, ast.List)) or any(isinstance(e, ast.Starred) for e in target.elts):
        return None
    type_ = f"Tuple[{', '.join(['Tensor'] * len(target.elts))}]"
    return annotate_parameter(event.module, functions[0], name, type_)


def unbind(event: Event) -> Fix | None:
    """``q, k, v = qkv`` of a Tensor becomes ``q, k, v = qkv.unbind(0)``.

    Unsafe where it is a Tensor for want of an annotation, and of what code of the file returns.
    """
    file = event.module.file
    node = next(nodes_at(file, event.span, ast.expr), None)
    if not isinstance(node, ast.expr) or isinstance(node, ast.Tuple) or _is_of_any_item(file, node):
        return None
    if event.facts["value"] not in (ast.unparse(node), f"{ast.unparse(node)[:57]}..."):
        return None  # a part of what is written there
    text = between(file, file.span(node))
    change = rewritten(file, node, f"{text}.unbind(0)" if isinstance(node, _ATOMS) else f"({text}).unbind(0)")
    kind: Applicability = "unsafe" if _may_be_tuple(event, node) else "safe"
    return composed(kind, "Unbind the Tensor", change)


def _may_be_tuple(event: Event, node: ast.expr) -> bool:
    """Whether a value is a parameter without a type or part of one, or what code of the file returns.

    Who unpacks it may take it for a tuple.
    """
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func).rpartition(".")[2]
        definitions = (n for n in ast.walk(event.module.file.tree) if isinstance(n, Function))
        return any(definition.name == called for definition in definitions)
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    functions = functions_around(event.module.file, event.span)
    untyped = {p.arg for f in functions for p in named_parameters(f.args) if p.annotation is None}
    return isinstance(node, ast.Name) and node.id != "self" and node.id in untyped


def _is_of_any_item(file: SourceFile, node: ast.expr) -> bool:
    """Whether a value is what the item of a loop gives, called: another module may give a tuple."""
    if not isinstance(node, ast.Call):
        return False
    called = {n.id for n in ast.walk(node.func) if isinstance(n, ast.Name)}
    loops = [n for n in nodes_around(file, node.lineno) if isinstance(n, (ast.For, ast.comprehension))]
    return any(isinstance(n, ast.Name) and n.id in called for loop in loops for n in ast.walk(loop.target))


def unbracket(event: Event) -> Fix | None:
    """``[a, b] = pair`` becomes ``a, b = pair``."""
    file = event.module.file
    nodes = [n for n in nodes_around(file, event.span.line) if isinstance(n, ast.List)]
    node = next((n for n in nodes if file.span(n) == event.span and isinstance(n.ctx, ast.Store)), None)
    if node is None or not node.elts:
        return None
    inner = ", ".join(between(file, file.span(element)) for element in node.elts)
    change = rewritten(file, node, inner if len(node.elts) > 1 else f"({inner},)")
    return safe("Write the targets without brackets", change)


def take_list(event: Event) -> Fix | None:
    """A list in the place of values: passed as a list, or taken item by item."""
    return _index_list(event) or pass_list(event)


def _index_list(event: Event) -> Fix | None:
    """``b, n, h = *x.shape, heads`` becomes ``b, n, h = x.shape[0], x.shape[1], heads``.

    Unsafe: where there are more items than names, Python raises and this does not.
    """
    file = event.module.file
    outer = statement_around(file, event.span)
    value = outer.value if isinstance(outer, ast.Assign) and len(outer.targets) == 1 else None
    target = outer.targets[0] if isinstance(outer, ast.Assign) else None
    if not isinstance(value, (ast.Tuple, ast.List)) or not isinstance(target, (ast.Tuple, ast.List)):
        return None
    stars = [e for e in value.elts if isinstance(e, ast.Starred)]
    count = len(target.elts) - len(value.elts) + 1
    if len(stars) != 1 or count < 1 or any(isinstance(e, ast.Starred) for e in target.elts):
        return None
    listed = stars[0].value
    if not isinstance(listed, (ast.Name, ast.Attribute, ast.Subscript)):
        return None
    text = between(file, file.span(listed))
    items = ", ".join(f"{text}[{index}]" for index in range(count))
    return unsafe(f"Take the items of {text}", edit(file, file.span(stars[0]), items))


def pass_list(event: Event) -> Fix | None:
    """``x.view(*shape, heads, -1)`` becomes ``x.view(list(shape) + [heads, -1])``."""
    file = event.module.file
    call = _call_with_star(event)
    if call is None or call.keywords or not isinstance(call.func, ast.Attribute):
        return None
    is_torch = isinstance(call.func.value, ast.Name) and call.func.value.id == "torch"
    if call.func.attr not in (_MAKING if is_torch else _TAKING_SIZES):
        return None
    if call.func.attr in ("permute", "repeat", "tile") and is_torch:
        return None
    parts: list[str] = []
    single: list[str] = []
    for arg in call.args:
        if isinstance(arg, ast.Starred):
            if single:
                parts.append(f"[{', '.join(single)}]")
                single = []
            parts.append(_as_list(file, arg.value))
        else:
            single.append(between(file, file.span(arg)))
    if single:
        parts.append(f"[{', '.join(single)}]")
    function = between(file, file.span(call.func))
    change = rewritten(file, call, f"{function}({' + '.join(parts)})")
    return safe("Pass the sizes as a list", change)


def _as_list(file: SourceFile, node: ast.expr) -> str:
    text = between(file, file.span(node))
    return text if isinstance(node, ast.List) else f"list({text})"


def _call_with_star(event: Event) -> ast.Call | None:
    file = event.module.file
    calls = [n for n in nodes_around(file, event.span.line) if isinstance(n, ast.Call)]
    calls = [c for c in calls if any(isinstance(a, ast.Starred) for a in c.args)]
    exact = [c for c in calls if file.span(c) == event.span]
    if exact:
        return exact[0]
    for call in around(file, event.span, ast.Call):
        if any(isinstance(a, ast.Starred) for a in call.args):
            return call
    return next((c for c in calls if c.lineno == event.span.line), None)


def keep_list(event: Event) -> Fix | None:
    """``x.view(tuple(shape))`` becomes ``x.view(shape)``.

    Unsafe: who tells tuples from lists sees another type.
    """
    file = event.module.file
    call = next(nodes_at(file, event.span, ast.Call), None)
    call = call or next((c for c in around(file, event.span, ast.Call) if _is_tuple(c)), None)
    if call is None or not _is_tuple(call) or len(call.args) != 1 or _is_added(file, event, call):
        return None
    if _is_declared(file, event, call):
        return None
    inner = call.args[0]
    text = between(file, file.span(inner))
    if isinstance(inner, ast.GeneratorExp):
        text = f"[{text[1:-1] if text.startswith('(') else text}]"
    elif is_no_list(inner):
        text = f"list({text})"
    return unsafe("Keep the list", rewritten(file, call, text))


def _is_added(file: SourceFile, event: Event, call: ast.Call) -> bool:
    """Whether the tuple, or a part of it, may be added to another, which takes no list."""
    function = next(iter(functions_around(file, event.span)), None)
    within = list(ast.walk(function if function is not None else file.tree))
    stored = [node.targets for node in within if isinstance(node, ast.Assign) and node.value is call]
    names = {target.id for targets in stored for target in targets if isinstance(target, ast.Name)}
    sums = (node for node in within if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add))
    operands = [side for node in sums for side in (node.left, node.right)]
    parts = (side.value if isinstance(side, ast.Subscript) else side for side in operands)
    return any(part is call or (isinstance(part, ast.Name) and part.id in names) for part in parts)


def _is_declared(file: SourceFile, event: Event, call: ast.Call) -> bool:
    """Whether a result or a variable is annotated as the tuple that the call makes."""
    outer = statement_around(file, event.span)
    function = next(iter(functions_around(file, event.span)), None)
    if isinstance(outer, ast.AnnAssign):
        return outer.value is call
    declared = function.returns if function is not None else None
    return isinstance(outer, ast.Return) and outer.value is call and "uple[" in ast.unparse(declared or call)


_NO_LISTS = frozenset({"range", "zip", "map", "filter", "reversed", "enumerate", "set", "iter"})


def is_no_list(value: ast.expr) -> bool:
    """Whether a value is what Python can go through but not index or pass where a list is taken."""
    return isinstance(value, ast.Call) and ast.unparse(value.func) in _NO_LISTS


def _is_tuple(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "tuple"


def slice_the_rest(event: Event) -> Fix | None:
    """``first, *rest = xs`` of a list becomes ``first, rest = xs[0], list(xs[1:])``.

    Unsafe: where there are fewer items than names, Python raises and this may not.
    """
    file = event.module.file
    statements = around(file, event.span, ast.Assign)
    if not statements or len(statements[0].targets) != 1:
        return None
    target, value = statements[0].targets[0], statements[0].value
    if not isinstance(target, (ast.Tuple, ast.List)):
        return None
    stars = [i for i, element in enumerate(target.elts) if isinstance(element, ast.Starred)]
    if len(stars) != 1:
        return None
    if isinstance(value, ast.GeneratorExp) or is_no_list(value):
        return None
    text = between(file, file.span(value))
    first: Edit | tuple[()] | None = ()
    if not isinstance(value, (ast.Name, ast.Attribute)):
        name = fresh_name(file, "items")
        first = inserted_before(file, statements[0], f"{name} = {text}")
        text = name
        if first is None or "\n" in first.content.strip():
            return None
    items = _items_round_slice(text, stars[0], len(target.elts))

    def change(line: cst.BaseSmallStatement) -> cst.BaseSmallStatement | None:
        names = line.targets[0].target if isinstance(line, cst.Assign) else None
        if not isinstance(names, (cst.Tuple, cst.List)):
            return None
        star = names.elements[stars[0]]
        plain = cst.Element(star.value, comma=star.comma)
        changed = line.deep_replace(star, plain)
        assert isinstance(changed, cst.Assign)
        return changed.with_changes(value=cst.parse_expression(", ".join(items)))

    return unsafe("Slice the rest", first, changed_statement(file, statements[0], change))


def _items_round_slice(text: str, at: int, total: int) -> list[str]:
    """The items of a list called ``text``, those that a star at a place among ``total`` names takes as one slice."""
    after = total - at - 1
    rest = f"list({text}[{at if at else ''}:{-after if after else ''}])"
    return [*(f"{text}[{i}]" for i in range(at)), rest, *(f"{text}[{i}]" for i in range(-after, 0))]
