"""Targets: what would be handed to torch.jit, found in files or named by the user."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import Literal

from tsguard.project.handed import handed_over
from tsguard.project.modules import Module
from tsguard.project.project import Bases, Definition, External, Meaning, Missing, Project
from tsguard.report.likely import nearest
from tsguard.report.records import dataclass

MODULE_BASES = frozenset(
    {
        "torch.nn.Module",
        "torch.jit.ScriptModule",
        "pytorch_lightning.LightningModule",
        "lightning.LightningModule",
        "lightning.pytorch.LightningModule",
    }
)
# The bases that come without a forward; ``object`` is found nowhere.
_WITHOUT_INPUTS = frozenset({"torch.nn.Module", "torch.jit.ScriptModule"})
_SCRIPTERS = frozenset({"torch.jit.script", "torch.jit.script_if_tracing"})


class TargetNotFound(LookupError):
    """A file has no such class or function; the message names the nearest."""


@dataclass(frozen=True, slots=True)
class Target:
    """A class or function, and the call that makes an instance of it, or that the function makes one by.

    ``spec`` is how reports name it: ``model.py:Net`` or ``model.py:Net(64)``.
    ``collates`` tells that a DataLoader of the file calls it to make batches, ``compiled``
    that the file hands it to torch.jit, as far as that can be seen.
    """

    spec: str
    module: Module
    qualname: str
    node: ast.stmt
    kind: Literal["module", "function"]
    call: ast.Call | None = None
    collates: bool = False
    compiled: bool = False

    @property
    def path(self) -> str:
        return self.module.file.path

    @property
    def line(self) -> int:
        return self.node.lineno


def targets_of(project: Project, module: Module) -> list[Target]:
    """Every class that is an ``nn.Module`` and every function meant for torch.jit."""
    handed = handed_over(module)
    found = []
    for qualname, node in _definitions(module.file.tree.body):
        if isinstance(node, ast.ClassDef):
            kind: Literal["module", "function"] = "module"
            if not may_be_module(project, Definition(module, node)):
                continue
        else:
            kind = "function"
        collates = qualname in handed.as_collate
        compiled = any(_ways(project, module, qualname, node))
        if kind == "module" or collates or compiled:
            spec = f"{module.file.path}:{qualname}"
            found.append(Target(spec, module, qualname, node, kind, collates=collates, compiled=compiled))
    return found


def is_only_scripted(project: Project, target: Target) -> bool:
    """Whether a target's file hands it to torch.jit.script and never to torch.jit.trace."""
    scripted, traced = _ways(project, target.module, target.qualname, target.node)
    return scripted and not traced


def find_target(module: Module, expression: str) -> Target:
    """The target that ``FILE:expression`` names: ``Net``, ``Net(64)``, ``Outer.Inner`` or ``make_net(64)``.

    Raises:
        TargetNotFound: there is none of this name, or the expression is no call of one.
    """
    name, call = _split(expression)
    known: dict[str, ast.stmt] = {
        n: b[-1].node for n, b in module.bindings.items() if isinstance(b[-1].node, ast.Assign)
    }
    known.update(_definitions(module.file.tree.body))
    node = known.get(name)
    if node is None:
        near = nearest(name, known)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise TargetNotFound(f"{module.file.path} defines no class or function {name!r}{hint}")
    is_made = call is not None or isinstance(node, ast.ClassDef)
    kind: Literal["module", "function"] = "module" if is_made else "function"
    collates = name in handed_over(module).as_collate
    return Target(f"{module.file.path}:{expression}", module, name, node, kind, call, collates, compiled=True)


def input_names(project: Project, target: Target) -> tuple[str, ...] | None:
    """What the inputs of a target are called; None where that cannot be told."""
    if target.kind == "function":
        return _parameters([target.node])
    if not isinstance(target.node, ast.ClassDef):
        return None
    ancestry = list(_ancestry(project, Definition(target.module, target.node)))
    if any(not isinstance(base, ast.ClassDef) and base not in _WITHOUT_INPUTS for base in ancestry):
        return None
    members = (member for base in ancestry if isinstance(base, ast.ClassDef) for member in base.body)
    return _parameters([member for member in members if _defines_forward(member)])


def _defines_forward(member: ast.stmt) -> bool:
    named = member.targets if isinstance(member, ast.Assign) else [member]
    return any(getattr(node, "id", getattr(node, "name", None)) == "forward" for node in named)


def _parameters(functions: list[ast.stmt]) -> tuple[str, ...] | None:
    """What the parameters of functions are called, of which one is called; None where any name will do."""
    found: dict[str, None] = {}
    for function in functions:
        if not isinstance(function, ast.FunctionDef) or function.args.kwarg is not None:
            return None
        given = function.args
        variadic = [given.vararg] if given.vararg is not None else []
        named = (*given.posonlyargs, *given.args, *variadic, *given.kwonlyargs)
        found |= {parameter.arg: None for parameter in named if parameter.arg != "self"}
    return tuple(found) if functions else None


def is_module_class(project: Project, definition: Definition) -> bool:
    """Whether a class derives from ``nn.Module``, directly or through other classes."""
    return any(
        base in MODULE_BASES or _is_torch_module(base) for base in _external_bases(project, definition)
    )


def _is_torch_module(name: str) -> bool:
    parent, _, cls = name.rpartition(".")
    return (
        parent.startswith("torch.nn") and cls.lstrip("_")[:1].isupper() and cls not in ("Parameter", "Buffer")
    )


