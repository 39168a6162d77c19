"""Signatures: the schema from a function's parameters, annotations and defaults.

Source: torch/csrc/jit/frontend/script_type_parser.cpp (``parseSchemaFromDef``),
torch/csrc/jit/python/init.cpp (``getSchemaWithNameAndDefaults``).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of
from tsguard.analysis.python.context import Raised
from tsguard.analysis.script.annotations import annotation_type, is_final
from tsguard.analysis.script.compiled import Signature
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.inference import Uninferable, describe, type_of
from tsguard.analysis.script.refusals import Refusal
from tsguard.language import types as t
from tsguard.language.matching import convertible_to_list
from tsguard.language.relations import is_subtype
from tsguard.language.schemas import Argument
from tsguard.report.records import replace
from tsguard.source.functions import first_line, takes_positional
from tsguard.source.type_comments import NO_SIGNATURE, signature_comment, types_of
from tsguard.source.unparsing import unparsed
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.values import Scope


def read(
    compiler: Compiler, node: ast.FunctionDef, scope: Scope, *, method: bool, opaque: bool = False
) -> Signature:
    """A function's signature; ``opaque`` for ``@unused``, whose annotations become Any."""
    return _Reader(compiler, node, scope, method, opaque).read()


def declared(
    compiler: Compiler, declaration: ast.FunctionDef, scope: Scope, implementation: Signature | None
) -> Signature:
    """The signature of one overload: a method's own, a function's with the defaults of its implementation.

    Torch does not compare a method's defaults with its types.
    """
    own = read(compiler, declaration, scope, method=implementation is None)
    if implementation is None:
        refusals = tuple(r for r in own.refusals if not r.rule.startswith("default-type-mismatch"))
        return replace(own, refusals=refusals)
    defaults = {argument.name for argument in implementation.arguments if argument.has_default}
    arguments = tuple(replace(argument, has_default=argument.name in defaults) for argument in own.arguments)
    return replace(own, arguments=arguments)


def left_open(signature: Signature) -> Signature:
    """The signature of a ``__setstate__``, whose un-annotated parameter is what ``__getstate__`` returns."""
    arguments = tuple(
        replace(a, type=t.UNKNOWN, inferred=False) if a.inferred else a for a in signature.arguments
    )
    return replace(signature, arguments=arguments, inferred=frozenset())


