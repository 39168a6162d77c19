"""What every emitter of the compiler works with: a target's state, a function's, and the steps to ask for.

The emitters, each a function in the file of what it compiles, know these bases only; ``compiler``
and ``function`` bind them together.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import Literal

from tsguard.analysis import unread
from tsguard.analysis import values as py
from tsguard.analysis.budgets import SCRIPT_STEPS
from tsguard.analysis.python import Interpreter, ancestry
from tsguard.analysis.script.compiled import ConcreteType, ModuleInfo, ScriptClass, Signature
from tsguard.analysis.script.environment import Frame
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.reports import Reporter
from tsguard.analysis.script.sugared import Args, Kwargs, PythonModule, Sugared, SugaredModule, Unlike, Value
from tsguard.analysis.values import Scope
from tsguard.analysis.worlds import BudgetExceeded
from tsguard.language import types as t
from tsguard.language.matching import Matcher, matcher
from tsguard.language.releases import Ways
from tsguard.language.schemas import Operators, Schema
from tsguard.language.tables import Tables
from tsguard.project import Target
from tsguard.project.modules import Module
from tsguard.source.walking import walked

_CONTAINERS = {
    "torch.nn.ModuleDict": "dict",
    "torch.nn.ModuleList": "list",
    "torch.nn.Sequential": "list",
    "torch.nn.ParameterList": "parameters",
    "torch.nn.ParameterDict": "parameter dict",
}

Loop = Literal["", "loop", "unrolled"]


class Names(ABC):
    """Turns names and Python values into what torch's compiler sees."""

    @abstractmethod
    def resolve(self, fc: FunctionCompiler, name: str, node: ast.AST) -> Sugared:
        """A name that is no variable.

        Raises:
            Refusal: torch finds nothing of this name, or nothing that it can use.
        """

    @abstractmethod
    def sugar(
        self, fc: FunctionCompiler, value: py.Value, node: ast.AST, *, constant: bool = False
    ) -> Sugared:
        """A Python value as torch takes it; ``constant`` for members of Python modules."""

    @abstractmethod
    def member(self, fc: FunctionCompiler, owner: PythonModule, name: str, node: ast.AST) -> Sugared:
        """A member of a Python module: its plain values are constants."""


class Compiler(ABC):
    """One target in one world."""

    names: Names

    def __init__(self, interp: Interpreter, target: Target, root: py.ModuleValue | None = None) -> None:
        self.interp = interp
        self.tables: Tables = interp.tables
        self.target = target
        self.root = root
        self.methods: dict[tuple[int, str], tuple[Schema, ...]] = {}
        self.concrete_types: dict[int, ConcreteType] = {}
        self.local_types: dict[Hashable, ConcreteType] = {}
        self.typed: dict[object, py.ModuleValue] = {}
        self.compiled_modules: set[tuple[int, tuple[str, ...] | None]] = set()
        self.prepared: set[int] = set()
        self.script_classes: dict[int, ScriptClass] = {}
        self.class_types: dict[int, t.Type] = {}
        self.unfinished: dict[int, frozenset[str]] = {}
        self.steps = 0
        self.reporter = Reporter(target)
        self.matcher: Matcher = matcher(interp.tables.release)
        self._container_kinds: dict[py.Value, str] = {}

    @property
    def operators(self) -> Operators:
        return self.matcher.operators

    @property
    def ways(self) -> Ways:
        return self.matcher.ways

    def spend(self, steps: int = 1) -> None:
        """Count work done now; ``charge`` counts what is compiled, whether now or before.

        Raises:
            BudgetExceeded: the target is too large to be compiled.
        """
        self.steps += steps
        if self.steps > SCRIPT_STEPS:
            raise BudgetExceeded

    def report(self, refusal: Refusal, module: Module, *, if_reached: bool = False) -> None:
        """Record a refusal where the user can act on it."""
        self.reporter.report(refusal, module, if_reached=if_reached)

    def read(self, source: py.Unknown | None) -> None:
        """Note that what is compiled rests on a value; it matters if nothing was read of it."""
        if source is not None and source.unread is not None:
            self.reporter.add_gap(source.unread)

    def is_tensor_member(self, name: str) -> bool:
        return name in self.tables.tensor

    def name_of(self, instance: py.ModuleValue) -> str:
        return str(getattr(instance.cls, "name", "module")).rpartition(".")[2]

    def container_kind(self, instance: py.ModuleValue) -> str:
        """ "list", "dict", "parameters" or "" for a module that is no container."""
        kind = self._container_kinds.get(instance.cls)
        if kind is None:
            bases = (b.name for b in ancestry.mro(self.interp, instance.cls) if isinstance(b, py.External))
            kind = next((_CONTAINERS[name] for name in bases if name in _CONTAINERS), "")
            self._container_kinds[instance.cls] = kind
        return kind

    @abstractmethod
    def charge(self, function: py.FunctionValue) -> None:
        """Count against the world's budget what compiling a function takes.

        Raises:
            BudgetExceeded: nothing is left.
        """

    @abstractmethod
    def function_schemas(
        self, fc: FunctionCompiler, function: py.FunctionValue, node: ast.AST
    ) -> tuple[Schema, ...]:
        """A free function's schema, or those of its overloads, compiled the first time it is met.

        Raises:
            Refusal: it is being compiled: a recursive call.
        """

    @abstractmethod
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

    @abstractmethod
    def class_type(self, cls: py.ClassValue, node: ast.AST) -> t.Type:
        """The TorchScript type that a class of the project is.

        Raises:
            Refusal: it is none: an nn.Module, or a class torch cannot compile.
        """

    @abstractmethod
    def compiled_class(self, cls: py.ClassValue) -> ScriptClass: ...

    @abstractmethod
    def compiles(self, cls: py.ClassValue) -> bool:
        """Whether a class compiles: torch tries those of attributes, and says nothing if they do not."""

    @abstractmethod
    def can_compile_class(self, cls: py.ClassValue) -> bool: ...

    @abstractmethod
    def is_torch_context(self, type_: t.Type) -> bool: ...

    @abstractmethod
    def info(self, instance: py.ModuleValue) -> ModuleInfo: ...

    @abstractmethod
    def model(self, instance: py.ModuleValue) -> py.ModuleValue:
        """The first module met that nothing tells from this one: what it shows, this one does."""

    @property
    @abstractmethod
    def model_classes(self) -> list[py.Value]:
        """The classes of all modules in the target, which isinstance may name."""

    @abstractmethod
    def first_type(self, cls: py.Value) -> t.Type | None:
        """The type of the first module of a class that torch describes; the others' are named otherwise."""

    @abstractmethod
    def module_type(self, instance: py.ModuleValue) -> t.Type: ...

    @abstractmethod
    def module_attribute(
        self, fc: FunctionCompiler, owner: SugaredModule, name: str, node: ast.AST
    ) -> Sugared: ...

    @abstractmethod
    def has_module_attribute(self, owner: SugaredModule, name: str) -> bool | None: ...

    @abstractmethod
    def set_module_attribute(
        self, fc: FunctionCompiler, owner: SugaredModule, name: str, value: Value, node: ast.AST
    ) -> None: ...

    @abstractmethod
    def module_item(
        self, fc: FunctionCompiler, owner: SugaredModule, node: ast.Subscript, hint: t.Type | None
    ) -> Sugared: ...

    @abstractmethod
    def module_is_instance(
        self, fc: FunctionCompiler, value: SugaredModule, wanted: ast.expr
    ) -> bool | None: ...

    @abstractmethod
    def call_module(
        self, fc: FunctionCompiler, callee: SugaredModule, args: Args, kwargs: Kwargs, node: ast.Call
    ) -> Sugared: ...

    @abstractmethod
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

    @abstractmethod
    def compile_module(self, instance: py.ModuleValue, interface: tuple[str, ...] | None = None) -> None:
        """Compile a module and all below it, as what stands for an ``interface`` where it does."""

    @abstractmethod
    def function(
        self,
        node: ast.FunctionDef,
        scope: Scope,
        module: Module,
        signature: Signature,
        receiver: Sugared | None = None,
    ) -> FunctionCompiler:
        """A function about to be compiled."""


