"""What unknowns stand for, and the questions asked of them: small expressions, compared by structure.

Two unknowns are the same where their terms are equal, whatever they are called; words are made
of a term only for the report.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator
from dataclasses import field
from typing import Any

from mypy_extensions import mypyc_attr

from tsguard.analysis.budgets import TERM_PARTS
from tsguard.project.modules import Module
from tsguard.report.records import dataclass
from tsguard.source.unparsing import unparsed


# Compiled, fields whose type is this class would be compared by identity, if their own classes had no say.
@mypyc_attr(allow_interpreted_subclasses=True)
class Term:
    """Anything that an unknown may stand for."""

    __slots__ = ("_hash", "_size")
    _hash: int
    _size: int


@dataclass(frozen=True, slots=True)
class Literal(Term):
    """A constant; ``kind`` is the name of its type, which tells 1 from True and 1.0."""

    kind: str
    value: Hashable

    @classmethod
    def of(cls, value: Hashable) -> Literal:
        return cls(type(value).__name__, value)


NONE = Literal.of(None)


@dataclass(frozen=True, slots=True)
class Named(Term):
    """A class, a function, a module: ``identity`` is what it is, ``name`` how it is called."""

    identity: Hashable
    name: str


@dataclass(frozen=True, slots=True)
class Parameter(Term):
    """What a ``function`` of a ``module`` is given; for a constructor of torch that is its class's name."""

    name: str
    function: Hashable
    module: Module | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Environment(Term):
    """A variable of the environment that the code runs in."""

    name: str


@dataclass(frozen=True, slots=True)
class Place(Term):
    """What only the place of its expression tells apart."""

    node: ast.AST


@dataclass(frozen=True, slots=True)
class Attribute(Term):
    owner: Term
    name: str


@dataclass(frozen=True, slots=True)
class Item(Term):
    owner: Term
    key: Term


@dataclass(frozen=True, slots=True)
class Element(Term):
    """The item that a loop has come to, where loops so ``deep`` run around it."""

    owner: Term
    depth: int


@dataclass(frozen=True, slots=True)
class Call(Term):
    function: Term
    arguments: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Group(Term):
    """A tuple."""

    items: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Operation(Term):
    """``left sign right`` of numbers; without a ``left``, ``sign right``."""

    left: Term | None
    sign: str
    right: Term


