"""Names: the compiler's own globals, then Python objects as torch resolves them.

Source: torch/csrc/jit/frontend/ir_emitter.cpp (globals of ``getSugaredVar``),
torch/csrc/jit/python/python_sugared_value.cpp (``toSugaredValue``).
"""

from __future__ import annotations

import ast
import builtins
from typing import Any

from tsguard.analysis import unread
from tsguard.analysis import values as py
from tsguard.analysis.events import text_of
from tsguard.analysis.python import ancestry
from tsguard.analysis.python.attributes import APPLY
from tsguard.analysis.python.context import Raised
from tsguard.analysis.script import differences, python_objects
from tsguard.analysis.script.builtin_names import GLOBALS, operator_by_name
from tsguard.analysis.script.context import Compiler, FunctionCompiler, Names
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import (
    Builtin,
    Compiled,
    Dispatch,
    Function,
    PythonModule,
    Simple,
    Special,
    Sugared,
    SugaredClass,
    SugaredEnum,
    SugaredException,
    SugaredNamedTuple,
    SugaredPython,
    SugaredSlice,
    SugaredUnknown,
    Value,
    simple,
)
from tsguard.analysis.script.undefined import is_starred, undefined
from tsguard.analysis.values import SOURCELESS
from tsguard.language import schemas
from tsguard.language import types as t
from tsguard.language.schemas import Argument, Schema
from tsguard.source.functions import FunctionNode, required_parameters

_SPECIAL_NAMES = {
    "torch.jit.annotate": "annotate",
    "torch.jit.fork": "fork",
    "torch.jit._fork": "fork",
    "torch.jit.isinstance": "isinstance",
    "torch.jit._awaitable": "awaitable",
}
_LEGACY = frozenset(
    f"torch.{k}Tensor" for k in ["Bool", "Long", "Byte", "Char", "Double", "Float", "Int", "Short", "Half"]
)
_PLAIN = schemas.parse("__init__() -> None")
_RECORDING = schemas.parse("__init__(str name, str? args=None) -> None")
# Decorated context managers of torch that script classes stand for, by constructor; none takes what it is given.
_CONTEXTS: dict[str, schemas.Schema | None] = {
    "torch.no_grad": _PLAIN,
    "torch.autograd.no_grad": _PLAIN,
    "torch.autograd.grad_mode.no_grad": _PLAIN,
    "torch.jit.strict_fusion": _PLAIN,
    "torch.autocast": None,
    "torch.amp.autocast": None,
    "torch.amp.autocast_mode.autocast": None,
    "torch.cuda.amp.autocast": None,
    "torch.cuda.amp.autocast_mode.autocast": None,
    "torch.profiler.record_function": _RECORDING,
    "torch.autograd.profiler.record_function": _RECORDING,
}
_BUILTIN_FUNCTIONS = frozenset(
    name for name, value in vars(builtins).items() if callable(value) and not isinstance(value, type)
)
_EXCEPTIONS = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, Exception)
)
_CUDA_OPERATORS = frozenset(
    [
        "current_stream",
        "default_stream",
        "current_device",
        "_exchange_device",
        "_maybe_exchange_device",
        "set_device",
        "device_index",
        "device_count",
        "set_stream",
        "synchronize",
    ]
)
# Python callables that torch maps to operators.  Source: torch/jit/_builtins.py.
# Modules whose functions are operators of the same name (torch/jit/_builtins.py).
_OF_OPERATORS = frozenset(
    f"torch._C.{name}" for name in ("_nn", "_fft", "_linalg", "_nested", "_sparse", "_special")
)
_MAPPED = {
    "collections.OrderedDict": "aten::dict",
    "warnings.warn": "aten::warn",
    "builtins.dict": "aten::dict",
}


