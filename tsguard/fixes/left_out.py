"""What need not be compiled is left out: branches under flags that are settled, properties that nobody reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.fixes.blocks import receiver
from tsguard.fixes.edits import indentation, insertion_above
from tsguard.fixes.final_flags import final_flag
from tsguard.fixes.imports import torch_imported
from tsguard.fixes.places import Function, nodes_around
from tsguard.report import Fix

if TYPE_CHECKING:
    from tsguard.project.modules import Module


def left_out(module: Module, line: int) -> Iterator[Fix]:
    """What may spare torch a line of a method: whether that helps only torch can tell."""
    nodes = list(nodes_around(module.file, line))
    owners = [n for n in nodes if isinstance(n, ast.ClassDef)]
    methods = [n for n in nodes if isinstance(n, Function) and owners and n in owners[-1].body]
    if not methods or receiver(methods[0]) is None:
        return
    owner, method = owners[-1], methods[0]
    if any(ast.unparse(d) == "property" for d in method.decorator_list):
        yield from _unused_property(module, method)
        return
    tests = [n.test for n in nodes if isinstance(n, (ast.If, ast.IfExp))]
    for test in reversed(tests):
        fix = final_flag(module, owner, test)
        if fix is not None:
            yield fix


def _unused_property(module: Module, method: Function) -> Iterator[Fix]:
    """``@property`` under ``@torch.jit.unused``: torch compiles every other property of what it scripts."""
    file = module.file
    torch = torch_imported(module, method.lineno)
    if torch is None or any("jit" in ast.unparse(d) for d in method.decorator_list):
        return
    indent = indentation(file.lines[method.lineno - 1])
    added = insertion_above(file, method, f"{indent}@torch.jit.unused{file.newline}")
    yield Fix("safe", f"Leave the property {method.name} out", (*torch, added))
