"""The compilation of one function: its signature, environments and result.

Source: torch/csrc/jit/frontend/ir_emitter.cpp (``to_ir``).
"""

from __future__ import annotations

import ast

from tsguard.analysis.script import assignments, expressions, none_defaults, returns, statements, unreached
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.results import OwnSchema
from tsguard.analysis.script.sugared import Simple, Sugared, Value
from tsguard.language import types as t
from tsguard.language.schemas import Schema
from tsguard.source.functions import named_parameters


class BodyCompiler(FunctionCompiler):
    """The compiler of a body, with the emitters bound to what it meets."""

    def run(self) -> Schema:
        """Compile the body and return the schema that callers see."""
        self._bind_parameters()
        self.declared = self.signature.returns
        statements.emit_all(self, self.node.body)
        self._handle_no_return()
        returns = self.declared or self.merged or t.NONE
        if self.failed and self.declared is None:
            returns = t.UNKNOWN if self.merged is None or t.mentions_unknown(self.merged) else self.merged
        arguments = none_defaults.arguments(self)
        return OwnSchema(self.node.name, "", arguments, returns, unlike=self.unlike, module=self.module)

    def _bind_parameters(self) -> None:
        if self.receiver is not None and self.signature.receiver:
            self.frame.sugared[self.signature.receiver] = self.receiver
        spec = self.node.args
        parameters = {arg.arg: arg for arg in named_parameters(spec)}
        for argument in self.signature.arguments:
            if argument.name in parameters:
                self.noted(parameters[argument.name], Simple(Value(argument.type)))
            inferred = argument.name in self.signature.inferred
            self.frame.variables[argument.name] = Value(
                argument.type,
                parameter=argument.name if inferred else "",
                missing=argument.name in self.signature.none_defaults
                and argument.name not in none_defaults.never_none(self),
            )

    def _handle_no_return(self) -> None:
        if self.frame.exits:
            if self.merged is None:
                self.merged = self.declared or (t.UNKNOWN if self.failed else t.NONE)
            return
        if self.declared not in (None, t.NONE, t.UNKNOWN) and not self.failed:
            self.report(Refusal("missing-return", self.node, function=self.node.name, declared=self.declared))
        elif self.declared is None and self.merged is not None and not self.failed:
            joint = returns.merged_return(self, self.merged, t.NONE, self.node)
            self.merged = joint

    @property
    def is_passed_by(self) -> bool:
        return unreached.is_passed_by(self)

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

    def set_variable(self, name: str, value: Sugared, node: ast.AST, annotated: t.Type | None = None) -> None:
        """Assign a variable, as control flow allows."""
        assignments.set_variable(self, name, value, node, annotated)
