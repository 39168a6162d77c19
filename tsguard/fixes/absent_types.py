"""What a parameter that may be None takes otherwise, as far as its function, its default and its calls show."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.fixes.definitions_elsewhere import called
from tsguard.fixes.given_literals import NUMBER, displayed, literals_given, parameter_at
from tsguard.fixes.places import Function
from tsguard.fixes.relatives import ancestry, class_definitions, stores_of
from tsguard.language import types as t
from tsguard.language.schemas import Argument, operators
from tsguard.source.functions import positional_parameters
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.project.modules import Module

# Functions hand what they are given on to others; who goes further guesses.
_FARTHEST = 4
# What is no Tensor, of a type that nothing tells.
_OTHER = "?"
# A number whose default is an int.
_WHOLE = "whole"
_NUMBERS = (t.INT, t.FLOAT, t.BOOL, t.STR)
# What says where a tensor lies and what it holds.
_SETTINGS = frozenset({"device", "dtype", "layout", "memory_format"})


def taken(module: Module, function: Function, name: str, *, guess: bool = False) -> str | None:
    """The type that a parameter takes besides None: a Tensor unless something speaks against that.

    None where it is no Tensor, and nothing tells what it is.  What stands in for it may be an argument of the constructor whose
    default is a whole number: callers may pass others, so that it is an int by ``guess`` only.
    """
    found = set(_shown(module, function, name, _FARTHEST))
    if found & {"int", "float"}:
        found -= {NUMBER, _WHOLE}
    if _WHOLE in found and guess:
        found = {"int" if kind == _WHOLE else kind for kind in found}
    if found >= {"int", "float"}:
        found.discard("int")
    if len(found) > 1 or found & {_OTHER, _WHOLE, NUMBER}:
        return None
    return found.pop() if found else "Tensor"


def _shown(module: Module, function: Function, name: str, farthest: int) -> Iterator[str]:
    if is_no_tensor(function, name):
        yield _OTHER
    for value in (_default(function, name), *_instead(function, name)):
        type_ = _type_of(module, function, value) if value is not None else None
        if type_ is not None:
            yield type_
    for node in walked(function):
        if isinstance(node, ast.Slice):
            yield from ("int" for bound in (node.lower, node.upper, node.step) if _is(bound, name))
        elif isinstance(node, ast.Call):
            yield from _as_argument(module, node, name, farthest)
    yield from _literals(module, function, name)


def _as_argument(module: Module, call: ast.Call, name: str, farthest: int) -> Iterator[str]:
    """What a call takes where it is given the parameter."""
    given: list[int | str] = [at for at, arg in enumerate(call.args) if _is(arg, name)]
    given += [k.arg for k in call.keywords if k.arg is not None and _is(k.value, name)]
    if not given or any(isinstance(arg, ast.Starred) for arg in call.args):
        return
    if isinstance(call.func, ast.Name) and call.func.id == "range":
        yield "int"
        return
    found = called(module, module.file.span(call), call.func) if farthest else None
    for place in given:
        if place in _SETTINGS:
            yield _OTHER
        elif found is not None:
            parameter = parameter_at(found[1], place)
            if parameter is not None and parameter.annotation is None:
                yield from _shown(*found, parameter.arg, farthest - 1)
        elif isinstance(call.func, ast.Attribute):
            yield from _of_operator(call.func, place)


def _of_operator(function: ast.Attribute, place: int | str) -> Iterator[str]:
    """The number that an operator takes at a place, where all of its overloads take the same."""
    # What is called on a value is given that first.
    is_method = ast.unparse(function.value) not in ("torch", "F", "nn.functional", "torch.nn.functional")
    types = set()
    for schema in operators().overloads(f"aten::{function.attr}"):
        argument = _argument_at(schema.arguments, place, int(is_method))
        if argument is not None:
            types.add(argument.type.element if isinstance(argument.type, t.OptionalType) else argument.type)
    if len(types) == 1:
        yield from (str(type_) for type_ in types if type_ in _NUMBERS)


def _argument_at(arguments: tuple[Argument, ...], place: int | str, shift: int) -> Argument | None:
    if isinstance(place, str):
        return next((a for a in arguments if a.name == place), None)
    return arguments[place + shift] if place + shift < len(arguments) else None


def _literals(module: Module, function: Function, name: str) -> Iterator[str]:
    for _, value in literals_given(module, function, name):
        type_ = displayed(value)
        if type_ is not None:
            yield type_


def _default(function: Function, name: str) -> ast.expr | None:
    keywords = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    pairs = (*positional_parameters(function), *keywords)
    return next((default for parameter, default in pairs if parameter.arg == name), None)


def _instead(function: Function, name: str) -> Iterator[ast.expr]:
    """What stands in for a parameter that is None: in a branch, in ``x if k is None else k``, in ``k or x``."""
    absent, present = f"{name} is None", f"{name} is not None"
    for node in walked(function):
        if isinstance(node, ast.If) and ast.unparse(node.test) == absent:
            made = [n for n in node.body if isinstance(n, ast.Assign)]
            yield from (n.value for n in made if [ast.unparse(target) for target in n.targets] == [name])
        elif isinstance(node, ast.IfExp) and ast.unparse(node.test) == absent and _is(node.orelse, name):
            yield node.body
        elif isinstance(node, ast.IfExp) and ast.unparse(node.test) == present and _is(node.body, name):
            yield node.orelse
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and _is(node.values[0], name):
            yield node.values[-1]


def _type_of(module: Module, function: Function, value: ast.expr) -> str | None:
    """The type of a value as it is written, or of an attribute of the module as its constructor sets it."""
    if not (isinstance(value, ast.Attribute) and _is(value.value, "self")):
        return displayed(value)
    owner = next((c for c in class_definitions(module.file.tree) if function in c.body), None)
    if owner is None:
        return None
    targets = {id(node) for node in stores_of(module.file, owner, value.attr)}
    inits = [
        n
        for cls in ancestry(module.file, owner)
        for n in cls.body
        if isinstance(n, Function) and n.name == "__init__"
    ]
    found = {_stored(init, node) for init in inits for node in walked(init) if _assigns(node, targets)}
    found |= {part for init in inits for node in walked(init) for part in _by_places(init, node, targets)}
    return found.pop() if len(found) == 1 else None


def _assigns(node: ast.AST, targets: set[int]) -> bool:
    return isinstance(node, ast.Assign) and any(id(target) in targets for target in node.targets)


def _stored(init: Function, node: ast.AST) -> str | None:
    return _held(init, node.value) if isinstance(node, ast.Assign) else None


def _by_places(init: Function, node: ast.AST, targets: set[int]) -> Iterator[str | None]:
    """``self.a, self.b = a, b``."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return
    for target in node.targets:
        if isinstance(target, ast.Tuple) and len(target.elts) == len(node.value.elts):
            pairs = zip(target.elts, node.value.elts, strict=True)
            yield from (_held(init, value) for part, value in pairs if id(part) in targets)


def _held(init: Function, value: ast.expr) -> str | None:
    default = _default(init, value.id) if isinstance(value, ast.Name) else None
    type_ = displayed(default if default is not None else value)
    # Where the default is a whole number, callers pass others, too.
    return _WHOLE if default is not None and type_ == "int" else type_


def is_no_tensor(function: Function, name: str) -> bool:
    """Whether a parameter is called, asked for its class, or what something is measured against."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            by_name = isinstance(node.func, ast.Name) and node.func.id
            subjects = node.args[:1] if by_name == "isinstance" else [node.func]
        elif isinstance(node, ast.Compare) and not isinstance(node.ops[-1], (ast.Is, ast.IsNot)):
            subjects = node.comparators
        else:
            continue
        if any(_is(subject, name) for subject in subjects):
            return True
    return False


def _is(node: ast.expr | None, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
