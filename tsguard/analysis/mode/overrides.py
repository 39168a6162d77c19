"""``train()`` and ``eval()`` as classes override them, and as constructors call them."""

from __future__ import annotations

import ast

from tsguard.analysis.mode import activity
from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.analysis.python import ancestry, classes
from tsguard.analysis.python.following import Place
from tsguard.analysis.python.library import descendants
from tsguard.analysis.values import ClassValue, External, FunctionValue, ModuleValue
from tsguard.language.modes import LAYERS
from tsguard.language.rule_names import RuleName
from tsguard.source.walking import walked


def check(walk: ModeInterpreter) -> None:
    """Report overrides of train() that break eval() or the chaining of calls."""
    seen = dict.fromkeys(m.cls for m in walk.tree.paths if isinstance(m.cls, ClassValue))
    for cls in seen:
        found = classes.class_member(walk, cls, "train")
        if found is None or not isinstance(found[0], FunctionValue):
            continue
        function = found[0]
        if isinstance(function.node, ast.FunctionDef) and function.module is walk.target.module:
            rule = _broken(function.node)
            if rule is not None:
                walk.report_at(
                    rule,
                    [Place(function.module, function.node)],
                    None,
                    name=getattr(found[1], "name", cls.name),
                )


def _broken(node: ast.FunctionDef) -> RuleName | None:
    parameters = node.args
    if len(parameters.posonlyargs) + len(parameters.args) < 2 and parameters.vararg is None:
        return "train-override/no-mode"
    returns = [n for n in walked(node) if isinstance(n, ast.Return) and n.value is not None]
    raises = isinstance(node.body[-1], ast.Raise)
    return None if returns or raises else "train-override"


def report_thawed(walk: ModeInterpreter, root: ModuleValue) -> None:
    """Report layers that the constructor puts into eval mode and the next train() takes out again."""
    for module, path in walk.tree.paths.items():
        if path and module.training is False and module.switched is not None and walk.tree.flag(module)[0]:
            depends = any(_depends(walk, layer) for _, layer in descendants(module))
            place = _constructor_with(walk, root, module.switched) if depends else None
            if place is not None:
                walk.report_at("eval-undone-by-train", [place], None, name=path)


def _constructor_with(walk: ModeInterpreter, root: ModuleValue, node: ast.AST) -> Place | None:
    """A node of one of the constructors that made a target, with the file that it lies in."""
    for cls in dict.fromkeys(module.cls for _, module in descendants(root)):
        for base in ancestry.mro(walk, cls):
            constructor = base.members.get("__init__") if isinstance(base, ClassValue) else None
            if isinstance(constructor, FunctionValue) and any(n is node for n in walked(constructor.node)):
                return Place(constructor.module, node)
    return None


def _depends(walk: ModeInterpreter, module: ModuleValue) -> bool:
    bases = (base.name for base in ancestry.mro(walk, module.cls) if isinstance(base, External))
    use = next((LAYERS[name] for name in bases if name in LAYERS), None)
    return use is not None and bool(use.flag) and activity.of_layer(walk, use, module, (True, False)).train
