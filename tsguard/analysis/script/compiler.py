"""The compiler: compiles each part of a target once, and keeps every refusal.

Source: torch/jit/_recursive.py (``create_script_module``, ``infer_methods_to_compile``).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.python import ancestry, decorators
from tsguard.analysis.python.context import Interpreter
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.script import (
    classes,
    lost_decorators,
    module_assignments,
    module_attributes,
    module_calls,
    module_compilation,
    module_items,
    notes,
    overload_checks,
    signatures,
)
from tsguard.analysis.script.class_memory import ClassMemory
from tsguard.analysis.script.class_types import class_type
from tsguard.analysis.script.compilation_cache import CompilationCache, is_shared
from tsguard.analysis.script.compiled import ModuleInfo, ScriptClass, Signature
from tsguard.analysis.script.concrete_types import concrete_type
from tsguard.analysis.script.context import Compiler, FunctionCompiler
from tsguard.analysis.script.function import BodyCompiler
from tsguard.analysis.script.layers import layer_key
from tsguard.analysis.script.modules import describe
from tsguard.analysis.script.names import PythonNames, is_context
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.reports import Entered, Settled
from tsguard.analysis.script.sugared import Sugared, SugaredModule, Value
from tsguard.analysis.script.syntax import refused_in, size_of
from tsguard.analysis.values import Scope
from tsguard.language import types as t
from tsguard.language.schemas import Schema, of_anything
from tsguard.project import Target
from tsguard.project.modules import Module

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tsguard.analysis.script.sugared import Args, Kwargs


_LAYERS: Kept[Hashable, ModuleInfo] = Kept()
_UNCOMPILABLE: Kept[py.ClassValue, bool] = Kept()


class TargetCompiler(Compiler):
    """The compiler with the emitters bound to what it meets."""

    def __init__(self, interp: Interpreter, target: Target, root: py.ModuleValue | None = None) -> None:
        super().__init__(interp, target, root)
        self.names = PythonNames(self)
        self.compiling: set[tuple[int, int]] = set()
        self.infos: dict[int, ModuleInfo] = {}
        self.models: dict[Hashable, py.ModuleValue] = {}
        self.cache = CompilationCache(interp, self.reporter)
        self.class_memory = ClassMemory(interp, self.reporter, self.cache)
        self.script_classes = self.class_memory.classes
        self._model_classes: list[py.Value] | None = None
        self._first: dict[py.Value, py.ModuleValue] | None = None

    def charge(self, function: py.FunctionValue) -> None:
        """Count against the world's budget what compiling a function takes.

        Raises:
            BudgetExceeded: nothing is left.
        """
        self.interp.spend(size_of(self.interp.program, function.node))

    # -- functions ----------------------------------------------------------------------------

    def function_schemas(
        self, fc: FunctionCompiler, function: py.FunctionValue, node: ast.AST
    ) -> tuple[Schema, ...]:
        """A free function's schema, or those of its overloads, compiled the first time it is met.

        Raises:
            Refusal: it is being compiled: a recursive call.
        """
        key = (id(function), 0)
        if "overload" in function.marks:
            place = getattr(function.node, "decorator_list", None) or [function.node]
            raise Refusal("unscriptable-function/overload-missing", place[0], name=function.name)
        if key in self.compiling:
            raise self._recursion(function.name, node)
        self.compiling.add(key)
        try:
            declared = decorators.overloads(self.interp, function)
            if not declared:
                return (self._function_schema(fc, function, node, None),)
            return tuple(self._function_schema(fc, function, node, each) for each in declared)
        finally:
            self.compiling.discard(key)

    def _function_schema(
        self,
        fc: FunctionCompiler,
        function: py.FunctionValue,
        node: ast.AST,
        declaration: ast.FunctionDef | None,
    ) -> Schema:
        caller = fc.module
        return self.cache.compiled(
            (function, declaration),
            is_shared(function),
            lambda: self.compile_function(function, None, function.name, node, caller, declaration),
            (node, caller),
        )

    def _recursion(self, name: str, node: ast.AST) -> Refusal:
        self.reporter.mark_target_specific()
        return Refusal("recursive-call", node, function=name)

    def compile_function(
        self,
        function: py.FunctionValue,
        receiver: Sugared | None,
        label: str,
        call: ast.AST | None = None,
        caller: Module | None = None,
        declaration: ast.FunctionDef | None = None,
    ) -> Schema:
        """Build and compile one function, with the types of a ``declaration`` if it is overloaded.

        Refusals are reported, not raised.
        """
        source = function.wrapped if function.wrapped is not None else function
        if function.unread is not None:
            self.reporter.add_gap(function.unread)
        with self.reporter.entering(Entered(label, call, caller)):
            return self._compile_entered(function, source, receiver, call, caller, declaration)

    def _compile_entered(
        self,
        function: py.FunctionValue,
        source: py.FunctionValue,
        receiver: Sugared | None,
        call: ast.AST | None,
        caller: Module | None,
        declaration: ast.FunctionDef | None,
    ) -> Schema:
        node = source.node
        place, module = (call, caller) if call is not None and caller is not None else (node, source.module)
        if isinstance(node, ast.Lambda):
            self.reporter.mark_target_specific()
            self.report(Refusal("lambda", place, feature="a lambda"), module)
            return of_anything(function.name)
        if isinstance(node, ast.AsyncFunctionDef):
            self.report(Refusal("unsupported-statement/async", node, feature="async def"), source.module)
            return of_anything(function.name)
        hidden = notes.hidden_name(function, source)
        if hidden:
            self.reporter.mark_target_specific()
            self.report(
                Refusal(lost_decorators.hiding(source, node), place, name=hidden, function=node.name), module
            )
        elif "autocast" in function.marks and receiver is None:
            self.reporter.mark_target_specific()
            self.report(Refusal("grad-decorator-names/autocast", place, function=node.name), module)
        return self._compile_node(function, source, node, receiver, declaration, failed=bool(hidden))

    def _compile_node(
        self,
        function: py.FunctionValue,
        source: py.FunctionValue,
        node: ast.FunctionDef,
        receiver: Sugared | None,
        declaration: ast.FunctionDef | None,
        *,
        failed: bool,
    ) -> Schema:
        dropped = "unused" in source.marks
        built = True
        for refused in refused_in(self.interp.program, node, body=not dropped):
            built = False
            self.report(Refusal(refused.rule, refused.node, **refused.facts), source.module)
        signature = signatures.read(self, node, source.scope, method=receiver is not None, opaque=dropped)
        if declaration is not None:
            implementation = signature if receiver is None else None
            signature = signatures.declared(self, declaration, source.scope, implementation)
            lines = source.module.file.lines
            for refusal in overload_checks.refused(declaration, node, lines, is_method=receiver is not None):
                self.report(refusal, source.module)
        elif node.name == "__setstate__":
            signature = signatures.left_open(signature)
        for refusal in signature.refusals:
            self.report(refusal, source.module)
        if dropped:
            return Schema(node.name, "", signature.arguments, signature.returns or t.NONE)
        scope = notes.resolution_scope(function)
        fc = self.function(node, scope, source.module, signature, receiver)
        fc.failed = failed or not built or bool(signature.refusals)
        self.reporter.running.append(fc)
        try:
            schema = fc.run()
        finally:
            self.reporter.running.pop()
        notes.finish(self, fc, source)
        lost_decorators.check(self, fc, function)
        if node.args.vararg is not None or node.args.kwarg is not None:
            return of_anything(node.name, t.UNKNOWN if signature.returns is None else schema.returns)
        return schema

    # -- classes ------------------------------------------------------------------------------

    def class_type(self, cls: py.ClassValue, node: ast.AST) -> t.Type:
        """The TorchScript type that a class of the project is.

        Raises:
            Refusal: it is none: an nn.Module, or a class torch cannot compile.
        """
        known = self.class_types.get(id(cls))
        if known is None:
            known = self.class_types[id(cls)] = class_type(self, cls, node)
        else:
            self.class_memory.replay(cls)
        return known

    def compiled_class(self, cls: py.ClassValue) -> ScriptClass:
        return self.class_memory.compiled(cls, lambda: classes.compile_class(self, cls))

    def compiles(self, cls: py.ClassValue) -> bool:
        """Whether a class compiles: torch tries those of attributes, and says nothing if they do not."""
        if "interface" in cls.marks or ancestry.derives_from(self.interp, cls, "enum.Enum"):
            return True
        uncompilable = _UNCOMPILABLE.of(self.interp.program)
        if id(cls) not in self.script_classes and cls not in uncompilable:
            begun = set(self.script_classes)
            if self.reporter.refuses(lambda: self.compiled_class(cls)):
                self.class_memory.forget_unfinished(begun)
                self.script_classes.pop(id(cls), None)
                uncompilable[cls] = True
        return cls not in uncompilable

    def can_compile_class(self, cls: py.ClassValue) -> bool:
        return classes.can_compile(self, cls)

    def is_torch_context(self, type_: t.Type) -> bool:
        return isinstance(type_, t.ClassType) and isinstance(type_.key, str) and is_context(type_.key)

    # -- modules ------------------------------------------------------------------------------

    def info(self, instance: py.ModuleValue) -> ModuleInfo:
        instance = self.model(instance)
        known = self.infos.get(id(instance))
        if known is None:
            self.infos[id(instance)] = ModuleInfo()
            try:
                known = self.infos[id(instance)] = self._described(instance)
            except Settled:
                del self.infos[id(instance)]
                raise
        return known

    def _described(self, instance: py.ModuleValue) -> ModuleInfo:
        key = layer_key(self.interp, instance)
        if key is None:
            return describe(self, instance)
        known = _LAYERS.of(self.interp.program)
        if key not in known:
            known[key] = describe(self, instance)
        return known[key]

    def model(self, instance: py.ModuleValue) -> py.ModuleValue:
        """The first module met that nothing tells from this one: what it shows, this one does."""
        return self.models.setdefault(self.interp.program.structural_keys.of(instance), instance)

    @property
    def model_classes(self) -> list[py.Value]:
        """The classes of all modules in the target, which isinstance may name."""
        if self._model_classes is None:
            self._model_classes = self._classes_below()
        return self._model_classes

    def first_type(self, cls: py.Value) -> t.Type | None:
        """The type of the first module of a class that torch describes; the others' are named otherwise."""
        if self.root is None:
            return None
        if self._first is None:
            self._first = {}
            try:
                self._describe_below(self.root, self._first, set())
            except Settled:
                self._first = None
                raise
        instance = self._first.get(cls)
        return None if instance is None else self.module_type(instance)

    def _describe_below(
        self, instance: py.ModuleValue, first: dict[py.Value, py.ModuleValue], seen: set[int]
    ) -> None:
        """Find the first module of each class, children before what holds them."""
        if id(instance) in seen:
            return
        seen.add(id(instance))
        for child in instance.children.values():
            if isinstance(child, py.ModuleValue):
                self._describe_below(child, first, seen)
        first.setdefault(instance.cls, instance)

    def _classes_below(self) -> list[py.Value]:
        found: list[py.Value] = []
        pending = [self.root] if self.root is not None else []
        while pending:
            instance = pending.pop()
            found.append(instance.cls)
            pending.extend(c for c in instance.children.values() if isinstance(c, py.ModuleValue))
        return found

    def module_type(self, instance: py.ModuleValue) -> t.Type:
        type_ = concrete_type(self, instance)
        self.typed.setdefault(type_, instance)
        return t.ModuleType(self.name_of(instance), type_)

    def module_attribute(
        self, fc: FunctionCompiler, owner: SugaredModule, name: str, node: ast.AST
    ) -> Sugared:
        return module_attributes.get(self, fc, owner, name, node)

    def has_module_attribute(self, owner: SugaredModule, name: str) -> bool | None:
        return module_attributes.has(self, owner, name)

    def set_module_attribute(
        self, fc: FunctionCompiler, owner: SugaredModule, name: str, value: Value, node: ast.AST
    ) -> None:
        module_assignments.assign(self, fc, owner, name, value, node)

    def module_item(
        self, fc: FunctionCompiler, owner: SugaredModule, node: ast.Subscript, hint: t.Type | None
    ) -> Sugared:
        return module_items.item(self, fc, owner, node, hint)

    def module_is_instance(self, fc: FunctionCompiler, value: SugaredModule, wanted: ast.expr) -> bool | None:
        return module_calls.is_instance(self, fc, value, wanted)

    def call_module(
        self, fc: FunctionCompiler, callee: SugaredModule, args: Args, kwargs: Kwargs, node: ast.Call
    ) -> Sugared:
        return module_calls.call(self, fc, callee, args, kwargs, node)

    def compile_module(self, instance: py.ModuleValue, interface: tuple[str, ...] | None = None) -> None:
        module_compilation.compile_module(self, instance, interface)

    def function(
        self,
        node: ast.FunctionDef,
        scope: Scope,
        module: Module,
        signature: Signature,
        receiver: Sugared | None = None,
    ) -> FunctionCompiler:
        return BodyCompiler(self, node, scope, module, signature, receiver)

    def method_schemas(
        self,
        fc: FunctionCompiler | None,
        owner: SugaredModule,
        name: str,
        function: py.FunctionValue,
        node: ast.AST | None,
    ) -> tuple[Schema, ...]:
        """A method's schemas, compiled the first time it is met.

        Raises:
            Refusal: it is being compiled: a recursive call.
        """
        model = self.model(owner.instance)
        known = self.methods.get((id(model), name))
        if known is not None:
            return known
        marker = (id(function), id(model))
        label = f"{self.name_of(owner.instance)}.{name}"
        if marker in self.compiling:
            assert node is not None
            raise self._recursion(label, node)
        self.compiling.add(marker)
        caller = fc.module if fc is not None else None
        type_ = concrete_type(self, owner.instance)
        try:
            schema = self.cache.compiled(
                (type_, name, function),
                type_.is_shared,
                lambda: self.compile_function(function, owner, label, node, caller),
                (node, caller),
            )
        finally:
            self.compiling.discard(marker)
        return (schema,)
