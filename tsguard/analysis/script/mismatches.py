"""Calls and operators that match no schema: the reason, in the user's terms."""

from __future__ import annotations

import ast

from tsguard.analysis.events import text_of
from tsguard.analysis.script import empties, spelled_out
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal, not_refined
from tsguard.analysis.script.sugared import Args, Kwargs, Value
from tsguard.language import types as t
from tsguard.language.matching import Mismatch
from tsguard.language.rule_names import RuleName
from tsguard.source.walking import walked

_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**", "remainder": "%", "fmod": "%", "floordiv": "//",
    "matmul": "@", "__and__": "&", "__or__": "|", "__xor__": "^", "__lshift__": "<<", "__rshift__": ">>",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "__contains__": "in", "neg": "-",
    "bitwise_not": "~", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "__irshift__": ">>",
}  # fmt: skip
# NumPy's names of arguments, which the Python bindings of torch accept too.
_NUMPY = {"axis": "dim", "keepdims": "keepdim"}


def symbol(operator: str) -> str:
    """An operator as Python writes it: ``+`` for ``add`` and ``add_``."""
    return _SYMBOLS.get(operator, "") or _SYMBOLS.get(operator.rstrip("_"), operator.strip("_"))


def mismatch(
    fc: FunctionCompiler,
    found: Mismatch,
    args: Args,
    kwargs: Kwargs,
    node: ast.AST,
    name: str,
    *,
    python: bool,
) -> Refusal:
    """The refusal that tells a user why a call does not fit.

    ``args`` begin with the receiver of a method; ``python`` tells a Python function from
    an operator.
    """
    callee = text_of(node.func) if isinstance(node, ast.Call) else name
    if found.reason == "keyword":
        return _keyword(found, node, callee)
    if found.reason == "twice":
        return Refusal("argument-count/twice", node, function=callee, keyword=found.argument)
    if found.reason == "missing":
        return Refusal(
            "argument-count/missing", node, function=callee, argument=found.argument, type=found.wanted
        )
    if found.reason == "extra":
        unseen = len(args) - len(node.args) if isinstance(node, ast.Call) else 0  # the receiver of a method
        expected = sum(not a.keyword_only for a in found.schema.arguments) - unseen
        return Refusal("argument-count", node, function=callee, expected=expected, given=len(args) - unseen)
    needed = empties.needed_for(name, args)
    empty = empties.misfit(fc, args[0], needed, node) if needed is not None else None
    if empty is not None:
        return empty
    if not isinstance(node, ast.Call) and not python:  # a class's own operator is a method
        return _operator(args, node, name)
    return _argument(fc, found, _operand(found, args, kwargs), node, callee, python)


def _keyword(found: Mismatch, node: ast.AST, callee: str) -> Refusal:
    known = [argument.name for argument in found.schema.arguments if argument.name != "self"]
    meant = _NUMPY.get(found.argument)
    if not known:
        return Refusal("unknown-keyword/positional", node, function=callee, keyword=found.argument)
    if meant in known:
        return Refusal("unknown-keyword/renamed", node, function=callee, keyword=found.argument, meant=meant)
    return Refusal("unknown-keyword", node, function=callee, keyword=found.argument, known=", ".join(known))


# -- operators -----------------------------------------------------------------------------


def _operator(args: Args, node: ast.AST, name: str) -> Refusal:
    for value in args:
        if isinstance(value.type, (t.OptionalType, t.UnionType)):
            return not_refined(node, _text(value, node), value.type)
    expression = text_of(node)
    foreign = any(v.type is t.STR or isinstance(v.type, (t.ListType, t.TupleType, t.DictType)) for v in args)
    for value in args:
        if value.parameter and value.type is t.TENSOR and foreign:
            facts = {"parameter": value.parameter, "use": f'"{expression}" needs another type'}
            return Refusal("untyped-parameter/container", node, **facts)
    if name in ("__getitem__", "slice"):
        return _index(args[0], args[1] if len(args) > 1 and name == "__getitem__" else None, node)
    if name == "_set_item":
        return _item(args, node)
    if len(args) == 1:
        return Refusal(
            "operator-types/unary", node, operator=symbol(name), expression=expression, type=args[0].type
        )
    absent = next((v for v in args if v.type is t.NONE), None)
    if absent is not None:
        return Refusal("operator-types/absent", node, operator=symbol(name), value=_text(absent, node))
    left, right = reversed(args[:2]) if name == "__contains__" else args[:2]
    return Refusal(
        "operator-types", node, operator=symbol(name), expression=expression, left=left.type, right=right.type
    )


def _index(container: Value, key: Value | None, node: ast.AST) -> Refusal:
    subscript = node if isinstance(node, ast.Subscript) else None
    value = subscript.value if subscript is not None else container.node or node
    wanted = container.type.key if isinstance(container.type, t.DictType) else t.INT
    facts = {"value": text_of(value), "type": container.type, "wanted": wanted}
    if container.type is t.NONE:
        return Refusal("not-subscriptable/none", node, value=text_of(value))
    if key is None:
        return Refusal("not-subscriptable/slice", node, **facts)
    index = subscript.slice if subscript is not None else key.node or node
    return Refusal("not-subscriptable/index", node, **facts, index=text_of(index), given=key.type)


def _item(args: Args, node: ast.AST) -> Refusal:
    container, key, item = args
    if isinstance(container.type, t.ListType) and key.type in (t.INT, t.UNKNOWN):
        element = container.type.element
    elif isinstance(container.type, t.DictType) and key.type in (container.type.key, t.UNKNOWN):
        element = container.type.value
    elif isinstance(container.type, (t.ListType, t.DictType)):
        return _index(container, key, node)
    else:
        target = node.targets[0] if isinstance(node, ast.Assign) else node
        if container.type is t.NONE:
            return Refusal(
                "item-assignment/none", node, target=text_of(target), value=_text(container, target)
            )
        return Refusal("item-assignment", node, target=text_of(target), type=container.type)
    return Refusal("item-assignment/type", node, container=container.type, element=element, given=item.type)


