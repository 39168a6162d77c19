"""Annotations: the types of the expressions in signatures, locals and classes.

Source: torch/jit/annotations.py (``try_ann_to_type``),
torch/csrc/jit/frontend/script_type_parser.cpp.
"""

from __future__ import annotations

import ast
import typing
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of
from tsguard.analysis.python import ancestry
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.forward_references import refuse_references
from tsguard.analysis.script.refusals import Refusal
from tsguard.language import types as t
from tsguard.language.relations import optional, union
from tsguard.project.project import Definition
from tsguard.project.targets import resolve
from tsguard.source.unparsing import unparsed
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.values import Scope

_TENSORS = frozenset(
    {"torch.Tensor", "torch.nn.Parameter", "torch.nn.Buffer", "torch.distributed.tensor.DTensor"}
    | {
        f"torch.nn.parameter.{kind}"
        for kind in ["Parameter", "Buffer", "UninitializedParameter", "UninitializedBuffer"]
    }
    | {
        f"torch.{kind}Tensor"
        for kind in ["Long", "Double", "Float", "Int", "Short", "Half", "Char", "Byte", "Bool"]
    }
)
_SIMPLE: dict[str, t.Type] = {
    "builtins.int": t.INT, "builtins.float": t.FLOAT, "builtins.bool": t.BOOL, "builtins.str": t.STR,
    "builtins.complex": t.COMPLEX, "builtins.NoneType": t.NONE, "typing.Any": t.ANY, "torch.device": t.DEVICE,
    "torch.dtype": t.INT, "torch.qscheme": t.INT, "torch.Generator": t.GENERATOR, "torch.Stream": t.STREAM,
    "torch.SymInt": t.INT, "torch.types.Number": t.NUMBER,
    "torch.nn.utils.rnn.PackedSequence": t.PACKED_SEQUENCE, "types.NoneType": t.NONE, "torch.cuda.Stream": t.STREAM,
}  # fmt: skip
# What the C++ parser knows without an import.  Source: string_to_type.cpp.
_BARE: dict[str, t.Type] = {
    "Tensor": t.TENSOR, "int": t.INT, "float": t.FLOAT, "bool": t.BOOL, "str": t.STR, "complex": t.COMPLEX,
    "Device": t.DEVICE, "Generator": t.GENERATOR, "Stream": t.STREAM, "number": t.NUMBER, "None": t.NONE,
    "NoneType": t.NONE, "Any": t.ANY, "list": t.ANY_LIST, "tuple": t.ANY_TUPLE,
}  # fmt: skip
_GENERIC = {
    "typing.List": "List", "builtins.list": "List", "typing.Dict": "Dict", "builtins.dict": "Dict",
    "typing.Tuple": "Tuple", "builtins.tuple": "Tuple", "typing.Optional": "Optional", "typing.Union": "Union",
    "torch.jit.Future": "Future", "torch.futures.Future": "Future", "typing.Final": "Final",
    "torch.jit.Final": "Final", "torch._jit_internal.Future": "Future",
}  # fmt: skip
# Modules that pass on names of typing.
_REEXPORTS = ("typing_extensions", "torch.jit.annotations", "torch._jit_internal")


def _typing_name(name: str) -> str:
    """A qualified name; one of typing, wherever it was imported from."""
    module, _, member = name.rpartition(".")
    return f"typing.{member}" if module in _REEXPORTS and hasattr(typing, member) else name


def annotation_type(compiler: Compiler, node: ast.expr, scope: Scope) -> t.Type:
    """The type that an annotation names.

    Raises:
        Refusal: TorchScript knows no such type.
    """
    return _Reader(compiler, scope, node).read(node)


# Classes of libraries that torch compiles as its own script classes, with no method that it refuses.
_COMPILED = frozenset({"numbers.Number", "abc.ABC"})
# What an annotation cannot be of use with: a parameter that takes no Tensor.
_COMPILED_WHERE_ASKED = frozenset({"torch.autograd.Variable", "torch.autograd.variable.Variable"})


def isinstance_types(compiler: Compiler, node: ast.expr, scope: Scope) -> list[t.Type]:
    """The types of isinstance's second argument; bare ``list`` and ``tuple`` are kinds, and some classes of torch are compiled."""
    if isinstance(node, ast.Tuple):
        return [type_ for element in node.elts for type_ in isinstance_types(compiler, element, scope)]
    value = compiler.interp.evaluate(node, scope) if isinstance(node, (ast.Name, ast.Attribute)) else None
    if isinstance(value, py.External) and value.name in _COMPILED_WHERE_ASKED:
        return [t.ClassType("Variable", value.name)]
    return [_Reader(compiler, scope, node).read(node)]


