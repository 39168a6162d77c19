"""Modules from statement to statement: created, put into a mode, scripted, traced, saved."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tsguard.analysis.api import calls
from tsguard.analysis.api.tracking import Env, Flow, Mode, Tracked
from tsguard.project.project import Definition
from tsguard.report.records import replace
from tsguard.source.unparsing import unparsed
from tsguard.source.walking import children

if TYPE_CHECKING:
    pass

# Methods that return the module itself and leave its mode alone.
_SAME = frozenset(
    {"to", "cuda", "cpu", "float", "half", "double", "bfloat16", "type", "requires_grad_", "share_memory"}
)
_BLOCKS = ("body", "orelse", "finalbody")
# Functions that are given a module and do nothing to its mode.
_HARMLESS = ("builtins.", "torch.save", "torch.optim.", "torch.nn.utils.", "torch.jit.", "torch.onnx.")


class StatementFlow(Flow):
    """The statements of one scope, in order."""

    def finish(self) -> None:
        """Report what only the whole file tells."""
        calls.finish(self)

    def run(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self._definition(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            value = self.value(node.value) if node.value is not None else None
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._bind(target, value)
        elif isinstance(node, (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try)):
            self._branches(node)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                self.value(item.context_expr)
            self.run(node.body)
        else:
            for child in children(node):
                if isinstance(child, ast.expr):
                    self.value(child)

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """A body is a scope of its own; what surrounds it may have changed when it runs."""
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call):
                for argument in decorator.args:
                    self.value(argument)
        inner = StatementFlow(self.usage)
        inner.traced = self.traced
        inner.run(node.body)

    def _bind(self, target: ast.expr, value: Tracked | None) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            for element in target.elts:
                self._bind(element, None)
        elif isinstance(target, (ast.Name, ast.Attribute)) and (self.env or value is not None):
            key = unparsed(target)
            if value is None:
                self.env.pop(key, None)
            else:
                self.env[key] = value

    def _branches(self, node: ast.If | ast.For | ast.AsyncFor | ast.While | ast.Try) -> None:
        """Each block may run or not: a mode that one of them changes is unknown after it."""
        for name in ("test", "iter"):
            if isinstance(expression := getattr(node, name, None), ast.expr):
                self.value(expression)
        before = self.env
        ends: list[Env] = (
            [] if isinstance(node, ast.Try) or (isinstance(node, ast.If) and node.orelse) else [before]
        )
        blocks = [block for name in _BLOCKS if (block := getattr(node, name, []))]
        blocks += [handler.body for handler in getattr(node, "handlers", [])]
        for block in blocks:
            self.env = dict(before)
            self.run(block)
            ends.append(self.env)
        self.env = _merged(ends)

    def value(self, node: ast.expr) -> Tracked | None:
        """Evaluate an expression as far as modules go; the calls in it are checked on the way."""
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self.env.get(unparsed(node)) if self.env else None
        if isinstance(node, ast.Lambda):
            StatementFlow(self.usage).value(node.body)
            return None
        for child in children(node):
            if isinstance(child, ast.expr):
                self.value(child)
            elif isinstance(child, ast.comprehension):
                self.value(child.iter)
        return None

    def _call(self, node: ast.Call) -> Tracked | None:
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value)
            if owner is not None:
                self._arguments(node)
                return self._method(owner, node.func, node)
        given = self._arguments(node)
        name = self.usage.names.dotted(node.func)
        handler = calls.HANDLERS.get(name)
        if handler is not None:
            return handler(self, node, given)
        if not name.startswith(_HARMLESS):
            self._hand_over(node)
        return self._made(node, name)

    def _arguments(self, node: ast.Call) -> list[Tracked | None]:
        given = [self.value(argument) for argument in node.args]
        for keyword in node.keywords:
            self.value(keyword.value)
        return given

    def _made(self, node: ast.Call, name: str) -> Tracked | None:
        """A call that may make a module: of a class or function of the project, or of a class of torch.nn."""
        names = self.usage.names
        meaning = names.meaning(node.func)
        if isinstance(meaning, Definition) and isinstance(meaning.node, (ast.ClassDef, ast.FunctionDef)):
            return Tracked("eager", node)
        described = names.program.tables.entry(name) if name else None
        is_layer = isinstance(described, dict) and described.get("class") == "module"
        return Tracked("eager", node) if is_layer else None

    def _hand_over(self, node: ast.Call) -> None:
        """A function that is given a module may put it into any mode."""
        if not self.env:
            return
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            if isinstance(argument, (ast.Name, ast.Attribute)):
                key = unparsed(argument)
                if key in self.env:
                    self.env[key] = replace(self.env[key], mode="unknown")

    def _method(self, owner: Tracked, function: ast.Attribute, node: ast.Call) -> Tracked | None:
        name, key = function.attr, unparsed(function.value)
        if name in ("eval", "train"):
            changed = replace(owner, mode=_mode(name, node))
            if key in self.env:
                self.env[key] = changed
            return changed
        if name in _SAME:
            return owner
        if name == "save":
            calls.check_saved(self, node, owner)
        elif name.endswith("_for_lite_interpreter"):
            self.usage.report("deprecated-entry-point/lite", node)
        elif key in self.env and name not in self.usage.names.program.tables.module_members:
            self.env[key] = replace(owner, mode="unknown")
        return None


def _mode(method: str, node: ast.Call) -> Mode:
    if method == "eval":
        return "eval"
    flags = [*node.args, *(keyword.value for keyword in node.keywords)]
    if not flags:
        return "train"
    flag = flags[0].value if isinstance(flags[0], ast.Constant) else None
    return "train" if flag is True else "eval" if flag is False else "unknown"


def _merged(ends: list[Env]) -> Env:
    """What holds whichever way was taken."""
    merged: Env = {}
    for key in set.intersection(*(set(end) for end in ends)) if ends else ():
        ways = [end[key] for end in ends]
        if all(way == ways[0] for way in ways):
            merged[key] = ways[0]
        elif all(replace(way, mode="unknown") == replace(ways[0], mode="unknown") for way in ways):
            merged[key] = replace(ways[0], mode="unknown")
    return merged
