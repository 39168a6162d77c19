"""What was not read and so may be anything: in words, with the one thing to do about it.

A gap names the statement by which such a thing comes into the code, so that one cause is one
gap however often it is used and however many targets it stands behind.
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from tsguard.analysis.events import Gap, text_of
from tsguard.analysis.terms import Attribute, Call, Named, Parameter, Term, parameter_in
from tsguard.project.project import COMPILED_ONLY
from tsguard.report.judgements import ASK_TORCH
from tsguard.source.functions import named_parameters

if TYPE_CHECKING:
    from tsguard.analysis.values import Unknown
    from tsguard.project import Project, Target
    from tsguard.project.modules import Module
    from tsguard.project.project import Missing

_ENVIRONMENT = "name the environment that has it: `python` in the configuration, or VIRTUAL_ENV"


def source(project: Project, missing: Missing, module: Module, node: ast.AST | None) -> Gap:
    """Of an imported name: its package is not installed where packages are read, or does not show it."""
    package, _, rest = missing.name.partition(".")
    if missing.why:
        return _gap(module, node, f"the source of {missing.name} cannot be read: {missing.why}", missing.help)
    if project.finder.find(package, module) is None:
        return _gap(module, node, f'the source of package "{package}" cannot be found', _ENVIRONMENT)
    return _gap(
        module,
        node,
        f'"{rest or missing.name}" of package "{package}" is not found in its source',
        ASK_TORCH,
    )


def stub(name: str, module: Module, node: ast.AST | None) -> Gap:
    """Of an imported name: of the module that defines it, only a stub is there."""
    return _gap(module, node, f"only a stub of {name} is installed, not its source", ASK_TORCH)


def base(module: Module, node: ast.ClassDef) -> Gap:
    """Of a class: one of its bases is no class that can be read."""
    return _gap(module, node, f"a base class of {node.name} cannot be found", ASK_TORCH)


def never_made(target: Target) -> Gap:
    """Of a target: nothing that was seen makes one."""
    maker = "its constructor" if isinstance(target.node, ast.ClassDef) else f"{target.qualname}()"
    why = f"every path through {maker} that was analysed raises"
    return Gap(target.module, target.line, why)


def no_module(target: Target) -> Gap:
    """Of a target that is a call: what it returns is nothing that torch.jit takes."""
    why = f"{target.qualname}() returns neither a module nor a function"
    return _gap(target.module, target.node, why, "name a call that returns one")


def abstract(module: Module, node: ast.AST) -> Gap:
    """Of a class whose forward does nothing: what torch makes of it tells nothing about those derived from it."""
    return _gap(module, node, "its forward is abstract", "check a class that overrides it")


def unmade(module: Module, node: ast.AST, name: str) -> Gap:
    """Of a class that Python makes no instances of."""
    return _gap(
        module, node, f"its {name} is abstract: it cannot be constructed", "check a class that overrides it"
    )


def inherited(module: Module, node: ast.AST, name: str) -> Gap:
    """Of a module: its forward is that of a class of torch that no table describes."""
    return _gap(module, node, f"the forward that {name} inherits from torch is not known", ASK_TORCH)


def hooked(module: Module, node: ast.AST, name: str) -> Gap:
    """Of an attribute that a module is asked for: code of its class makes it, which was not followed to its end."""
    return _gap(module, node, f"the source does not tell what __getattr__ gives for {name}", ASK_TORCH)


def no_forward(module: Module, node: ast.AST, name: str) -> Gap:
    """Of a module that is called: neither its class nor any above it has a forward."""
    return _gap(
        module, node, f"{name} defines no forward, so calling it raises", "check a class that defines it"
    )


def own_call(module: Module, node: ast.AST) -> Gap:
    """Of a module: it is called by code that a scripted module does not have."""
    return _gap(
        module, node, "torch.jit.script ignores __call__ and compiles forward", "move it into forward"
    )


def parameters(module: Module, node: ast.AST) -> Gap:
    """Of the parameters of a module in a plain container: tracing takes them only where they are frozen."""
    callee = node.func if isinstance(node, ast.Call) else node
    return _gap(
        module,
        node,
        f"{text_of(callee)} is not a submodule, and the source does not tell whether its parameters require"
        " gradients",
        "store it in an nn.ModuleList, or freeze it with requires_grad_(False)",
    )


def frozen(module: Module, node: ast.AST) -> Gap:
    """Of a parameter that is changed in place: a trace cannot do that to one that takes gradients."""
    return _gap(
        module,
        node,
        f"{text_of(node)} changes a parameter in place, and the source does not tell whether it requires gradients",
        "freeze the module that holds it with requires_grad_(False), or make it a buffer",
    )


def kind(module: Module, parameter: ast.arg) -> Gap:
    """Of a forward that goes through an input: a trace holds the length of a list, and as many rows of a tensor."""
    name = parameter.arg
    return _gap(
        module,
        parameter,
        f"the source does not tell whether {name} is a list or a tensor",
        f"annotate it, as in {name}: List[Tensor]",
    )


def depth(module: Module, node: ast.AST) -> Gap:
    """Of a function's result: the calls that give it nest without an end in sight."""
    return _gap(module, node, "the calls are nested too deeply to analyse", ASK_TORCH)