class _Reader:
    def __init__(self, compiler: Compiler, scope: Scope, whole: ast.expr) -> None:
        self.compiler = compiler
        self.scope = scope
        self.whole = whole
        self.quoted = False
        self.inside: set[str] = set()
        self.depth = 0
        self.bound: dict[str, t.Type] = {}

    def read(self, node: ast.expr) -> t.Type:
        self.depth += 1
        if self.depth > 40:
            return t.UNKNOWN
        try:
            return self._read(node)
        finally:
            self.depth -= 1

    def _read(self, node: ast.expr) -> t.Type:
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            if self.quoted:
                raise Refusal("unknown-annotation/quoted-union", self.whole, annotation=text_of(node))
            return self._union([self.read(node.left), self.read(node.right)])
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._named(node)
        raise self._refuse(text_of(node))

    def _constant(self, node: ast.Constant) -> t.Type:
        if node.value is None:
            return t.NONE
        if isinstance(node.value, str):
            try:
                inner = ast.parse(node.value.strip(), mode="eval").body
            except SyntaxError:
                raise self._refuse(repr(node.value)) from None
            self.quoted = True
            return self.read(inner)
        raise self._refuse(repr(node.value))

    def _refuse(self, what: str) -> Refusal:
        return Refusal("unknown-annotation", self.whole, annotation=text_of(self.whole), part=what)

    def _union(self, members: list[t.Type]) -> t.Type:
        if t.UNKNOWN in members:
            return t.UNKNOWN
        if {t.INT, t.FLOAT, t.COMPLEX} == set(members):
            return t.NUMBER
        return union(members)

    def _named(self, node: ast.Name | ast.Attribute) -> t.Type:
        if isinstance(node, ast.Name) and node.id in self.bound:
            return self.bound[node.id]
        aliased = self._alias(node)
        if aliased is not None:
            return aliased
        value = self._value(node)
        if value is None:
            name = unparsed(node)
            if name in _BARE and not (self.quoted and self._is_checked_only(name)):
                return _BARE[name]
            if hasattr(typing, name):
                value = py.External(f"typing.{name}")
            else:
                raise self._refuse(name)
        return self._of_value(value, node)

    def _alias(self, node: ast.Name | ast.Attribute) -> t.Type | None:
        """A type alias: the annotation that a module-level assignment holds."""
        if isinstance(node, ast.Name) and (self._is_local(node.id) or self._value(node) is None):
            return None
        meaning = resolve(self.compiler.interp.program.project, self.scope.module, node)
        if not isinstance(meaning, Definition) or not isinstance(meaning.node, (ast.Assign, ast.AnnAssign)):
            return None
        value = meaning.node.value
        if not isinstance(value, (ast.Subscript, ast.BinOp, ast.Name, ast.Attribute)):
            return None
        home = self.compiler.interp.program.scope(meaning.module)
        outer, self.scope = self.scope, home
        try:
            return self.read(value)
        finally:
            self.scope = outer

    def _is_checked_only(self, name: str) -> bool:
        """Whether the module imports a name for type checkers alone."""
        return name in self.scope.module.bindings

    def _is_local(self, name: str) -> bool:
        runner: Scope | None = self.scope
        while runner is not None and not runner.is_global:
            if name in runner.names:
                return True
            runner = runner.parent
        return False

    def _value(self, node: ast.Name | ast.Attribute) -> py.Value | None:
        if isinstance(node, ast.Name):
            return self.compiler.interp.lookup(node.id, self.scope)
        value = self._value(node.value) if isinstance(node.value, (ast.Name, ast.Attribute)) else None
        return self.compiler.interp.attribute(value, node.attr) if value is not None else None

    def _of_value(self, value: py.Value, node: ast.expr) -> t.Type:
        if py.is_none(value):
            return t.NONE
        if isinstance(value, py.Unknown):
            self.compiler.read(value)
            return t.UNKNOWN
        if isinstance(value, py.ClassValue):
            return self._class(value)
        if not isinstance(value, py.External):
            raise self._refuse(text_of(node))
        name = _typing_name(value.name)
        if name in _TENSORS:
            return t.TENSOR
        if name in _SIMPLE:
            return _SIMPLE[name]
        if name in ("builtins.list", "builtins.tuple") and self.inside <= {"List"} and not self.quoted:
            return t.ANY_LIST if name.lower().endswith("list") else t.ANY_TUPLE
        if name in _COMPILED:
            return t.ClassType(name.rpartition(".")[2], name)
        module = self._module(value)
        if module is not None:
            return module
        raise self._refuse(text_of(node))

    def _module(self, cls: py.Value) -> t.Type | None:
        """The type of the first module of a class in the target, by which compiled code may name it."""
        if not is_module_annotation(self.compiler, cls):
            return None
        self.compiler.reporter.mark_target_specific()
        return self.compiler.first_type(cls)

    def _class(self, cls: py.ClassValue) -> t.Type:
        if ancestry.derives_from(self.compiler.interp, cls, "torch.Tensor"):
            return t.TENSOR
        module = self._module(cls) if "interface" not in cls.marks else None
        if module is not None:
            return module
        is_direct = self.depth == (2 if isinstance(self.whole, ast.Constant) else 1)
        if not is_direct and "typing.NamedTuple" in (getattr(base, "name", "") for base in cls.bases):
            refuse_references(cls, self.whole)
        return self.compiler.class_type(cls, self.whole)

    def _subscript(self, node: ast.Subscript) -> t.Type:
        generic = self._generic_alias(node)
        if generic is not None:
            return generic
        value = self._value(node.value) if isinstance(node.value, (ast.Name, ast.Attribute)) else None
        name = _typing_name(value.name) if isinstance(value, py.External) else ""
        if value is None and isinstance(node.value, ast.Name) and hasattr(typing, node.value.id):
            name = f"typing.{node.value.id}"
        constructor = _GENERIC.get(name)
        if constructor is None:
            if isinstance(value, py.Unknown):
                self.compiler.read(value)
                return t.UNKNOWN
            raise self._refuse(text_of(node))
        parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        return self._construct(constructor, parts, node)

    def _generic_alias(self, node: ast.Subscript) -> t.Type | None:
        """``Alias[X]`` of ``Alias = Union[T, Sequence[T]]``: the alias with X for its only variable."""
        if not isinstance(node.value, (ast.Name, ast.Attribute)):
            return None
        meaning = resolve(self.compiler.interp.program.project, self.scope.module, node.value)
        if not isinstance(meaning, Definition) or not isinstance(meaning.node, ast.Assign):
            return None
        alias, home = meaning.node.value, self.compiler.interp.program.scope(meaning.module)
        if not isinstance(alias, (ast.Subscript, ast.BinOp)):
            return None
        variables = {n.id for n in walked(alias) if isinstance(n, ast.Name) and self._is_variable(n.id, home)}
        if len(variables) != 1 or isinstance(node.slice, ast.Tuple):
            return t.UNKNOWN
        part = self.read(node.slice)
        outer = self.scope
        self.scope, self.bound = home, {**self.bound, variables.pop(): part}
        try:
            return self.read(alias)
        finally:
            self.scope = outer

    def _is_variable(self, name: str, scope: Scope) -> bool:
        value = self.compiler.interp.lookup(name, scope)
        return isinstance(value, py.ObjectValue) and value.cls == py.External("typing.TypeVar")

    def _construct(self, constructor: str, parts: list[ast.expr], node: ast.Subscript) -> t.Type:
        if (
            constructor == "Tuple"
            and len(parts) == 1
            and isinstance(parts[0], ast.Tuple)
            and not parts[0].elts
        ):
            return t.TupleType(())
        if any(isinstance(part, ast.Constant) and part.value is Ellipsis for part in parts):
            raise self._refuse(text_of(node))
        outer, self.inside = self.inside, self.inside | {constructor}
        inner = [self.read(part) for part in parts]
        self.inside = outer
        if constructor == "Tuple":
            return t.TupleType(tuple(inner))
        if constructor == "Union":
            return self._union(inner)
        if constructor == "Dict":
            if len(inner) != 2:
                raise self._refuse(text_of(node))
            return self._dict(inner[0], inner[1])
        if len(inner) != 1:
            raise self._refuse(text_of(node))
        if constructor == "Optional":
            return optional(inner[0])
        if constructor == "List":
            return t.ListType(inner[0])
        return inner[0] if constructor == "Final" else t.FutureType(inner[0])

    def _dict(self, key: t.Type, value: t.Type) -> t.Type:
        keys = (t.INT, t.FLOAT, t.COMPLEX, t.STR, t.BOOL, t.DEVICE, t.TENSOR, t.ANY, t.UNKNOWN)
        if key not in keys:
            raise Refusal("literal-type/key", self.whole, type=key)
        return t.DictType(key, value)


def is_final(annotation: ast.expr) -> bool:
    """Whether a class-level annotation declares a constant."""
    plain = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    name = plain.attr if isinstance(plain, ast.Attribute) else getattr(plain, "id", "")
    return name == "Final"


def is_module_annotation(compiler: Compiler, value: py.Value) -> bool:
    return isinstance(value, (py.ClassValue, py.External)) and ancestry.is_module_class(
        compiler.interp, value
    )
