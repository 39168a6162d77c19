"""Types of inputs and outputs: tensors, plain values, and containers known to pytree.

Source: torch/export/_trace.py and torch/utils/_pytree.py: a type is known exactly, and one that
derives from a known one is not.
"""

from __future__ import annotations

import ast
import keyword
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.export.reports import not_known, report
from tsguard.analysis.python import ancestry
from tsguard.analysis.python.following import Frame
from tsguard.analysis.trace.values import Either, Fixed, Traced, is_method
from tsguard.language.rule_names import RuleName
from tsguard.source.functions import FunctionNode
from tsguard.source.walking import walked

if TYPE_CHECKING:
    from tsguard.analysis.trace.context import Tracer

_REGISTERING = frozenset(
    {"register_pytree_node", "_register_pytree_node", "register_dataclass", "register_constant"}
)
# Classes of Python that register nothing for those which derive from them.
_SILENT = frozenset(
    [
        "object", "builtins.object", "builtins.dict", "builtins.list", "builtins.tuple", "builtins.set",
        "collections.OrderedDict", "collections.UserDict", "typing.Generic", "abc.ABC", "enum.Enum",
    ]
)  # fmt: skip
# Objects of Python and numpy that hold something, and that pytree does not know.
_HOLDERS = frozenset(
    [
        "numpy.ndarray", "types.SimpleNamespace", "types.MappingProxyType", "argparse.Namespace",
        "collections.UserDict", "torch.finfo", "torch.iinfo",
    ]
)  # fmt: skip
_KINDS: dict[type[py.Value], str] = {
    py.SetValue: "set",
    py.RangeValue: "range",
    py.SliceValue: "slice",
    py.FunctionValue: "function",
    py.BoundMethod: "method",
    py.Partial: "functools.partial",
    py.ClassValue: "class",
    py.ModuleValue: "class",
    py.ModuleReference: "module",
    py.EnumMember: "enum",
}
_ITERATORS = frozenset({"map", "filter", "zip", "enumerate", "reversed", "iter"})
_VIEWS = frozenset({"keys", "values", "items"})
# What an annotation says of an input that no program takes.
_NOT_TAKEN = frozenset(
    [
        "torch.dtype", "torch.device", "torch.layout", "torch.Generator", "numpy.ndarray", "typing.Callable",
        "collections.abc.Callable", "builtins.set", "typing.Set",
    ]
)  # fmt: skip


def check(tracer: Tracer, value: py.Value, node: ast.AST) -> None:
    """Report a returned value of a type that torch.export does not know."""
    said = _said(node.value) if isinstance(node, ast.Return) else ""
    if said and isinstance(value, (py.ListValue, py.Unknown)):
        report(tracer, "unknown-type", node, type=said)
        return
    if type(value) is py.Unknown and not value.hint and value.default is None:
        not_known(tracer, node, "the source does not tell what it returns")
    pending, seen = [value], set()
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, (py.TupleValue, py.ListValue)):
            pending += value.items
        elif isinstance(value, py.DictValue):
            pending += value.items.values()
        elif isinstance(value, Either):
            pending += value.options
        else:
            rule = _unknown(tracer, value)
            if rule is not None:
                report(tracer, rule, node, type=_named(value))
                return


def _said(returned: ast.expr | None) -> str:
    """The kind of iterator or view that an expression makes, "" for others: values are those that it gives."""
    if isinstance(returned, ast.GeneratorExp):
        return "generator"
    if not isinstance(returned, ast.Call):
        return ""
    if isinstance(returned.func, ast.Name):
        return returned.func.id if returned.func.id in _ITERATORS else ""
    if isinstance(returned.func, ast.Attribute) and _is_variable(returned.func.value):
        return f"dict_{returned.func.attr}" if returned.func.attr in _VIEWS else ""
    return ""


def _is_variable(node: ast.expr) -> bool:
    return isinstance(node, (ast.Dict, ast.Name)) and getattr(node, "id", "") != "self"


