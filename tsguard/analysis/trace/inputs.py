"""The inputs of a target: the file's own examples, or values from the signature."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tsguard.analysis import unread
from tsguard.analysis import values as py
from tsguard.analysis.export import types as exported
from tsguard.analysis.trace import annotated_inputs, containers_by_use, shaping
from tsguard.analysis.trace.context import Tracer
from tsguard.analysis.trace.examples import Examples
from tsguard.analysis.trace.origins import Origin
from tsguard.analysis.trace.rulebook import OMITTED
from tsguard.analysis.trace.shapes.extents import ANY
from tsguard.analysis.trace.values import InputDict, InputList, Traced
from tsguard.language.rule_names import RuleName
from tsguard.source.type_comments import commented_types

if TYPE_CHECKING:
    pass


@dataclass(slots=True)
class Inputs:
    """The arguments of the call that is traced, the receiver not among them."""

    args: list[py.Value] = field(default_factory=list)
    kwargs: dict[str, py.Value] = field(default_factory=dict)


def of_examples(tracer: Tracer, function: py.FunctionValue, skip: int, examples: Examples) -> Inputs:
    """The example arguments; where the other ones differ is noted with the tracer."""
    assert examples.given is not None
    tracer.exports.are_inputs_given = True
    parameters = _positional(function)[skip:]
    names = [parameter.arg for parameter in parameters]
    result = Inputs()
    for index, value in enumerate(examples.given):
        parameter = parameters[index] if index < len(parameters) else function.node.args.vararg
        name = names[index] if index < len(names) else getattr(parameter, "arg", "")
        _check(tracer, value, parameter)
        result.args.append(_as_input(tracer, value, name))
    _add_keywords(tracer, function, result)
    _compare(tracer, function, parameters, examples)
    rest = list(parameters[len(examples.given) :])
    _note_omitted(tracer, function, rest, examples)
    return result


def _positional(function: py.FunctionValue) -> list[ast.arg]:
    return [*function.node.args.posonlyargs, *function.node.args.args]


def _as_input(tracer: Tracer, value: py.Value, name: str, path: str = "") -> py.Value:
    origin = Origin(name)
    if isinstance(value, py.TensorValue):
        extent = shaping.of_input(tracer.facts, f"{name}{path}", value.rank)
        return Traced(dtype=value.dtype, rank=value.rank, origin=origin, extent=extent)
    if isinstance(value, (py.ListValue, py.TupleValue)):
        held = [_as_input(tracer, item, name, f"{path}[{i}]") for i, item in enumerate(value.items)]
        return InputList(held, origin=origin)
    if isinstance(value, py.DictValue):
        named = {key: _as_input(tracer, item, name, f"{path}[{key}]") for key, item in value.items.items()}
        return InputDict(named, origin=origin)
    return value


def _check(tracer: Tracer, value: py.Value, parameter: ast.arg | None) -> None:
    """Report an input that torch.jit.trace refuses."""
    exported.check_input(tracer, value, parameter)
    if isinstance(value, py.TensorValue):
        exported.check_name(tracer, parameter)
    rule = refused(value)
    if rule:
        tracer.report(rule, parameter, name=getattr(parameter, "arg", ""))


def refused(value: py.Value) -> RuleName | None:
    """The rule that an input breaks; None where torch.jit.trace takes it."""
    if py.is_none(value):
        return "untraceable-input/none"
    if isinstance(value, py.Const):
        return "untraceable-input/scalar"
    if isinstance(value, py.TupleValue) and value.cls is not None:
        return "untraceable-input/named-tuple"
    if isinstance(value, (py.ListValue, py.TupleValue, py.DictValue)):
        items = list(value.items.values()) if isinstance(value, py.DictValue) else list(value.items)
        if not items:
            return "untraceable-input/empty"
        inner = next((rule for item in items if (rule := refused(item))), None)
        mixed = not isinstance(value, py.TupleValue) and len({type(item) for item in items}) > 1
        return inner or ("untraceable-input/mixed" if mixed else None)
    return "untraceable-input/object" if isinstance(value, py.ObjectValue) and not value.open else None


def _compare(
    tracer: Tracer, function: py.FunctionValue, parameters: list[ast.arg], examples: Examples
) -> None:
    """Note in which properties the file's other inputs differ from its examples."""
    given, others = examples.given, examples.others
    if given is None or others is None:
        return
    tracer.serves_others = True
    vararg = function.node.args.vararg
    for parameter, one, other in zip(parameters, given, others, strict=False):
        tracer.varying[parameter.arg] = frozenset(_differences(one, other))
    if vararg is not None and len(given) != len(others):
        tracer.varying[vararg.arg] = frozenset({"structure"})
    elif len(others) > len(given):
        for parameter in parameters[len(given) : len(others)]:
            tracer.report("varied-input/omitted", parameter, name=parameter.arg, source=parameter.arg)


def _differences(one: py.Value, other: py.Value) -> set[str]:
    if isinstance(one, py.TensorValue) and isinstance(other, py.TensorValue):
        found = set()
        if one.rank is not None and other.rank is not None and one.rank != other.rank:
            found.add("rank")
        if one.dtype and other.dtype and one.dtype != other.dtype:
            found.add("dtype")
        return found
    if isinstance(one, (py.ListValue, py.TupleValue)) and isinstance(other, (py.ListValue, py.TupleValue)):
        if len(one.items) != len(other.items):
            return {"structure"}
        pairs = zip(one.items, other.items, strict=True)
        return {what for a, b in pairs for what in _differences(a, b)}
    if isinstance(one, py.DictValue) and isinstance(other, py.DictValue):
        if list(one.items) != list(other.items):
            return {"structure"}
        return {what for key in one.items for what in _differences(one.items[key], other.items[key])}
    return set()