def size(name: str, module: Module, node: ast.AST | None) -> Gap:
    """Of a function's result or a definition: it takes more steps than it is followed for."""
    return _gap(module, node, f"{name} is too large to be analysed completely", ASK_TORCH)


def guesses(name: str, module: Module, node: ast.AST | None) -> Gap:
    """Of a function's result: all that was tried of what its arguments do not tell makes it raise."""
    return _gap(module, node, f"{name} could not be analysed completely", ASK_TORCH)


def use(module: Module, node: ast.AST) -> Gap:
    """Of a value that compiled code uses: what makes it is not followed."""
    node = node.func if isinstance(node, ast.Call) else node
    named = node.name if isinstance(node, (ast.ClassDef, ast.FunctionDef)) else ""
    what_of = f"all parts of {named} are" if named else f"{text_of(node)} is"
    return _gap(module, node, f"the source does not tell what {what_of}", ASK_TORCH)


def of_torch(name: str, module: Module, node: ast.AST) -> Gap:
    """Of a name of torch that no table describes: torch may compile its source, and refuse that."""
    return _gap(module, node, f"what torch.jit.script makes of {name} is not known", ASK_TORCH)


def what(value: Unknown, target: Target, module: Module, node: ast.AST) -> Gap:
    """Of an unknown that is called or is a part: what is known of the reason, at least its place."""
    if value.unread is not None:
        return value.unread
    origin = parameter_in(value.term)
    if origin is not None and origin.module is not None and _is_given_by(origin, target):
        return _argument(origin, origin.module, target)
    return use(module, node)


def is_compiled(called: Unknown) -> bool:
    """Whether what is called is there, and only as compiled code."""
    return called.unread is not None and COMPILED_ONLY in called.unread.why


def may_do_anything(called: Unknown) -> bool:
    """Whether a call of what is not known may be that of a module, or change one."""
    if is_of_library(called.term):
        return False
    return called.unread is not None or (called.default is None and may_be_module(called))


def is_of_library(term: Term | None) -> bool:
    """Whether a term is what an object of the standard library holds or gives: ``logger.warning``."""
    while isinstance(term, (Attribute, Call)):
        term = term.owner if isinstance(term, Attribute) else term.function
    dotted = term.identity if isinstance(term, Named) else None
    return isinstance(dotted, str) and dotted.partition(".")[0] in LIBRARY


LIBRARY = sys.stdlib_module_names - {"builtins"}


def may_be_module(called: Unknown) -> bool:
    """Whether what is called may be a module, rather than a method of some plain value."""
    return not isinstance(called.term, Attribute) or parameter_in(called.term) is not None


def _is_given_by(parameter: Parameter, target: Target) -> bool:
    """Whether it is for the target's arguments to say what a parameter is: forward gets its own later."""
    name = getattr(parameter.function, "name", "__init__")
    return target.kind == "function" or name in ("__init__", "__new__")


def _argument(parameter: Parameter, module: Module, target: Target) -> Gap:
    """Of a parameter that a target does not give."""
    spec = getattr(parameter.function, "args", None)
    given = [*named_parameters(spec), spec.vararg, spec.kwarg] if isinstance(spec, ast.arguments) else []
    node = next((argument for argument in given if argument and argument.arg == parameter.name), None)
    stars = next((sign for kind, sign in _STARS.items() if node and getattr(spec, kind) is node), "")
    # A file that another has imported before goes by another path than the one that it is named by.
    path = target.spec.partition(f":{target.qualname}")[0] if ":" in target.spec else target.path
    example = "..." if stars else f"{parameter.name}=..."
    remedy = f"name the arguments: '{path}:{target.qualname}({example})'"
    subject = f"{stars}{parameter.name} are arguments" if stars else f"{parameter.name} is an argument"
    annotation = node.annotation if node is not None else None
    lacking = "value" if isinstance(annotation, ast.Name) and annotation.id in _PLAIN else "type"
    return _gap(module, node, f"{subject} of the constructor of unknown {lacking}", remedy)


_STARS = {"vararg": "*", "kwarg": "**"}
_PLAIN = frozenset({"bool", "int", "float", "str"})


def _gap(module: Module, node: ast.AST | None, why: str, help_: str) -> Gap:
    return Gap(module, getattr(node, "lineno", 1), why, help_)
