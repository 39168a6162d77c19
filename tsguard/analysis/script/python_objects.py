"""Python objects in compiled code: which uses are possible, and why others are not.

Source: torch/csrc/jit/python/python_sugared_value.cpp (``PythonValue``).
"""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of, with_article
from tsguard.analysis.python import ancestry
from tsguard.analysis.python.classes import class_member
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.inference import describe
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import Sugared, SugaredGlobal, SugaredPython, SugaredUnknown
from tsguard.language import schemas
from tsguard.language.rule_names import RuleName


def refusal(compiler: Compiler, value: SugaredPython, node: ast.AST) -> Refusal:
    """Why a Python object cannot be used as a value."""
    given = value.value
    name = text_of(node)
    if isinstance(given, py.ModuleValue):
        return Refusal("global-value/module", node, name=name)
    if isinstance(given, (py.ClassValue, py.FunctionValue, py.External)):
        return Refusal("python-object", node, value=name, kind=_kind(compiler, given))
    return Refusal(_of_global(given), node, name=name, kind=describe(given))


def _of_global(value: py.Value) -> RuleName:
    """The rule for a value: a container is no default of a parameter."""
    return "global-value/container" if isinstance(value, (py.ListValue, py.DictValue)) else "global-value"


_NUMBERS_AND_TEXTS = frozenset({"bool", "int", "float", "str"})


def unknown_global(compiler: Compiler, value: py.Value, name: str, node: ast.AST) -> Sugared | None:
    """A name outside a function of which the source tells no value, as of what the environment holds.

    Raises:
        Refusal: it is a number or a text, whichever.
    """
    value = compiler.interp.settled(value)
    if not isinstance(value, py.Unknown) or value.unread is not None:
        return None
    if value.hint in _NUMBERS_AND_TEXTS:
        raise Refusal("global-value", node, name=name, kind=with_article(value.hint))
    return SugaredGlobal(value, name)


# What to do about an attribute of an object that compiled code cannot have.
KEEP_OR_MOVE = (
    "store the value in an attribute of the module, or move the use to a function with @torch.jit.ignore, "
    "or with @torch.jit.unused if compiled code never calls it"
)


def attribute_refusal(compiler: Compiler, owner: SugaredPython, name: str, node: ast.AST) -> Refusal:
    """Why an attribute of a Python object cannot be looked up."""
    given = owner.value
    if isinstance(given, py.External) and given.name.partition(".")[0] == "numpy":
        return Refusal("numpy-call", node, name=given.name)
    shown = text_of(node.value) if isinstance(node, ast.Attribute) else owner.name or text_of(node)
    repair = KEEP_OR_MOVE
    if isinstance(given, py.ClassValue) and ancestry.is_module_class(compiler.interp, given):
        found = class_member(compiler.interp, given, name)
        if found is not None and isinstance(found[0], py.FunctionValue):
            repair = f"give the method another name in {shown}, and call it on self"
    facts = {"name": name, "owner": shown, "kind": _kind(compiler, given), "repair": repair}
    return Refusal("python-object/attribute", node, **facts)


def _kind(compiler: Compiler, given: py.Value) -> str:
    """What a Python object is, in the user's terms."""
    if not isinstance(given, py.External):
        return describe(given)
    entry = compiler.tables.entry(given.name)
    return "a class" if isinstance(entry, dict) and entry.get("class") else "a Python object"


def subscripted(compiler: Compiler, owner: SugaredPython, node: ast.Subscript) -> Sugared:
    """An item of a Python object, which torch does not take."""
    if isinstance(owner.value, py.Unknown):
        return SugaredUnknown(owner.value)
    raise refusal(compiler, owner, node.value)


def check_call(compiler: Compiler, callee: SugaredPython, node: ast.Call) -> None:
    """Whether a Python object may be called opaquely.

    Raises:
        Refusal: torch refuses to call it.
    """
    value = callee.value
    interp = compiler.interp
    if isinstance(value, py.ClassValue) and ancestry.is_module_class(interp, value):
        raise Refusal("module-built-in-forward", node, name=text_of(node.func))
    if isinstance(value, py.ModuleValue) and _is_compiled(compiler, value):
        raise Refusal("global-value/scripted", node.func, name=text_of(node.func))
    if isinstance(value, py.External):
        _check_external(compiler, value, node)
    if isinstance(value, py.Partial):
        _check_partial(compiler, value, node)
    if isinstance(value, (py.Const, py.ListValue, py.DictValue, py.TupleValue, py.TensorValue)):
        raise Refusal(_of_global(value), node, name=callee.name, kind=describe(value))


def _check_partial(compiler: Compiler, value: py.Partial, node: ast.Call) -> None:
    """Torch reads the types of a functools.partial from its signature, in which what is bound by name stays."""
    count = _annotated_count(compiler, value.function)
    if count is not None and count - len(value.args) != len(node.args):
        why = "of a functools.partial every parameter has to be passed, also what has a default or is bound by keyword"
        raise Refusal("unscriptable-function", node, name=text_of(node.func), why=why)


def _annotated_count(compiler: Compiler, function: py.Value) -> int | None:
    """The number of a function's parameters; None where no annotation tells torch of them."""
    if isinstance(function, py.FunctionValue) and isinstance(function.node, ast.FunctionDef):
        spec = function.node.args
        if spec.vararg or spec.kwarg:
            return None
        parameters = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]
        is_annotated = any(parameter.annotation for parameter in parameters) or function.node.returns
        return len(parameters) if is_annotated else None
    entry = compiler.tables.entry(function.name) if isinstance(function, py.External) else None
    listed: list[str] = entry.get("schemas", []) if isinstance(entry, dict) else []
    return len(schemas.parse(listed[0]).arguments) if len(listed) == 1 else None


def _is_compiled(compiler: Compiler, module: py.ModuleValue) -> bool:
    """Whether a module is a ScriptModule, which may be called by what holds it alone."""
    scripts = ("torch.jit.ScriptModule", "torch.jit._script.ScriptModule")
    return module.scripted or any(
        ancestry.derives_from(compiler.interp, module.cls, name) for name in scripts
    )


def _check_external(compiler: Compiler, value: py.External, node: ast.Call) -> None:
    name = value.name
    head, shown = name.partition(".")[0], text_of(node.func)
    entry = compiler.tables.entry(name) if head == "torch" else None
    if isinstance(entry, dict) and entry.get("class") == "module":
        raise Refusal("module-built-in-forward", node, name=shown)
    if head == "numpy":
        raise Refusal("numpy-call", node, name=shown)
    if isinstance(entry, dict) and entry.get("class"):
        raise Refusal("class-built-in-forward", node, name=shown)
    if head not in ("torch", "builtins"):
        raise Refusal("python-call", node, name=shown)