# -- arguments -----------------------------------------------------------------------------


def _operand(found: Mismatch, args: Args, kwargs: Kwargs) -> Value | None:
    """What was given for the argument that does not fit."""
    if found.argument in kwargs:
        return kwargs[found.argument]
    names = [argument.name for argument in found.schema.arguments]
    position = names.index(found.argument) if found.argument in names else 0
    operands = [*args[position:], *args, *kwargs.values()]
    return next((value for value in operands if value.type == found.given), None)


def _argument(
    fc: FunctionCompiler, found: Mismatch, source: Value | None, node: ast.AST, callee: str, python: bool
) -> Refusal:
    given, wanted = found.given, found.wanted
    argument = next((a for a in found.schema.arguments if a.name == found.argument), None)
    text = _text(source, None) or found.argument
    inner = wanted.element if isinstance(wanted, t.OptionalType) else wanted
    if isinstance(given, t.OptionalType) and given.element == inner:
        if python:
            facts = {"function": callee, "argument": found.argument, "wanted": str(wanted)}
            is_name = text.isidentifier()
            tested = f'"if {text} is not None:"' if is_name else "copy it to a local variable, and test that"
            facts |= {"tested": tested}
            return Refusal("optional-not-refined/argument", node, value=text, type=given, **facts)
        return not_refined(node, text, given)
    if isinstance(given, t.UnionType) and inner in given.members:
        return not_refined(node, text, given)
    if (
        given is t.TENSOR
        and source is not None
        and source.parameter
        and not (isinstance(inner, t.ListType) and _is_asked_as_tensor(fc, source.parameter))
    ):
        needed = (
            inner.element
            if argument is not None and argument.size and isinstance(inner, t.ListType)
            else inner
        )
        use = f'{callee} takes {needed} as "{found.argument}"'
        facts = {"parameter": source.parameter, "use": use, "place": text_of(node)}
        return Refusal("untyped-parameter", node, **facts, needed=needed)
    if source is not None:
        cause = empties.misfit(fc, source, inner, node) or _optional_element(fc, source, inner, node)
        if cause is not None:
            return cause
    if isinstance(given, t.ModuleType):
        return Refusal("module-as-value", node, value=text)
    # The schemas call a type that may be any "t".
    shown = str(wanted).replace("[t]", "[T] (T any one type)")
    facts = {"function": callee, "argument": found.argument, "wanted": shown, "given": str(given)}
    if given is t.NONE:
        return Refusal("none-argument", node, **facts)
    if given is t.INT and inner is t.FLOAT and python:
        return Refusal(
            "int-for-float",
            node,
            **facts,
            value=text,
            float=f"{text}.0" if text.isdigit() else f"float({text})",
        )
    rule: RuleName = (
        "argument-type/inferred" if argument is not None and argument.inferred else "argument-type"
    )
    if not python and isinstance(node, ast.Call):
        rule, told = _told_apart(node, callee, given, inner) or (rule, {})
        facts |= told
    if not python:
        facts["operator"] = found.schema.name
    # A dtype is an int to TorchScript, and to nobody else.
    annotation = "torch.dtype" if text.endswith(".dtype") else spelled_out.annotation(given)
    return Refusal(rule, node, **facts, value=text, place=text_of(node), annotation=annotation)


def _told_apart(
    node: ast.Call, callee: str, given: t.Type, wanted: t.Type
) -> tuple[RuleName, dict[str, str]] | None:
    """Calls that Python takes in another way than TorchScript, with what to write instead."""
    if callee == "sum" and _holds_tensors(given):
        return "argument-type/summed", {"instead": spelled_out.stacked_sum(node)}
    if wanted is not t.TENSOR or given not in (t.INT, t.FLOAT, t.NUMBER):
        return None
    is_method = isinstance(node.func, ast.Attribute) and not callee.startswith("torch.")
    instead = spelled_out.numbers_by_name(node, is_method=is_method)
    if instead is None:
        return None
    return "argument-type/number-first", {"instead": instead, "form": "method" if is_method else "function"}


def _holds_tensors(type_: t.Type) -> bool:
    if isinstance(type_, t.TupleType):
        return set(type_.elements) == {t.TENSOR}
    return type_ == t.ListType(t.TENSOR)


def _is_asked_as_tensor(fc: FunctionCompiler, name: str) -> bool:
    """Whether a function asks a parameter for what no list has, as in ``x.shape``."""
    return any(
        isinstance(n, ast.Attribute)
        and isinstance(n.value, ast.Name)
        and n.value.id == name
        and not hasattr(list, n.attr)
        for n in walked(fc.node)
    )


def _optional_element(fc: FunctionCompiler, source: Value, wanted: t.Type, node: ast.AST) -> Refusal | None:
    """The element of a literal that may be None where the list may not hold None."""
    elements = source.node.elts if isinstance(source.node, (ast.List, ast.Tuple)) else []
    if isinstance(wanted, t.ListType):
        for element in elements:
            type_ = fc.attempt(element).type
            if isinstance(type_, t.OptionalType) and type_.element == wanted.element:
                return not_refined(node, text_of(element), type_)
    return None


def _text(value: Value | None, otherwise: ast.AST | None) -> str:
    node = value.node if value is not None and value.node is not None else otherwise
    return text_of(node) if node is not None else ""
