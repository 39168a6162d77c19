"""What was not read and so may be anything: in words, with the one thing to do about it.

A gap names the statement by which such a thing comes into the code, so that one cause is one
gap however often it is used and however many targets it stands behind.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis.events import Gap, text_of

if TYPE_CHECKING:
    from tsguard.project import Project
    from tsguard.project.modules import Module
    from tsguard.project.project import Missing

_ENVIRONMENT = "name the environment that has it: `python` in the configuration, or VIRTUAL_ENV"
_ASK_TORCH = "`tsguard check` asks torch itself"


def source(project: Project, missing: Missing, module: Module, node: ast.AST | None) -> Gap:
    """Of an imported name: its package is not installed where packages are read, or does not show it."""
    package, _, rest = missing.name.partition(".")
    if missing.why:
        return _gap(module, node, f"the source of {missing.name} cannot be read: {missing.why}", _ASK_TORCH)
    if project.finder.find(package, module) is None:
        return _gap(module, node, f'the source of package "{package}" cannot be found', _ENVIRONMENT)
    return _gap(
        module,
        node,
        f'"{rest or missing.name}" of package "{package}" is not found in its source',
        _ASK_TORCH,
    )


def stub(name: str, module: Module, node: ast.AST | None) -> Gap:
    """Of an imported name: of the module that defines it, only a stub is there."""
    return _gap(module, node, f"only a stub of {name} is installed, not its source", _ASK_TORCH)


def base(module: Module, node: ast.ClassDef) -> Gap:
    """Of a class: one of its bases is no class that can be read."""
    return _gap(module, node, f"a base class of {node.name} cannot be found", _ASK_TORCH)


def abstract(module: Module, node: ast.AST) -> Gap:
    """Of a class whose forward does nothing: what torch makes of it tells nothing about those derived from it."""
    return _gap(module, node, "its forward is abstract", "judge a class that overrides it")


def depth(module: Module, node: ast.AST) -> Gap:
    """Of a function's result: the calls that give it nest without an end in sight."""
    return _gap(module, node, "the calls nest too deeply to follow", _ASK_TORCH)


def use(module: Module, node: ast.AST) -> Gap:
    """Of a value that compiled code uses: what makes it is not followed."""
    return _gap(module, node, f"what {text_of(node)} is, is not told by the source", _ASK_TORCH)


def _gap(module: Module, node: ast.AST | None, why: str, help_: str) -> Gap:
    return Gap(module, getattr(node, "lineno", 1), why, help_)