class _Reader:
    def __init__(
        self, compiler: Compiler, node: ast.FunctionDef, scope: Scope, method: bool, opaque: bool
    ) -> None:
        self.compiler = compiler
        self.node = node
        self.scope = scope
        self.method = method
        self.opaque = opaque
        self.refusals: list[Refusal] = []
        self.inferred: set[str] = set()
        self.none_defaults: set[str] = set()
        self.comment_types: dict[str, t.Type] = {}
        self.comment_sizes: dict[str, int | None] = {}
        self.comment_return: t.Type | None = None

    def read(self) -> Signature:
        spec = self.node.args
        parameters = list(spec.args)
        receiver = parameters.pop(0).arg if self.method and parameters else ""
        if self.method and not takes_positional(self.node):
            self.refusals.append(Refusal("parameter-kind/receiver", self.node, function=self.node.name))
        self._type_comment([*parameters, *spec.kwonlyargs])
        positional = [*spec.posonlyargs, *spec.args]
        with_default = positional[len(positional) - len(spec.defaults) :]
        defaults = {p.arg: d for p, d in zip(with_default, spec.defaults, strict=True)}
        arguments = [self._argument(p, defaults.get(p.arg), False) for p in parameters]
        for parameter, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
            arguments.append(self._argument(parameter, default, True))
        return Signature(
            tuple(arguments),
            self._returns(),
            receiver,
            frozenset(self.inferred),
            frozenset(self.none_defaults),
            frozenset(p.arg for p in spec.posonlyargs),
            tuple(self.refusals),
        )

    def _type_comment(self, parameters: list[ast.arg]) -> None:
        first = first_line(self.node)
        lines = self.scope.module.file.lines[first - 1 : self.node.end_lineno]
        if not any("type" in line and "#" in line for line in lines):
            return
        text, wrong, why = signature_comment(lines)
        if why:
            place = ast.Pass(
                lineno=first + wrong, col_offset=0, end_lineno=first + wrong, end_col_offset=len(lines[wrong])
            )
            self.refusals.append(Refusal("type-comment", place, comment=lines[wrong].strip(), why=why))
        elif text is not None:
            self._read_comment(text, parameters)

    def _read_comment(self, text: str, parameters: list[ast.arg]) -> None:
        try:
            listed, result = types_of(text)
        except SyntaxError:
            self.refusals.append(Refusal("type-comment", self.node, comment=text, why=NO_SIGNATURE))
            return
        if len(listed) != len(parameters):
            why = f"gives {len(listed)} types for {len(parameters)} parameters"
            self.refusals.append(Refusal("type-comment", self.node, comment=text, why=why))
            return
        try:
            for parameter, expression in zip(parameters, listed, strict=True):
                self.comment_types[parameter.arg] = self._type(expression)
                self.comment_sizes[parameter.arg] = _broadcast_size(expression)
            if result is not None:
                self.comment_return = annotation_type(self.compiler, result, self.scope)
        except Refusal as refusal:
            self.refusals.append(Refusal(refusal.rule, self.node, **refusal.facts))

    def _argument(self, parameter: ast.arg, default: ast.expr | None, keyword_only: bool) -> Argument:
        name = parameter.arg
        type_: t.Type = t.TENSOR
        if self.opaque:
            type_ = t.ANY
        elif name in self.comment_types:
            type_ = self.comment_types[name]
        elif parameter.annotation is not None:
            type_ = self._annotated(parameter.annotation)
        else:
            self.inferred.add(name)
        size = self.comment_sizes.get(name, _broadcast_size(parameter.annotation))
        if default is not None and not self.opaque:
            self._default(parameter, default, type_, size)
        return Argument(
            name,
            type_,
            default is not None,
            default.value if isinstance(default, ast.Constant) else ...,
            keyword_only,
            size,
            inferred=name in self.inferred,
            undefined=name in self.none_defaults,
        )

    def _annotated(self, annotation: ast.expr) -> t.Type:
        try:
            return self._type(annotation)
        except Refusal as refusal:
            self.refusals.append(refusal)
            return t.UNKNOWN

    def _type(self, annotation: ast.expr) -> t.Type:
        if is_final(annotation):
            raise Refusal("unknown-annotation", annotation, part=text_of(annotation))
        if _broadcast_size(annotation) is None:
            return annotation_type(self.compiler, annotation, self.scope)
        return _broadcast_type(annotation)

    def _default(self, parameter: ast.arg, default: ast.expr, type_: t.Type, size: int | None) -> None:
        try:
            value = self.compiler.interp.settled(self.compiler.interp.evaluate(default, self.scope))
        except Raised:
            return
        name = parameter.arg
        if py.is_none(value):
            if type_ is t.TENSOR:
                self.none_defaults.add(name)
            elif not is_subtype(t.NONE, type_):
                facts = {"parameter": name, "annotated": str(type_)}
                self.refusals.append(Refusal("default-type-mismatch/none", self._from_head(default), **facts))
            return
        if isinstance(value, (py.ListValue, py.DictValue)):
            self.refusals.append(
                Refusal("mutable-default", self._from_head(default), parameter=name, default=text_of(default))
            )
            return
        if isinstance(value, py.Unknown) and not value.hint:
            return
        of_enum = isinstance(type_, t.EnumType)  # another class of the kind may have no type
        if of_enum and isinstance(value, py.EnumMember) and type_ == self._enum(value):
            return
        given = self._default_type(value)
        if given is None and name in self.inferred:
            facts = {"parameter": name, "given": describe(value)}
            self.refusals.append(Refusal("default-type-mismatch/untyped", self._from_head(default), **facts))
        elif given is None:
            self._mismatch(name, default, type_, describe(value))
        elif name in self.inferred and given is not t.TENSOR and given is not t.UNKNOWN:
            is_dtype = isinstance(value, py.Atom) and value.kind == "dtype"
            shown = "torch.dtype" if is_dtype else str(given)
            facts = {"parameter": name, "default": text_of(default), "type": shown, "annotation": shown}
            self.refusals.append(Refusal("untyped-default", self._from_head(parameter), **facts))
        elif not (_accepts(type_, given) if size is None else _is_broadcast(type_, given)):
            self._mismatch(name, default, type_, str(given))

    def _from_head(self, node: ast.arg | ast.expr) -> ast.AST:
        """A default's place: torch points to the ``def``, wherever in its lines the parameter stands."""
        if node.lineno == self.node.lineno:
            return node
        place = ast.copy_location(ast.Tuple([], ast.Load()), self.node)
        place.end_lineno, place.end_col_offset = node.end_lineno, node.end_col_offset
        return place

    def _enum(self, member: py.EnumMember) -> t.Type:
        """The type that an annotation with the member's class names, mixed with str or int or not."""
        return self.compiler.class_type(member.cls, member.cls.node)

    def _default_type(self, value: py.Value) -> t.Type | None:
        try:
            return type_of(self.compiler, value)
        except Uninferable:
            return None

    def _mismatch(self, name: str, default: ast.expr, type_: t.Type, given: str) -> None:
        facts = {"parameter": name, "annotated": str(type_), "default": text_of(default), "given": given}
        self.refusals.append(Refusal("default-type-mismatch", self._from_head(default), **facts))

    def _returns(self) -> t.Type | None:
        if self.node.returns is None or self.comment_return is not None:
            return self.comment_return
        try:
            return annotation_type(self.compiler, self.node.returns, self.scope)
        except Refusal as refusal:
            self.refusals.append(refusal)
            return t.UNKNOWN