class PythonNames(Names):
    """Turns names and Python values into what torch's compiler sees."""

    def __init__(self, compiler: Compiler) -> None:
        self.compiler = compiler

    def resolve(self, fc: FunctionCompiler, name: str, node: ast.AST) -> Sugared:
        """A name that is no variable.

        Raises:
            Refusal: torch finds nothing of this name, or nothing that it can use.
        """
        if name in GLOBALS:
            found = GLOBALS[name]
            return Simple(Value(t.UNKNOWN)) if found is None else found
        try:
            value = self.compiler.interp.lookup(name, fc.scope)
        except Raised:
            fc.unread(node)
            return SugaredUnknown()
        if value is None and is_starred(fc.node, name):
            return SugaredUnknown()  # that the function takes any number of arguments is said of itself
        if value is None:
            raise undefined(fc, name, node)
        if py.is_none(value):
            raise Refusal("global-value", node, name=name, kind="None")
        unknown = python_objects.unknown_global(self.compiler, value, name, node)
        return self.sugar(fc, value, node) if unknown is None else unknown

    def sugar(
        self, fc: FunctionCompiler, value: py.Value, node: ast.AST, *, constant: bool = False
    ) -> Sugared:
        """A Python value as torch takes it; ``constant`` for members of Python modules."""
        value = self.compiler.interp.settled(value)
        if isinstance(value, py.BoundMethod) and value.function == APPLY:
            value = value.function
        if isinstance(value, py.Unknown):
            self.compiler.read(value)
            return SugaredUnknown(value)
        if constant:
            plain = self._constant(value)
            if plain is not None:
                return plain
        if isinstance(value, py.FunctionValue):
            return self._function(value)
        if isinstance(value, py.External):
            return self._external(fc, value, node)
        if isinstance(value, py.ModuleReference):
            return PythonModule(value)
        if isinstance(value, py.ClassValue):
            return self._class(value, node)
        if isinstance(value, py.EnumMember):
            return simple(self.compiler.class_type(value.cls, node))
        return SugaredPython(value, text_of(node))

    def _constant(self, value: py.Value) -> Sugared | None:
        if isinstance(value, py.Const) and not isinstance(value.value, bytes):
            kinds: dict[type, t.Type] = {
                bool: t.BOOL,
                int: t.INT,
                float: t.FLOAT,
                complex: t.COMPLEX,
                str: t.STR,
                type(None): t.NONE,
            }
            type_ = kinds.get(type(value.value))
            return None if type_ is None else Simple(Value(type_, value.value))
        if isinstance(value, py.Atom):
            if value.kind == "dtype":
                return Simple(Value(t.INT, unlike=differences.dtype_object(ast.Name(value.name))))
            return simple(t.DEVICE if value.kind == "device" else t.INT)
        if isinstance(value, py.TupleValue) and not value.open:
            parts = [self._constant(item) for item in value.items]
            types = [part.value.type for part in parts if isinstance(part, Simple)]
            return simple(t.TupleType(tuple(types))) if len(types) == len(parts) else None
        return None

    def _function(self, value: py.FunctionValue) -> Sugared:
        marks = value.marks
        if marks & {"ignore", "unused"}:
            return SugaredPython(value, value.name, ignored=True, dropped="unused" in marks)
        if "cached" in marks:
            return SugaredPython(value, value.name, ignored=True)
        if "trace" in marks:
            return Compiled(value.name, (_traced(value.node, value.name),))
        return Function(value)

    def _class(self, cls: py.ClassValue, node: ast.AST) -> Sugared:
        interp = self.compiler.interp
        if any(
            isinstance(b, py.External) and b.name.rpartition(".")[2] in _EXCEPTIONS
            for b in ancestry.mro(interp, cls)
        ):
            return SugaredException(cls.name)
        if ancestry.is_module_class(interp, cls) or ancestry.derives_from(
            interp, cls, "torch.autograd.Function"
        ):
            return SugaredPython(cls, cls.name)
        if ancestry.has_unknown_base(interp, cls):
            self.compiler.reporter.add_gap(ancestry.unread_base(interp, cls))
            return SugaredUnknown()
        type_ = self.compiler.class_type(cls, node)
        if isinstance(type_, t.TupleType):
            return SugaredNamedTuple(type_)
        if isinstance(type_, t.EnumType):
            return SugaredEnum(type_, cls)
        if isinstance(type_, t.ClassType):
            return SugaredClass(type_, cls)
        return SugaredUnknown()

    # -- names of unread packages ----------------------------------------------------------

    def _external(self, fc: FunctionCompiler, value: py.External, node: ast.AST) -> Sugared:
        name = value.name
        head, _, short = name.partition(".")
        if name in _SPECIAL_NAMES:
            return Special(_SPECIAL_NAMES[name])
        if name in _LEGACY:
            return Special("legacy_tensor")
        if name in _MAPPED:
            return Builtin(_MAPPED[name])
        if name == "builtins.slice":
            return SugaredSlice()
        if head == "builtins":
            return self._builtin(short, node)
        if head in ("torch", "math", "cmath"):
            return self._described(fc, value, node)
        return self._foreign(value)

    def _builtin(self, name: str, node: ast.AST) -> Sugared:
        if name in GLOBALS:
            return GLOBALS[name]
        if name in _EXCEPTIONS:
            return SugaredException(name)
        if name in _BUILTIN_FUNCTIONS:
            raise Refusal("python-call/builtin", node, name=name)
        return SugaredPython(py.External(f"builtins.{name}"), name)

    def _foreign(self, value: py.External) -> Sugared:
        """A name of the standard library, of numpy, of typing."""
        import sys

        name = value.name
        if name in sys.stdlib_module_names or name == "numpy" or "." not in name:
            return PythonModule(value)
        head = name.partition(".")[0]
        if (
            head == "numpy"
            and name.count(".") == 1
            and name.rpartition(".")[2] in ("random", "linalg", "fft")
        ):
            return PythonModule(value)
        if head in sys.stdlib_module_names and self._is_submodule(name):
            return PythonModule(value)
        return SugaredPython(value, name)

    @staticmethod
    def _is_submodule(name: str) -> bool:
        return name in ("os.path", "collections.abc", "importlib.util", "concurrent.futures", "xml.etree")

    def _described(self, fc: FunctionCompiler, value: py.External, node: ast.AST) -> Sugared:
        entry = self.compiler.tables.entry(value.name)
        if entry is None:
            return self._undescribed(fc, value, node)
        if isinstance(entry, str):
            return Builtin(entry)
        return self._by_entry(value, entry, node)

    def _undescribed(self, fc: FunctionCompiler, value: py.External, node: ast.AST) -> Sugared:
        name = value.name
        parent, _, short = name.rpartition(".")
        if name == "torch.autograd.Function.apply":
            if self.compiler.ways.refuses_apply:
                raise Refusal("unscriptable-function/autograd-builtin", node, name=text_of(node))
            return SugaredPython(value, "Function.apply", opaque=True)
        if name.startswith("torch.ops"):
            return operator_by_name(self.compiler.tables, value, node)
        if name in _OF_OPERATORS:
            return PythonModule(value)
        if parent in _OF_OPERATORS and f"aten::{short}" in self.compiler.tables.operators:
            return Builtin(f"aten::{short}")
        if parent in self.compiler.tables.listed_modules:
            raise Refusal("undefined-name/module", node, name=short, module=parent)
        self.compiler.reporter.add_gap(unread.of_torch(name, fc.module, node))
        return SugaredUnknown()

    def _by_entry(self, value: py.External, entry: dict[str, Any], node: ast.AST) -> Sugared:
        name = value.name
        if "module" in entry:
            return PythonModule(value)
        if "schemas" in entry:
            return Compiled(name, tuple(schemas.parse(s) for s in entry["schemas"]))
        if "dispatch" in entry:
            return _dispatched(name, entry)
        if "class" in entry:
            return self._described_class(value, entry)
        if entry.get("ignored"):
            return SugaredPython(value, name, ignored=True)
        if "fails" in entry:
            raise Refusal("unscriptable-function", node, name=text_of(node), why=cause(entry["fails"]))
        if entry.get("object") == "complex":
            return simple(t.COMPLEX)
        if "builtin" in entry:
            if name.startswith("torch.cuda.") and name.rpartition(".")[2] in _CUDA_OPERATORS:
                return SugaredUnknown()
            raise Refusal(
                "unscriptable-function", node, name=text_of(node), why="there is no operator for it"
            )
        return SugaredPython(value, name)

    def _described_class(self, value: py.External, entry: dict[str, Any]) -> Sugared:
        if value.name in _CONTEXTS or entry.get("is") in _CONTEXTS:
            return SugaredClass(
                t.ClassType(value.name.rpartition(".")[2], value.name), _context_class(value.name)
            )
        if value.name == "torch.nn.utils.rnn.PackedSequence":
            return SugaredNamedTuple(t.PACKED_SEQUENCE)
        if entry["class"] == "exception" and "op" not in entry:
            return SugaredException(value.name.rpartition(".")[2])
        if "op" in entry:
            return Builtin(entry["op"])
        return SugaredPython(value, value.name)

    def member(self, fc: FunctionCompiler, owner: PythonModule, name: str, node: ast.AST) -> Sugared:
        """A member of a Python module: its plain values are constants."""
        interp = self.compiler.interp
        if isinstance(owner.value, py.External):
            module = owner.value.name
            if module == "torch.cuda" and name in _CUDA_OPERATORS:
                return SugaredUnknown()
            value = interp.attribute(owner.value, name)
            assert value is not None
            return self.sugar(fc, value, node, constant=True)
        found = interp.attribute(owner.value, name)
        if found is None:
            module = text_of(node.value if isinstance(node, ast.Attribute) else node)
            raise Refusal("undefined-name/module", node, name=name, module=module)
        return self.sugar(fc, found, node, constant=True)


