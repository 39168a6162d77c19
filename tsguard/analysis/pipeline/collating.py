"""Batches built item by item where one operation would do, and compiled collate functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.analysis.events import Event, text_of
from tsguard.analysis.pipeline.arrays import is_tensor
from tsguard.analysis.pipeline.context import ItemCode, Pipeline
from tsguard.analysis.pipeline.frames import Frame, Loop
from tsguard.analysis.pipeline.loaders import Loader
from tsguard.analysis.pipeline.names import PipelineNames
from tsguard.language.rule_names import RuleName
from tsguard.source.walking import walked

_COMPILERS: dict[str, RuleName] = {
    "torch.jit.script": "compiled-collate",
    "torch.jit.trace": "compiled-collate/traced",
}
_STACKERS = frozenset(
    {"torch.stack", "torch.cat", "torch.concat", "torch.concatenate", "torch.vstack", "torch.hstack"}
)
_CONVERTERS = frozenset({"torch.tensor", "torch.Tensor", "torch.FloatTensor", "torch.LongTensor"})
_CATS = frozenset({"torch.cat", "torch.concat", "torch.concatenate", "torch.vstack", "torch.hstack"})
_Comprehension = ast.ListComp | ast.GeneratorExp


def check(pipeline: Pipeline) -> Iterator[Event]:
    for loader in pipeline.loaders:
        yield from _compiled(pipeline, loader)
    for code in pipeline.item_code:
        for call, site in pipeline.calls_in(code.frame):
            yield from _converted_one_by_one(pipeline, call, code)
            yield from _tensor_of_tensors(pipeline, call, code)
            if site.loops:
                yield from _grown_by_cat(pipeline, call, site.loops[-1], code.names, code.frame)
        if code.role == "collate":
            yield from _items_one_by_one(pipeline, code)
    for loop in pipeline.loops:
        for call, site in pipeline.calls_in(loop.frame):
            if site.loops and site.loops[-1] is loop.loop:
                yield from _grown_by_cat(pipeline, call, loop.loop, pipeline.names, loop.frame)


def _compiled(pipeline: Pipeline, loader: Loader) -> Iterator[Event]:
    """A collate function that torch.jit has compiled: named so, decorated so, or in place."""
    given = loader.argument("collate_fn")
    if given is None:
        return
    value, where = loader.names.origin(given, loader.frame)
    rule = _COMPILERS.get(loader.names.qualified(value.func, where)) if isinstance(value, ast.Call) else None
    definition = loader.names.definition(given, loader.frame)
    for decorator in getattr(definition.node, "decorator_list", ()) if definition is not None else ():
        names = pipeline.names_of(definition.module) if definition is not None else loader.names
        plain = decorator.func if isinstance(decorator, ast.Call) else decorator
        rule = rule or _COMPILERS.get(names.qualified(plain, names.survey.top))
    if rule:
        yield pipeline.event(rule, given, function=text_of(given, 30))


def _converted_one_by_one(pipeline: Pipeline, call: ast.Call, code: ItemCode) -> Iterator[Event]:
    """``torch.stack([torch.tensor(x) for x in ...])``."""
    if code.names.qualified(call.func, code.frame) not in _STACKERS or not call.args:
        return
    listed = call.args[0]
    if not isinstance(listed, (ast.ListComp, ast.GeneratorExp)) or not isinstance(listed.elt, ast.Call):
        return
    converter = code.names.qualified(listed.elt.func, code.frame)
    if (
        converter in _CONVERTERS
        and len(listed.elt.args) == 1
        and not isinstance(listed.elt.args[0], ast.List)
    ):
        stacker, convert = text_of(call.func, 30), text_of(listed.elt.func, 30)
        # Rows that are put behind one another need not be of one length.
        is_cat = stacker.endswith("cat")
        yield pipeline.event(
            "converted-one-by-one",
            call,
            stacker=stacker,
            converter=convert,
            numbers="all_numbers_in_one_list" if is_cat else "list_of_numbers",
            join="concatenate" if is_cat else "stack",
        )


def _tensor_of_tensors(pipeline: Pipeline, call: ast.Call, code: ItemCode) -> Iterator[Event]:
    if code.names.qualified(call.func, code.frame) != "torch.tensor" or not call.args:
        return
    listed, where = code.names.origin(call.args[0], code.frame)
    elements = listed.elts if isinstance(listed, ast.List) else []
    if isinstance(listed, (ast.ListComp, ast.GeneratorExp)):
        elements = [listed.elt]
    if elements and all(is_tensor(element, code.names, where) for element in elements):
        yield pipeline.event("tensor-of-tensors", call, element=text_of(elements[0], 40))


def _items_one_by_one(pipeline: Pipeline, code: ItemCode) -> Iterator[Event]:
    """``[x.item() for x in tensor]``."""
    for node in walked(code.function):
        if not isinstance(node, (ast.ListComp, ast.GeneratorExp)) or len(node.generators) != 1:
            continue
        generator = node.generators[0]
        if _is_item_of(node.elt, generator.target) and not generator.ifs:
            yield pipeline.event("item-one-by-one", node, source=text_of(generator.iter, 30))


def _is_item_of(element: ast.expr, target: ast.expr) -> bool:
    if not (isinstance(element, ast.Call) and isinstance(element.func, ast.Attribute) and not element.args):
        return False
    read = element.func.value
    named = isinstance(read, ast.Name) and isinstance(target, ast.Name) and read.id == target.id
    return element.func.attr == "item" and named


def _grown_by_cat(
    pipeline: Pipeline, call: ast.Call, loop: Loop, names: PipelineNames, frame: Frame
) -> Iterator[Event]:
    """``out = torch.cat([out, part])`` in a loop that does nothing else with ``out``."""
    if names.qualified(call.func, frame) not in _CATS or not call.args:
        return
    parts = call.args[0].elts if isinstance(call.args[0], (ast.List, ast.Tuple)) else []
    assigned = _assigned_name(call, loop)
    grown = [part for part in parts if isinstance(part, ast.Name) and part.id == assigned]
    if len(grown) == 1 and len(parts) > 1 and _is_only_grown(assigned, grown[0], loop):
        yield pipeline.event("grown-by-cat", call, name=assigned, call=text_of(call.func, 30))


def _assigned_name(call: ast.Call, loop: Loop) -> str:
    for node in walked(loop):
        if isinstance(node, ast.Assign) and node.value is call and len(node.targets) == 1:
            return getattr(node.targets[0], "id", "")
    return ""


def _is_only_grown(name: str, part: ast.Name, loop: Loop) -> bool:
    """Whether the loop reads a name nowhere else, so that a list would do until it ends."""
    reads = (
        node
        for node in walked(loop)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    )
    return name != "" and all(node is part for node in reads) and not _sets_otherwise(name, loop)


def _sets_otherwise(name: str, loop: Loop) -> bool:
    stores = [
        n for n in walked(loop) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
    ]
    return len(stores) > 1