# Compiled, fields whose type is this class would be compared by identity, if their own classes had no say.
@mypyc_attr(allow_interpreted_subclasses=True)
class Question(Term):
    """What is true or false, and a world decides."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Truth(Question):
    """Whether something is true that is not a question itself."""

    subject: Term


@dataclass(frozen=True, slots=True)
class Is(Question):
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Eq(Question):
    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Compare(Question):
    """``left sign right``, of sizes: "<", "<=", ">" or ">="."""

    left: Term
    sign: str
    right: Term


@dataclass(frozen=True, slots=True)
class In(Question):
    item: Term
    container: Term


@dataclass(frozen=True, slots=True)
class IsInstance(Question):
    subject: Term
    cls: Term


@dataclass(frozen=True, slots=True)
class Converts(Question):
    """Whether torch has a type for an object, or for a dict: few classes and dicts have one."""

    subject: Term
    is_dict: bool = False


@dataclass(frozen=True, slots=True)
class Not(Question):
    operand: Term


_CONVERTED = {
    False: "an object of a class that TorchScript compiles",
    True: "a dict whose values are all of one type",
}
_OPPOSITES = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}
# How tightly the signs of operators bind; what is no operation binds most tightly.
_COMPARISON, _ATOM = 4, 20
_LEVELS = {
    "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9,
    "*": 10, "/": 10, "//": 10, "%": 10, "**": 12,
}  # fmt: skip


# What has parts that may have parts.
COMPOUND = (Attribute, Item, Element, Call, Group, Operation, Question)


def member_of(owner: str, name: str) -> Term:
    """An attribute of what is known by its name."""
    return Attribute(Named(owner, owner), name)


def bounded(term: Term, node: ast.AST | None) -> Term | None:
    """A term that is not too large to be compared, else its place."""
    return term if _size_of(term) < TERM_PARTS else placed(node)


def _size_of(term: Term) -> int:
    """Of how many parts a term is made."""
    if not term._size:
        size = 1
        held = _HELD.get(type(term))
        for part in held(term) if held is not None else ():
            size += 0 if part is None else _size_of(part)
        term._size = size
    return term._size


def placed(node: ast.AST | None) -> Term | None:
    """What stands for an expression that nothing else names."""
    return None if node is None else Place(node)


def root(term: Term | None) -> Term | None:
    """What a term is an attribute, an item or a result of."""
    while isinstance(term, (Attribute, Item, Element, Call)):
        term = term.function if isinstance(term, Call) else term.owner
    return term


def parameter_in(term: Term | None) -> Parameter | None:
    """The parameter that a term rests on; the first, where it rests on several."""
    if term is None:
        return None
    return next((part for part in parts(term) if isinstance(part, Parameter)), None)


def question(term: Term) -> tuple[Question, bool]:
    """The question that the truth of a term is, and the answer that means yes."""
    wanted = True
    while isinstance(term, Not):
        term, wanted = term.operand, not wanted
    return (term if isinstance(term, Question) else Truth(term)), wanted


def is_constant(term: Term) -> bool:
    """Whether a term is a constant or a tuple of constants."""
    return isinstance(term, Literal) or (isinstance(term, Group) and all(map(is_constant, term.items)))


def spelled(term: Term, level: int = 0) -> str:
    """A term in the words of the source; what binds less than ``level`` stands in parentheses."""
    text, own = _spelled(term)
    return f"({text})" if own < level else text


def condition(asked: Question, answer: bool) -> str:
    """An answer to a question, as one would write it."""
    if isinstance(asked, Converts):
        return f"{'' if answer else 'unless '}{spelled(asked.subject)} is {_CONVERTED[asked.is_dict]}"
    return spelled(asked if answer else Not(asked))


def parts(term: Term) -> Iterator[Term]:
    pending: list[Term | None] = [term]
    while pending:
        part = pending.pop()
        if part is not None:
            yield part
            held = _HELD.get(type(part))
            if held is not None:
                pending += held(part)


def rests_on_place(term: Term) -> bool:
    """Whether a term rests on what an expression gives, which may be another each time."""
    return any(isinstance(part, Place) for part in parts(term))


def looks_up(term: Term) -> bool:
    """Whether a term rests on what ``get`` or ``pop`` gives of what may be a mapping."""
    return any(
        isinstance(part, Call)
        and isinstance(part.function, Attribute)
        and part.function.name in ("get", "pop")
        for part in parts(term)
    )


# What a term is made of, the last part first.
_HELD: dict[type[Term], Callable[[Any], tuple[Term | None, ...]]] = {
    Operation: lambda term: (term.right, term.left),
    Compare: lambda term: (term.right, term.left),
    Is: lambda term: (term.right, term.left),
    Eq: lambda term: (term.right, term.left),
    Attribute: lambda term: (term.owner,),
    Element: lambda term: (term.owner,),
    Item: lambda term: (term.key, term.owner),
    Call: lambda term: (*reversed(term.arguments), term.function),
    Group: lambda term: term.items,
    In: lambda term: (term.item, term.container),
    Truth: lambda term: (term.subject,),
    IsInstance: lambda term: (term.subject,),
    Converts: lambda term: (term.subject,),
    Not: lambda term: (term.operand,),
}


def _spelled(term: Term) -> tuple[str, int]:
    """A term in words, and how tightly they bind."""
    if isinstance(term, Question):
        return _asked(term, True)
    if isinstance(term, Operation):
        own = _LEVELS.get(term.sign, _ATOM) if term.left is not None else 11
        left = f"{spelled(term.left, own)} {term.sign} " if term.left is not None else term.sign
        return f"{left}{spelled(term.right, own + 1)}", own
    if isinstance(term, Place):
        return " ".join(unparsed(term.node).split()), _ATOM if _is_primary(term.node) else 0
    return _primary(term), _ATOM


def _primary(term: Term) -> str:
    if isinstance(term, Literal):
        return repr(term.value)
    if isinstance(term, (Named, Parameter)):
        return term.name
    if isinstance(term, Environment):
        return f"os.environ[{term.name!r}]"
    if isinstance(term, Attribute):
        return f"{spelled(term.owner, _ATOM)}.{term.name}"
    if isinstance(term, Item):
        return f"{spelled(term.owner, _ATOM)}[{spelled(term.key)}]"
    if isinstance(term, Element):
        return f"{spelled(term.owner, _ATOM)}[{'ijklmn'[min(term.depth, 5)]}]"
    if isinstance(term, Call):
        return f"{spelled(term.function, _ATOM)}({', '.join(map(spelled, term.arguments))})"
    assert isinstance(term, Group)
    items = ", ".join(map(spelled, term.items))
    return f"({items},)" if len(term.items) == 1 else f"({items})"


def _is_primary(node: ast.AST) -> bool:
    return isinstance(
        node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant, ast.Tuple, ast.List)
    )


def _asked(term: Question, holds: bool) -> tuple[str, int]:
    """A question in words, or its opposite."""
    if isinstance(term, Not):
        inner, wanted = question(term)
        return _asked(inner, holds is wanted)
    if isinstance(term, (Is, Eq)):
        sign = "is" if isinstance(term, Is) else "=="
        sign = sign if holds else {"is": "is not", "==": "!="}[sign]
        return _compared(term.left, sign, term.right)
    if isinstance(term, Compare):
        return _compared(term.left, term.sign if holds else _OPPOSITES[term.sign], term.right)
    if isinstance(term, In):
        return _compared(term.item, "in" if holds else "not in", term.container)
    if isinstance(term, IsInstance):
        text, own = f"isinstance({spelled(term.subject)}, {spelled(term.cls)})", _ATOM
    else:
        assert isinstance(term, (Truth, Converts))
        text, own = _spelled(term.subject)
    return (text, own) if holds else (f"not {f'({text})' if own < _COMPARISON else text}", 3)


def _compared(left: Term, sign: str, right: Term) -> tuple[str, int]:
    return f"{spelled(left, _COMPARISON + 1)} {sign} {spelled(right, _COMPARISON + 1)}", _COMPARISON