def check_input(tracer: Tracer, value: py.Value, node: ast.AST | None) -> None:
    """Report an input of a type that torch.export does not know."""
    if isinstance(value, (py.Atom, py.SetValue, py.RangeValue)):
        report(tracer, "unknown-type/annotated", node, type=_named(value), name=getattr(node, "arg", ""))
    if not isinstance(value, py.ObjectValue) or not isinstance(value.cls, py.ClassValue) or value.open:
        return
    if not _is_registered(tracer, value.cls):
        report(tracer, "unknown-type/input", node, type=value.cls.name)


def check_name(tracer: Tracer, parameter: ast.AST | None) -> None:
    """Report a Tensor whose name, written small, is a keyword: the program has a variable of that name."""
    if isinstance(parameter, ast.arg) and keyword.iskeyword(parameter.arg.lower()):
        report(tracer, "input-name", parameter, name=parameter.arg, keyword=parameter.arg.lower())


def check_annotated(tracer: Tracer, name: str, parameter: ast.arg) -> None:
    """Report an input whose annotation, by its full ``name``, says what no exported program takes."""
    if name in _NOT_TAKEN:
        report(tracer, "unknown-type/annotated", parameter, type=name, name=parameter.arg)


def check_annotated_class(tracer: Tracer, cls: py.ClassValue, parameter: ast.arg) -> None:
    """Report an input annotated with a class of which instances are neither values nor known to pytree."""
    kin = ancestry.kin(tracer, cls)
    if _OTHERWISE.isdisjoint(kin) and _SILENT.issuperset(kin) and not _is_registered(tracer, cls):
        report(tracer, "unknown-type/annotated", parameter, type=cls.name, name=parameter.arg)


# What makes instances plain values, or lets modules stand for the class.
_OTHERWISE = frozenset({"enum.Enum", "typing.Protocol"})


def taken_for(tracer: Tracer, kind: str, value: py.Value | None) -> None:
    """An input without an annotation is used as a dtype or a device, and as nothing else."""
    if isinstance(value, Traced) and value.of == "inputs" and value.origin.parent is None:
        name = value.origin.name
        if name in tracer.untold and _only_says_where(tracer.frames[0].function, name):
            report(tracer, "unknown-type/annotated", tracer.untold[name], type=kind, name=name)


def _only_says_where(function: FunctionNode | None, name: str) -> bool:
    """Whether a function uses a name for where tensors go and of which dtype they are, as no tensor's is used."""
    if function is None:
        return False
    uses = [node for node in walked(function) if isinstance(node, ast.Name) and node.id == name]
    told: set[ast.AST] = set()
    for call in walked(function):
        if isinstance(call, ast.Call):
            told.update(keyword.value for keyword in call.keywords if keyword.arg in ("device", "dtype"))
            told.update(call.args if getattr(call.func, "attr", "") == "to" else ())
    return told.issuperset(uses)


def taken_for_array(tracer: Tracer, value: py.Value, node: ast.AST) -> None:
    """An input is used as an array of numpy."""
    if isinstance(value, Traced) and value.of == "inputs" and value.origin.parent is None:
        report(tracer, "unknown-type/array", node, value.origin)


def class_of(tracer: Tracer, value: py.TensorValue, node: ast.AST | None) -> py.External:
    """The exact class of a tensor: asked for, it is another one while exporting."""
    if isinstance(value, Traced):
        tracer.exports.typed.add(id(node))
    return py.External("torch.nn.Parameter" if value.role == "parameter" else "torch.Tensor")


def compared(tracer: Tracer, left: py.Value, right: py.Value, node: ast.AST) -> None:
    """``type(x) is torch.Tensor``: while exporting a tensor is of another class, and the comparison false."""
    if not isinstance(node, ast.Compare) or not all(_is_tensor_class(side) for side in (left, right)):
        return
    asking = [id(side) in tracer.exports.typed for side in (node.left, node.comparators[0])]
    if len(node.comparators) == 1 and asking.count(True) == 1:
        report(tracer, "held-value/exact" if tracer.check is None else "unknown-type/exact", node)