class FunctionCompiler(ABC):
    """The state of compiling one function.

    ``scope`` is where its global names are looked up: a decorator's, whose module is not the
    ``module`` that the code stands in.  ``receiver`` is what ``self`` is;
    ``branches`` holds the side of each compiled if that is statically taken, None for both;
    ``raising`` tells that an error is being made; ``tests`` are those of the branches around, and how they come out;
    ``none_tested`` the tests of parameters that default to None without being Optional,
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
        self.unlike: Unlike | None = None
        self.loop: Loop = ""
        self.failed = False
        self.left_early = False
        self.raising = False
        self.tests: list[tuple[ast.expr, bool]] = []
        self.branches: dict[int, bool | None] = {}
        self.none_tested: dict[str, ast.expr | None] = {}
        self.asks_for_none: set[str] = set()
        self.causes: set[tuple[str, str]] = set()
        self.temporary = 0
        self._called: set[int] | None = None

    @property
    def is_certain(self) -> bool:
        """Whether what is compiled now runs in every call of the function that does not raise."""
        return self.frame.parent is None and not self.left_early

    @property
    @abstractmethod
    def is_passed_by(self) -> bool:
        """Whether no call of the target comes to what is compiled now."""

    def note(self, refusal: Refusal) -> None:
        """Report what goes wrong where it runs; what breaks while an error is made raises as well."""
        if not self.raising:
            self.compiler.reporter.note(refusal, self.module)

    def attempt(self, node: ast.expr, hint: t.Type | None = None) -> Value:
        """The value of a part whose refusal must not hide refusals in other parts."""
        try:
            return self.expression(node, hint)
        except Refusal as refusal:
            self.report(refusal)
            return Value(t.UNKNOWN, node=node)

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

    @abstractmethod
    def run(self) -> Schema:
        """Compile the body and return the schema that callers see."""

    @abstractmethod
    def report(self, refusal: Refusal) -> None:
        """Record a refusal, one for each cause; the walk goes on."""

    @abstractmethod
    def expression(self, node: ast.expr, hint: t.Type | None = None) -> Value:
        """The typed value of an expression."""

    @abstractmethod
    def sugared(self, node: ast.expr, hint: t.Type | None = None) -> Sugared:
        """The sugared value of an expression."""

    @abstractmethod
    def lookup(self, name: str, node: ast.AST) -> Sugared:
        """What a name means here.

        Raises:
            Refusal: it means nothing, or a branch has left it undefined.
        """

    @abstractmethod
    def set_variable(self, name: str, value: Sugared, node: ast.AST, annotated: t.Type | None = None) -> None:
        """Assign a variable, as control flow allows."""
