"""Operator and function schemas, parsed from torch's own text.

``aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`` and the
schemas of compiled functions, whose types are printed as annotations.
Source: torch/csrc/jit/frontend/function_schema_parser.cpp, schema_type_parser.cpp.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Hashable

from tsguard.language import tables
from tsguard.language import types as t
from tsguard.language.relations import union
from tsguard.language.releases import allows
from tsguard.report.records import dataclass

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>-?\d[\w.+-]*)|(?P<string>"[^"]*"|'[^']*')|(?P<name>[\w.]+)|(?P<dots>\.\.\.)|(?P<op>->|[()\[\]{},?*=!|]))"""
)
_NAMES: dict[str, t.Type] = {
    "Tensor": t.TENSOR, "int": t.INT, "float": t.FLOAT, "bool": t.BOOL, "complex": t.COMPLEX,
    "str": t.STR, "Scalar": t.NUMBER, "number": t.NUMBER, "None": t.NONE, "NoneType": t.NONE,
    "Any": t.ANY, "Device": t.DEVICE, "device": t.DEVICE, "Generator": t.GENERATOR,
    "Stream": t.STREAM, "Storage": t.STORAGE, "ScalarType": t.INT, "Layout": t.INT,
    "MemoryFormat": t.INT, "QScheme": t.INT, "SymInt": t.INT, "SymFloat": t.FLOAT,
    "SymBool": t.BOOL, "DeviceIndex": t.INT, "Dimname": t.STR, "AnyEnumType": t.ANY_ENUM,
    "AnyEnum": t.ANY_ENUM, "AnyList": t.ANY_LIST, "AnyTuple": t.ANY_TUPLE, "Capsule": t.UNKNOWN,
    "DeviceObjType": t.DEVICE, "DeviceObj": t.DEVICE,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Argument:
    """``default`` is that of a literal, ``...`` for any other; ``size`` is N of a broadcasting list
    ``int[N]``: one number stands for N; ``inferred`` tells that it is a Tensor only because it has no annotation, ``asks_for_none``
    that the function behaves otherwise when it is None, ``undefined`` that it is a Tensor that
    defaults to None, ``symbolic`` that it takes a symbol for its number."""

    name: str
    type: t.Type
    has_default: bool = False
    default: Hashable = None
    keyword_only: bool = False
    size: int | None = None
    inferred: bool = False
    asks_for_none: bool = False
    undefined: bool = False
    symbolic: bool = False


@dataclass(frozen=True, slots=True)
class Schema:
    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: t.Type
    vararg: bool = False
    kwarg: bool = False

    @property
    def is_out_variant(self) -> bool:
        """Whether it writes into an ``out`` argument that must be given."""
        return any(a.keyword_only and not a.has_default and a.type is t.TENSOR for a in self.arguments)


def of_anything(name: str, returns: t.Type = t.UNKNOWN) -> Schema:
    """The schema of a function that was not read as one, which takes whatever it is given."""
    return Schema(name, "", (), returns, vararg=True, kwarg=True)


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = [(m.lastgroup or "", m[m.lastgroup or 0]) for m in _TOKEN.finditer(text)]
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][1]

    def accept(self, text: str) -> bool:
        if self.peek() != text:
            return False
        self.at += 1
        return True

    def type(self) -> tuple[t.Type, int | None]:
        size: int | None = None
        if self.accept("("):
            result: t.Type = t.TupleType(tuple(self._types_to_bracket()))
        else:
            result, size = self._named(self.next())
        while True:
            if self.peek() == "(":
                self._skip_alias()
            elif self.accept("["):
                if not self.accept("]"):
                    size = int(self.next())
                    self.accept("]")
                result = t.ListType(result)
            elif self.accept("?"):
                result = t.OptionalType(result)
            else:
                return result, size

    def _named(self, name: str) -> tuple[t.Type, int | None]:
        if name in ("Dict", "Future", "RRef", "Await") and self.accept("("):
            inner = self._types_to_bracket()
            return (t.DictType(*inner) if name == "Dict" else t.FutureType(inner[0])), None
        if name in ("List", "Optional", "Tuple", "Dict", "Union", "Future") and self.accept("["):
            return self._subscripted(name)
        if name in _NAMES:
            return _NAMES[name], None
        if (len(name) <= 2 and name.islower()) or name in ("tKey", "tVal"):
            return t.VarType(name), None
        if name == "__torch__.torch.nn.utils.rnn.PackedSequence":
            return t.PACKED_SEQUENCE, None
        return t.ClassType(name.rpartition(".")[2], name), None

    def _subscripted(self, name: str) -> tuple[t.Type, int | None]:
        size = None
        if name == "Tuple" and self.accept("("):
            self.accept(")")
            self.accept("]")
            return t.TupleType(()), None
        inner = []
        while not self.accept("]"):
            part, size = self.type()
            inner.append(part)
            self.accept(",")
        if name == "Optional":
            return t.OptionalType(inner[0]), size
        if name == "Union":
            return union(inner), None
        if name == "Dict":
            return t.DictType(*inner), None
        if name == "Tuple":
            return t.TupleType(tuple(inner)), None
        return (t.ListType if name == "List" else t.FutureType)(inner[0]), None

    def _types_to_bracket(self) -> list[t.Type]:
        found = []
        while not self.accept(")"):
            found.append(self.type()[0])
            if self.peek() not in (",", ")"):
                self.next()  # the name of a return value
            self.accept(",")
        return found

    def _skip_alias(self) -> None:
        depth = 0
        while True:
            token = self.next()
            depth += (token == "(") - (token == ")")
            if depth == 0:
                return

    def arguments(self) -> tuple[tuple[Argument, ...], bool]:
        found: list[Argument] = []
        keyword_only = vararg = False
        while not self.accept(")"):
            if self.accept("*"):
                keyword_only = True
            elif self.accept("..."):
                vararg = True
            else:
                symbolic = self.peek().startswith("Sym")
                type_, size = self.type()
                name = self.next()
                has_default = self.accept("=")
                default = self._default() if has_default else None
                found.append(
                    Argument(name, type_, has_default, default, keyword_only, size, symbolic=symbolic)
                )
            self.accept(",")
        return tuple(found), vararg

    def _default(self) -> object:
        if self.peek() == "[":
            values = []
            self.next()
            while not self.accept("]"):
                values.append(self._default())
                self.accept(",")
            return values
        token = self.next()
        if token == "None":
            return None
        if token in ("True", "False"):
            return token == "True"
        if token[:1] in "\"'":
            return token[1:-1]
        try:
            return float(token) if any(c in token for c in ".einf") else int(token)
        except ValueError:
            return token

    def returns(self) -> t.Type:
        if not self.accept("->"):
            return t.NONE
        if self.peek() != "(":
            return self.type()[0]
        self.next()
        types, names = [], []
        while not self.accept(")"):
            types.append(self.type()[0])
            if self.peek() not in (",", ")"):
                names.append(self.next())
            self.accept(",")
        if len(types) == 1:
            return types[0]
        fields = tuple(names) if len(names) == len(types) and types else ()
        return t.TupleType(tuple(types), fields) if types else t.NONE