def may_be_module(project: Project, definition: Definition) -> bool:
    """Whether a class is an ``nn.Module``, or looks like one whose bases cannot all be read."""
    ancestry = list(_ancestry(project, definition))
    if any(isinstance(base, str) and (base in MODULE_BASES or _is_torch_module(base)) for base in ancestry):
        return True
    return None in ancestry and any(
        isinstance(base, ast.ClassDef) and any(map(_is_forward, base.body)) for base in ancestry
    )


def _is_forward(member: ast.stmt) -> bool:
    return isinstance(member, ast.FunctionDef) and member.name == "forward" and bool(member.args.args)


def _external_bases(project: Project, definition: Definition) -> Iterator[str]:
    for base in _ancestry(project, definition):
        if isinstance(base, str):
            yield base


def _ancestry(project: Project, definition: Definition) -> Iterator[ast.ClassDef | str | None]:
    """A class and its bases: by their definitions, by name where they are not read, None for what is not found."""
    running: list[tuple[ast.ClassDef | None, Iterator[Definition | str | None]]] = [
        (None, iter([definition]))
    ]
    below: set[ast.ClassDef | None] = set()
    while running:
        node, bases = running[-1]
        try:
            base = next(bases)
        except StopIteration:
            running.pop()
            below.discard(node)
            continue
        if not isinstance(base, Definition):
            yield base
        elif isinstance(base.node, ast.ClassDef) and base.node not in below:
            yield base.node
            below.add(base.node)
            running.append((base.node, iter(_bases(project, base.module, base.node))))


def _bases(project: Project, module: Module, node: ast.ClassDef) -> Bases:
    known = project.bases.get((module, node))
    if known is None:
        known = project.bases[module, node] = tuple(
            found for base in node.bases for found in _meant(project, module, base)
        )
    return known


def _meant(project: Project, module: Module, base: ast.expr) -> Iterator[Definition | str | None]:
    """What a base may be."""
    root = base
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    if isinstance(root, ast.Name) and project.has_unread_side(module, root.id):
        yield None
    meaning = resolve(project, module, base)
    if isinstance(meaning, Definition) and isinstance(meaning.node, (ast.Assign, ast.AnnAssign)):
        aliased = meaning.node.value
        meaning = resolve(project, meaning.module, aliased) if aliased is not None else None
    if isinstance(meaning, Definition):
        yield meaning
    elif isinstance(meaning, External):
        yield meaning.name
    elif isinstance(meaning, Missing):
        yield meaning.name
        yield None
    elif not (isinstance(base, ast.Name) and hasattr(builtins, base.id)):
        yield None


def resolve(project: Project, module: Module, expression: ast.expr) -> Meaning | None:
    """What a name or a dotted name means in a module; None for any other expression."""
    if isinstance(expression, ast.Name):
        return project.meaning(module, expression.id)
    if isinstance(expression, ast.Subscript):
        return resolve(project, module, expression.value)
    if not isinstance(expression, ast.Attribute):
        return None
    owner = resolve(project, module, expression.value)
    if isinstance(owner, Module):
        return project.meaning(owner, expression.attr)
    if isinstance(owner, Definition):
        for member in getattr(owner.node, "body", []):
            if getattr(member, "name", None) == expression.attr:
                return Definition(owner.module, member)
        return None
    return type(owner)(f"{owner.name}.{expression.attr}") if owner is not None else None


def _definitions(
    body: list[ast.stmt], prefix: str = ""
) -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Classes and functions at module and class level, also under if/try/with."""
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            qualname = prefix + node.name
            yield qualname, node
            if isinstance(node, ast.ClassDef):
                yield from _definitions(node.body, f"{qualname}.")
        else:
            for block in ("body", "orelse", "finalbody"):
                yield from _definitions(getattr(node, block, []), prefix)
            for handler in getattr(node, "handlers", []):
                yield from _definitions(handler.body, prefix)


def _split(expression: str) -> tuple[str, ast.Call | None]:
    try:
        parsed = ast.parse(expression.strip(), mode="eval").body
    except SyntaxError:
        raise TargetNotFound(_no_target(expression)) from None
    call = parsed if isinstance(parsed, ast.Call) else None
    named = call.func if call is not None else parsed
    if not isinstance(named, (ast.Name, ast.Attribute)):
        raise TargetNotFound(_no_target(expression))
    return ast.unparse(named), call


def _no_target(expression: str) -> str:
    if not expression.strip():
        return "there is not a class, function or constructor call after the colon"
    return f"{expression!r} is not a class, function or constructor call"


def _ways(project: Project, module: Module, qualname: str, node: ast.stmt) -> tuple[bool, bool]:
    """Whether a file hands a definition to torch.jit.script, and whether to torch.jit.trace."""
    handed = handed_over(module)
    decorators = set(_decorators(project, module, node))
    return (
        qualname in handed.to_script or not decorators.isdisjoint(_SCRIPTERS),
        qualname in handed.to_trace or "torch.jit.trace" in decorators,
    )


def _decorators(project: Project, module: Module, node: ast.stmt) -> Iterator[str]:
    """The names of a definition's decorators that come from other packages."""
    plain = (d.func if isinstance(d, ast.Call) else d for d in getattr(node, "decorator_list", ()))
    meanings = (resolve(project, module, decorator) for decorator in plain)
    yield from (meaning.name for meaning in meanings if isinstance(meaning, External))
