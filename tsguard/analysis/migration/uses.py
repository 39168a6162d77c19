"""Uses of names of torch.jit in a file, with their replacements."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.analysis.api.names import ApiNames
from tsguard.analysis.events import Event
from tsguard.language.rule_names import RuleName
from tsguard.source.walking import children

if TYPE_CHECKING:
    from tsguard.analysis.python import Program
    from tsguard.project.modules import Module

_JIT = "torch.jit."
_FUNCTION: RuleName = "torchscript-use/function"
_OTHER: RuleName = "torchscript-use"
_RULES: dict[str, RuleName] = {
    **dict.fromkeys(("script", "jit_module_from_flatbuffer"), "torchscript-use/compile"),
    **dict.fromkeys(("trace", "trace_module"), "torchscript-use/traced"),
    **dict.fromkeys(("save", "save_jit_module_to_flatbuffer"), "torchscript-use/save"),
    **dict.fromkeys(("load", "mobile._load_for_lite_interpreter"), "torchscript-use/load"),
    **dict.fromkeys(
        ("freeze", "optimize_for_inference", "run_frozen_optimizations", "enable_onednn_fusion"),
        "torchscript-use/optimize",
    ),
    **dict.fromkeys(("ignore", "unused", "is_scripting", "is_tracing"), "torchscript-use/python"),
    "export": "torchscript-use/method",
    **dict.fromkeys(
        ("ScriptModule", "ScriptFunction", "RecursiveScriptModule", "script_method", "interface"),
        "torchscript-use/class",
    ),
    **dict.fromkeys(("annotate", "Attribute", "Final", "isinstance"), "torchscript-use/type"),
    **dict.fromkeys(("fork", "wait", "Future"), "torchscript-use/task"),
    "script_if_tracing": "torchscript-use/branch",
}


def uses_in(program: Program, module: Module) -> Iterator[Event]:
    """Each use of torch.jit in a file, in the order of the file."""
    if "jit" not in module.file.text:
        return
    names = ApiNames(program, module)
    for node, decorates in _expressions(module.file.tree):
        name = names.dotted(node)
        if name.startswith(_JIT):
            # Some are defined under a private name: torch.jit._fork.
            used = name.removeprefix(_JIT).removeprefix("_")
            is_function = decorates and used == "script"
            rule = _FUNCTION if is_function else _RULES.get(used, _of_folder(used))
            yield Event(rule, module, module.file.span(node), {"name": f"{_JIT}{used}"})


def _of_folder(used: str) -> RuleName:
    return "torchscript-use/type" if used.startswith("annotations.") else _OTHER


def _expressions(parent: ast.AST) -> Iterator[tuple[ast.Name | ast.Attribute, bool]]:
    """Names and dotted names as they are used, whole, and whether each decorates something."""
    decorators = getattr(parent, "decorator_list", ())
    for node in children(parent):
        if (isinstance(node, ast.Attribute) and _is_dotted(node)) or isinstance(node, ast.Name):
            yield node, node in decorators
        else:
            yield from _expressions(node)


def _is_dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