def _note_omitted(
    tracer: Tracer, function: py.FunctionValue, parameters: list[ast.arg], examples: Examples | None
) -> None:
    """Say which optional inputs the traced signature will not have."""
    defaults = dict(_defaults(function))
    for parameter in parameters:
        default = defaults.get(parameter.arg)
        taken = examples is not None and examples.others is not None
        if isinstance(default, ast.Constant) and default.value is None and not taken:
            tracer.report(OMITTED, parameter, name=parameter.arg)


def _defaults(function: py.FunctionValue) -> list[tuple[str, ast.expr]]:
    spec = function.node.args
    positional = _positional(function)
    pairs = list(zip(reversed(positional), reversed(spec.defaults), strict=False))
    pairs += [(p, d) for p, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None]
    return [(parameter.arg, default) for parameter, default in pairs]


Given = Literal["none", "all"] | int
"""Which inputs are given that may be tensors and are None by default; a number is the place of the only one."""


def of_signature(tracer: Tracer, function: py.FunctionValue, skip: int, optional: Given) -> Inputs:
    """One tensor for each parameter without a default, or what its annotation says."""
    defaults = dict(_defaults(function))
    result = Inputs()
    parameters = _positional(function)[skip:]
    for parameter in parameters:
        if parameter.arg not in defaults:
            result.args.append(_of_parameter(tracer, parameter, function))
    if optional == "none":
        _note_omitted(tracer, function, [p for p in parameters if p.arg in defaults], None)
    else:
        _add_optional(tracer, function, [p for p in parameters if p.arg in defaults], result, optional)
    _add_keywords(tracer, function, result)
    vararg = function.node.args.vararg
    if vararg is not None and not result.args:
        result.args.append(Traced(origin=Origin(vararg.arg)))
    return result


def _add_optional(
    tracer: Tracer, function: py.FunctionValue, parameters: list[ast.arg], result: Inputs, which: Given
) -> None:
    """Add tensors that the signature leaves out by None: all that it says to be such, or one that may be."""
    defaults = dict(_defaults(function))
    tensors: list[tuple[str, Traced]] = []
    for parameter in parameters:
        default = defaults[parameter.arg]
        if not isinstance(default, ast.Constant) or default.value is not None:
            continue
        value: py.Value | None = None if which == "all" else Traced(origin=Origin(parameter.arg))
        if parameter.annotation is not None:
            value = annotated_inputs.of_type(
                tracer,
                parameter.annotation,
                annotated_inputs.Annotated(function.scope, Origin(parameter.arg)),
            )
        if isinstance(value, Traced):
            tensors.append((parameter.arg, value))
    for name, value in tensors if not isinstance(which, int) else tensors[which : which + 1]:
        value.extent = shaping.of_input(tracer.facts, name)
        result.kwargs[name] = value


def _add_keywords(tracer: Tracer, function: py.FunctionValue, result: Inputs) -> None:
    """Add the inputs that have to be given by keyword, which torch.jit.trace does not and torch.export does."""
    spec = function.node.args
    for parameter, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
        if default is None:
            tracer.report("untraceable-input/keyword", parameter, name=parameter.arg)
            result.kwargs[parameter.arg] = _of_parameter(tracer, parameter, function)


def _of_parameter(tracer: Tracer, parameter: ast.arg, function: py.FunctionValue) -> py.Value:
    """What a parameter is given, by its annotation or a type comment, or by what the function does with it."""
    parameter = _commented(tracer, parameter, function)
    held = None if parameter.annotation is not None else _by_use(tracer, parameter, function)
    if held is not None:
        return held
    value = annotated_inputs.of_annotation(tracer, parameter, function.scope)
    if isinstance(value, Traced):
        exported.check_name(tracer, parameter)
    return value


def _commented(tracer: Tracer, parameter: ast.arg, function: py.FunctionValue) -> ast.arg:
    """A parameter with the type that a comment gives it, if its names are known."""
    spec = function.node.args
    parameters = [*_positional(function), *spec.kwonlyargs]
    given = commented_types(function.node, function.module.file.lines, parameters).get(parameter.arg)
    if parameter.annotation is not None or given is None:
        return parameter
    names = [part for part in ast.walk(given) if isinstance(part, ast.Name)]
    if any(isinstance(tracer.plain.evaluate(name, function.scope), py.Unknown) for name in names):
        return parameter
    return ast.copy_location(ast.arg(parameter.arg, given), parameter)


def _by_use(tracer: Tracer, parameter: ast.arg, function: py.FunctionValue) -> py.Value | None:
    """The list or dict that a function takes a parameter for; None for a tensor.

    One that is only gone through may be either: it is taken for a list, and what follows is not known.
    """
    found, name, origin = containers_by_use.of_function(function.node), parameter.arg, Origin(parameter.arg)
    if name in found.dicts:
        return InputDict({}, True, origin=origin)
    if name in found.untold:
        tracer.note(unread.kind(function.module, parameter))
    elif name not in found.lists:
        return None
    return InputList([Traced(origin=origin, extent=ANY)], True, origin=origin)