def _accepts(wanted: t.Type, given: t.Type) -> bool:
    """Whether a default of one type may stand for a parameter of another."""
    if is_subtype(given, wanted) or convertible_to_list(given, wanted):
        return True
    inner = wanted.element if isinstance(wanted, t.OptionalType) else wanted
    if inner is t.FLOAT:
        return given in (t.INT, t.FLOAT)
    if inner is t.COMPLEX:
        return given in (t.INT, t.FLOAT)
    if {inner, given} == {t.INT, t.BOOL}:
        return True
    if inner is t.DEVICE:
        return given is t.STR
    if isinstance(inner, t.ListType) and isinstance(given, t.TupleType):
        return all(_accepts(inner.element, element) for element in given.elements)
    if isinstance(inner, t.TupleType) and isinstance(given, t.TupleType):
        pairs = zip(inner.elements, given.elements, strict=False)
        return len(inner.elements) == len(given.elements) and all(_accepts(w, g) for w, g in pairs)
    return is_subtype(given, inner)


def _broadcast_size(annotation: ast.expr | None) -> int | None:
    """N of ``BroadcastingListN[int]``, also inside Optional."""
    for node in walked(annotation) if annotation is not None else ():
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name.startswith("BroadcastingList") and name[-1:].isdigit():
            return int(name[-1])
        if name.startswith("_size_") and name.endswith("_t") and name[6:7].isdigit():
            return int(name[6])
    return None


def _broadcast_type(annotation: ast.expr) -> t.Type:
    """The list that ``BroadcastingListN[int]`` names, also inside Optional.

    Raises:
        Refusal: it is one of something else than numbers.
    """
    text = unparsed(annotation)
    if text.endswith("_t"):
        return t.ListType(t.INT)
    elements: dict[str, t.Type] = {"int": t.INT, "float": t.FLOAT}
    element = elements.get(text.rpartition("[")[2].rstrip("]")) if "[" in text else None
    if element is None and "_size_" not in text:
        raise Refusal("unknown-annotation", annotation, part=text)
    listed = t.ListType(element or t.INT)
    return t.OptionalType(listed) if text.startswith("Optional") else listed


def _is_broadcast(wanted: t.Type, given: t.Type) -> bool:
    """Whether a default is the one number that stands for a list."""
    inner = wanted.element if isinstance(wanted, t.OptionalType) else wanted
    assert isinstance(inner, t.ListType)
    return given is inner.element or (given is t.INT and inner.element is t.FLOAT) or given is t.UNKNOWN
