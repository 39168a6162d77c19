"""One function under compilation: its signature, its environments, its result.

Source: torch/csrc/jit/frontend/ir_emitter.cpp (``to_ir``).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Literal

from tsguard.analysis import unread
from tsguard.analysis.events import text_of
from tsguard.analysis.scopes import Scope
from tsguard.analysis.script import expressions, none_defaults, statements
from tsguard.analysis.script.environment import Frame
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.signatures import Signature
from tsguard.analysis.script.sugared import Simple, Sugared, UnknownS, Value
from tsguard.language import types as t
from tsguard.language.schemas import Schema
from tsguard.project.modules import Module
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.script.compiler import Compiler

Loop = Literal["", "loop", "unrolled"]


class FunctionCompiler:
    """The state of compiling one function.

    ``scope`` is where its global names are looked up: a decorator's, whose module is not the
    ``module`` that the code stands in.  ``receiver`` is what ``self`` is;
    ``branches`` holds the side of each compiled if that is statically taken, None for both;
    ``raising`` tells that an error is being made; ``none_tested`` the tests of parameters that default to None without being Optional,
    None for those that are reported; ``asks_for_none`` the parameters passed on to who does.
    """

    def __init__(
        self,
        compiler: Compiler,
        node: ast.FunctionDef,
        scope: Scope,
        module: Module,
        signature: Signature,
        receiver: Sugared | None = None,
    ) -> None:
        self.compiler = compiler
        self.node = node
        self.scope = scope
        self.module = module
        self.signature = signature
        self.receiver = receiver
        self.frame = Frame()
        self.declared: t.Type | None = None
        self.merged: t.Type | None = None
        self.loop: Loop = ""
        self.failed = False
        self.left_early = False
        self.raising = False
        self.branches: dict[int, bool | None] = {}
        self.none_tested: dict[str, ast.expr | None] = {}
        self.asks_for_none: set[str] = set()
        self.causes: set[tuple[str, str]] = set()
        self.temporary = 0
        self._called: set[int] | None = None

    def run(self) -> Schema:
        """Compile the body and return the schema that callers see."""
        self._bind_parameters()
        self.declared = self.signature.returns
        statements.emit_all(self, self.node.body)
        self._handle_no_return()
        returns = self.declared or self.merged or t.NONE
        if self.failed and self.declared is None:
            returns = t.UNKNOWN if self.merged is None or t.mentions_unknown(self.merged) else self.merged
        return Schema(self.node.name, "", none_defaults.arguments(self), returns)

    def _bind_parameters(self) -> None:
        if self.receiver is not None and self.signature.receiver:
            self.frame.sugared[self.signature.receiver] = self.receiver
        spec = self.node.args
        parameters = {arg.arg: arg for arg in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
        for argument in self.signature.arguments:
            if argument.name in parameters:
                self.noted(parameters[argument.name], Simple(Value(argument.type)))
            inferred = argument.name in self.signature.inferred
            self.frame.variables[argument.name] = Value(
                argument.type,
                parameter=argument.name if inferred else "",
                missing=argument.name in self.signature.none_defaults,
            )

    def _handle_no_return(self) -> None:
        if self.frame.exits:
            if self.merged is None:
                self.merged = self.declared or (t.UNKNOWN if self.failed else t.NONE)
            return
        if self.declared not in (None, t.NONE, t.UNKNOWN) and not self.failed:
            self.report(Refusal("missing-return", self.node, function=self.node.name, declared=self.declared))
        elif self.declared is None and self.merged is not None and not self.failed:
            joint = statements.merged_return(self, self.merged, t.NONE, self.node)
            self.merged = joint

    @property
    def is_certain(self) -> bool:
        """Whether what is compiled now runs in every call of the function that does not raise."""
        return self.frame.parent is None and not self.left_early

    # -- what the emitters share ---------------------------------------------------

    def report(self, refusal: Refusal) -> None:
        """Record a refusal, one for each cause; the walk goes on."""
        self.failed = True
        refusal = none_defaults.widened(self, refusal)
        if refusal.cause not in self.causes:
            self.causes |= {refusal.cause} if refusal.cause else set()
            self.compiler.report(refusal, self.module)

    def expression(self, node: ast.expr, hint: t.Type | None = None) -> Value:
        """The typed value of an expression."""
        return expressions.emit(self, node, hint)

    def sugared(self, node: ast.expr, hint: t.Type | None = None) -> Sugared:
        """The sugared value of an expression."""
        return expressions.emit_sugared(self, node, hint)

    def attempt(self, node: ast.expr, hint: t.Type | None = None) -> Value:
        """The value of a part whose refusal must not hide refusals in other parts."""
        try:
            return self.expression(node, hint)
        except Refusal as refusal:
            self.report(refusal)
            return Value(t.UNKNOWN, node=node)

    def lookup(self, name: str, node: ast.AST) -> Sugared:
        """What a name means here.

        Raises:
            Refusal: it means nothing, or a branch has left it undefined.
        """
        found = self.frame.find(name)
        if found is not None:
            return found
        unusable = self.frame.root.unusable.get(name)
        if unusable is not None:
            raise Refusal(unusable.rule, unusable.node or node, **unusable.facts)
        if name in self.signature.positional_only:
            raise Refusal("parameter-kind/positional-only", node, name=name)
        return self.compiler.names.resolve(self, name, node)

    def noted(self, node: ast.AST, value: Sugared) -> Sugared:
        """A value, of which the observer hears if there is one."""
        observer = self.compiler.interp.program.observer
        if observer is not None:
            observer.compiled(self.module, node, value)
        return value

    def push(self) -> Frame:
        self.frame = Frame(self.frame)
        return self.frame

    def pop(self) -> Frame:
        frame = self.frame
        assert frame.parent is not None
        self.frame = frame.parent
        return frame

    def set_variable(self, name: str, value: Sugared, node: ast.AST, annotated: t.Type | None = None) -> None:
        """Assign a variable, as control flow allows."""
        from tsguard.analysis.script import assignments

        assignments.set_variable(self, name, value, node, annotated)

    def temporary_name(self) -> str:
        self.temporary += 1
        return f"${self.temporary}"

    def is_called(self, node: ast.expr) -> bool:
        """Whether an expression of the function is what a call calls."""
        if self._called is None:
            self._called = {id(call.func) for call in walked(self.node) if isinstance(call, ast.Call)}
        return id(node) in self._called

    def unread(self, node: ast.AST) -> None:
        """Note that what a part of the code means is not told by the source."""
        self.compiler.reporter.add_gap(unread.use(self.module, node))

    def describe(self, node: ast.AST) -> str:
        return text_of(node)


def as_unknown(value: Sugared) -> bool:
    """Whether nothing is known of a sugared value."""
    return isinstance(value, UnknownS) or (isinstance(value, Simple) and value.value.type is t.UNKNOWN)