@functools.cache
def parse(text: str) -> Schema:
    """A schema from its text, with or without a namespace."""
    head, _, rest = text.partition("(")
    name, _, overload = head.rpartition("::")[2].partition(".")
    parser = _Parser(rest)
    arguments, vararg = parser.arguments()
    return Schema(name, overload, arguments, parser.returns(), vararg)


@functools.cache
def parse_type(text: str) -> t.Type:
    """A type from the text that torch prints for it."""
    return _Parser(text).type()[0]


# What torch defines in TorchScript itself rather than in its operator registry.
# Source: torch/csrc/jit/frontend/builtin_functions.cpp
_SCALARS = ("float", "int", "complex")
_BUILTIN: dict[str, list[str]] = {
    **{
        f"aten::{op}": [f"{op}({s} a, Tensor b) -> Tensor" for s in _SCALARS]
        for op in ("mul", "add", "ne", "eq", "sub", "div")
    },
    **{
        f"aten::{op}": [f"{op}({s} a, Tensor b) -> Tensor" for s in _SCALARS[:2]]
        for op in ("lt", "le", "gt", "ge")
    },
    **{
        f"aten::_{name}": [f"_{name}({s}[{n}] x) -> {s}[]" for s in _SCALARS[:2]]
        for n, name in enumerate(("single", "pair", "triple", "quadruple"), 1)
    },
    "aten::floordiv": [
        "floordiv(Tensor self, Scalar other) -> Tensor",
        "floordiv(Tensor self, Tensor other) -> Tensor",
    ],
    "aten::_assert": [f"_assert({type_} condition, str message) -> None" for type_ in ("bool", "Tensor")],
    "aten::list_with_default": ["list_with_default(int[] out_size, int[] defaults) -> int[]"],
    "aten::_assert_int_or_pair": ["_assert_int_or_pair(int[] vals, str name, str message) -> Tensor"],
    "aten::__contains__": ["__contains__(str self, str key) -> bool"],
    "prim::ndim": ["ndim(Tensor a) -> int"],
    "prim::T": ["T(Tensor a) -> Tensor"],
    "prim::H": ["H(Tensor a) -> Tensor"],
    "prim::shape": ["shape(Tensor a) -> int[]"],
    "aten::type": ["type(Tensor self, int dtype, bool non_blocking=False) -> Tensor"],
}
# Source: torch/csrc/jit/frontend/ir_emitter.cpp, where it is torch._assert, since 2.9.
_CHECK = [f"_check({type_} cond, str message='') -> None" for type_ in ("bool", "Tensor")]