def _traced(node: FunctionNode, name: str) -> Schema:
    """How a traced function is called: by its parameters, of the types of the example's inputs."""
    required = required_parameters(node)
    arguments = tuple(
        Argument(p.arg, t.UNKNOWN, has_default=p.arg not in required)
        for p in (*node.args.posonlyargs, *node.args.args)
    )
    return Schema(name, "", arguments, t.UNKNOWN, node.args.vararg is not None or node.args.kwarg is not None)


def _dispatched(name: str, entry: dict[str, Any]) -> Sugared:
    """A function that a flag chooses, which another flag may choose in turn."""
    if "dispatch" not in entry:
        return Compiled(name, tuple(schemas.parse(s) for s in entry.get("schemas", ())))
    branches = [_dispatched(name, entry[side]) for side in ("true", "false")]
    return Dispatch(entry["dispatch"], entry["index"], entry["default"], *branches)


def cause(error: str) -> str:
    """Torch's error without the name of its class: "Yield aren't supported"."""
    return (error.partition(": ")[2] or error).rstrip(": ").removesuffix(" at")


_CONTEXT_CLASSES: dict[str, py.ClassValue] = {}


def _context_class(name: str) -> py.ClassValue:
    """A stand-in for torch's own context managers, one for each name."""
    cls = _CONTEXT_CLASSES.get(name)
    if cls is None:
        definition = ast.ClassDef(name, [], [], [], [])
        cls = py.ClassValue(definition, SOURCELESS, name, marks=frozenset({"torch"}))
        _CONTEXT_CLASSES[name] = cls
    return cls


def context_schema(name: str) -> schemas.Schema | None:
    """How a context manager of torch is constructed; None for one that takes what it is given."""
    return _CONTEXTS.get(name)


def is_context(name: str) -> bool:
    """Whether a name is a context manager of torch that compiles."""
    return name in _CONTEXTS