def _is_tensor_class(value: py.Value) -> bool:
    return isinstance(value, py.External) and value.name == "torch.Tensor"


def check_kind(tracer: Tracer, function: py.FunctionValue) -> None:
    """Report a forward that is no ordinary function."""
    if tracer.program.is_generator(function):
        nodes = walked(function.node)
        node = next((n for n in nodes if isinstance(n, (ast.Yield, ast.YieldFrom))), function.node)
        with tracer.running(Frame(function.name, function.module)):
            report(tracer, "unknown-type/generator", node)


def _unknown(tracer: Tracer, value: py.Value) -> RuleName | None:
    if isinstance(value, py.BoundMethod):
        return "unknown-type" if is_method(value) else None
    if type(value) in _KINDS or isinstance(value, (py.ModuleValue, py.Atom)):
        return "unknown-type"
    if isinstance(value, py.External):
        return "unknown-type" if tracer.tables.is_code(value.name) else None
    if isinstance(value, Fixed):
        return "unknown-type" if _is_property(value) else None
    if isinstance(value, py.Const):
        return "unknown-type" if isinstance(value.value, (bytes, complex)) or value.value is ... else None
    if not isinstance(value, py.ObjectValue):
        return None
    if isinstance(value.cls, py.ClassValue):
        return None if _is_registered(tracer, value.cls) else "unknown-type/object"
    return "unknown-type/object" if getattr(value.cls, "name", "") in _HOLDERS else None


def _is_property(value: Fixed) -> bool:
    """Whether what was read of an input is its dtype, device or layout, and no number or word."""
    if isinstance(value.default, py.Atom):
        return True
    node = value.origin.node
    return isinstance(node, ast.Attribute) and node.attr == value.about and value.about in _PROPERTIES


_PROPERTIES = ("dtype", "device", "layout")


def _named(value: py.Value) -> str:
    if isinstance(value, Fixed):
        return f"torch.{value.about}"
    if isinstance(value, py.Atom):
        return f"torch.{value.kind}"
    if isinstance(value, py.Const):
        return type(value.value).__name__
    if isinstance(value, py.ObjectValue) and not isinstance(value, py.ModuleValue):
        return getattr(value.cls, "name", "object")
    return _KINDS.get(type(value), "class")


def _is_registered(tracer: Tracer, cls: py.ClassValue) -> bool:
    """Whether a class, or one that it derives from, is made known to pytree."""
    for base in ancestry.mro(tracer, cls):
        if not isinstance(base, py.ClassValue):
            name = getattr(base, "name", "")
            if name not in _SILENT and not name.startswith("torch.distributions."):
                return True  # what is not read may do it
            continue
        tree = base.module.file.tree
        if _registers(base.node, _registrars(tree)) or any(
            _registers_by_name(s, base.name) for s in tree.body
        ):
            return True
        if any(_called(decorator) in _REGISTERING for decorator in getattr(base.node, "decorator_list", ())):
            return True
    return False


def _registrars(tree: ast.Module) -> frozenset[str]:
    """The functions that register classes: those of pytree, and those of a file that call these."""
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return _REGISTERING.union(node.name for node in functions if _registers(node, _REGISTERING))


def _registers(node: ast.AST, registrars: frozenset[str]) -> bool:
    """Whether code calls one of these functions, and so may register a class (or those derived from one)."""
    return any(isinstance(part, ast.Call) and _called(part) in registrars for part in walked(node))


def _registers_by_name(node: ast.AST, name: str) -> bool:
    """Whether a statement of a file registers the class of this name."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return False
    calls = [part for part in walked(node) if isinstance(part, ast.Call) and _called(part) in _REGISTERING]
    return any(isinstance(arg, ast.Name) and arg.id == name for call in calls for arg in call.args)


def _called(node: ast.AST) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