class Operators:
    """The operators of one torch release, parsed as they are asked for."""

    def __init__(self, release: str) -> None:
        self._texts = tables.tables(release).operators
        self._builtin = _BUILTIN | ({"aten::_check": _CHECK} if allows(">=2.9", release) else {})
        self._parsed: dict[str, tuple[Schema, ...]] = {}
        self._in_python: dict[str, tuple[Schema, ...]] = {}

    def overloads(self, name: str) -> tuple[Schema, ...]:
        """The overloads of ``aten::add``, in the order in which torch tries them."""
        found = self._parsed.get(name)
        if found is None:
            texts = [*self._texts.get(name, ()), *self._builtin.get(name, ())]
            found = tuple(schema for schema in map(parse, texts) if not _is_blocked(name, schema))
            self._parsed[name] = found
        return found

    def in_python(self, name: str) -> tuple[Schema, ...]:
        """Those overloads that Python has, too, or all where it has none of them."""
        found = self._in_python.get(name)
        if found is None:
            overloads = self.overloads(name)
            found = tuple(schema for schema in overloads if not _is_of_numbers(schema)) or overloads
            self._in_python[name] = found
        return found


def _is_of_numbers(schema: Schema) -> bool:
    """Whether an overload of plain numbers makes one, as only TorchScript has it."""
    types = (schema.returns, *(argument.type for argument in schema.arguments))
    return all(type_ in (t.INT, t.FLOAT, t.COMPLEX, t.BOOL, t.NUMBER) for type_ in types)


def _is_blocked(name: str, schema: Schema) -> bool:
    """Overloads that torch never tries.  Source: schema_matching.cpp, isBlockListedSchema."""
    return (name == "aten::view" and schema.overload == "dtype") or (
        name in ("aten::max", "aten::min") and schema.overload == "unary_out"
    )


@functools.cache
def operators(release: str = tables.RELEASES[-1]) -> Operators:
    return Operators(release)
