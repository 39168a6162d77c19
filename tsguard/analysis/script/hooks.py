"""Forward hooks and pre-hooks, which torch compiles as methods of the module that they are on.

Source: torch/csrc/jit/api/module.cpp (``check_forward_hook_schema``, ``check_forward_pre_hook_schema``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from tsguard.analysis import unread
from tsguard.analysis import values as py
from tsguard.analysis.events import text_of
from tsguard.analysis.script import results, signatures
from tsguard.analysis.script.compiled import Signature
from tsguard.analysis.script.context import Compiler, FunctionCompiler
from tsguard.analysis.script.inference import describe as kind_of
from tsguard.analysis.script.module_attributes import find
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import (
    Compiled,
    Method,
    Simple,
    Sugared,
    SugaredModule,
    SugaredUnknown,
    Value,
)
from tsguard.language import types as t
from tsguard.language.relations import is_subtype
from tsguard.language.schemas import Schema
from tsguard.source.walking import walked

Args = Sequence[Value]
Kwargs = Mapping[str, Value]

_PRE, _POST = "forward_pre", "forward"


def compile_hooks(compiler: Compiler, owner: SugaredModule) -> None:
    """Compile the hooks of a module, those before forward first: each is given what the last one returns."""
    if not owner.instance.hooks:
        return
    forward = _forward(compiler, None, owner)
    for hook in _functions(compiler, owner, _PRE):
        _compile(compiler, owner, hook, forward, None)
    output = forward.returns if forward is not None else t.UNKNOWN
    for hook in _functions(compiler, owner, _POST):
        compiled = _compile(compiler, owner, hook, forward, output)
        output = _instead(output, compiled.returns) if compiled is not None else t.UNKNOWN


def call(
    compiler: Compiler,
    fc: FunctionCompiler,
    callee: SugaredModule,
    args: Args,
    kwargs: Kwargs,
    node: ast.Call,
) -> Sugared:
    """Call a module with hooks: they take what is given by position as one tuple, which no default fills.

    Raises:
        Refusal: it is not what forward takes.
    """
    forward = _forward(compiler, fc, callee)
    if forward is None:
        fc.unread(node)
        return SugaredUnknown()
    name = compiler.name_of(callee.instance)
    hooks = [*callee.instance.hooks.get(_PRE, ()), *callee.instance.hooks.get(_POST, ())]
    if not any(isinstance(hook, py.FunctionValue) for hook in hooks):
        return Simple(results.result(fc, forward, forward.returns, node))  # what refuses them says so
    if len(args) != len(forward.arguments):
        counts = {"given": len(args), "wanted": len(forward.arguments)}
        raise Refusal("hook-object/call", node, name=name, **counts)
    for argument, given in zip(forward.arguments, args, strict=True):
        if not t.mentions_unknown(given.type) and not is_subtype(given.type, argument.type):
            facts = {"function": text_of(node.func), "argument": argument.name}
            types = {"wanted": str(argument.type), "given": str(given.type)}
            raise Refusal("argument-type", node, **facts, **types, value=text_of(given.node or node))
    return Simple(results.result(fc, forward, _returned(compiler, callee, forward), node))


def _returned(compiler: Compiler, owner: SugaredModule, forward: Schema) -> t.Type:
    """The type of what a call of a module with hooks returns."""
    functions = owner.instance.hooks.get(_POST, [])
    output = forward.returns
    for hook in functions:
        output = _passed_on(compiler, output, hook) if isinstance(hook, py.FunctionValue) else t.UNKNOWN
    return output


def _passed_on(compiler: Compiler, output: t.Type, hook: py.FunctionValue) -> t.Type:
    """What a hook makes of forward's output: what it returns, unless that is None."""
    if not isinstance(hook.node, ast.FunctionDef):
        return t.UNKNOWN
    returns = _signature(compiler, hook).returns
    if returns is None:
        gives = any(isinstance(node, ast.Return) and node.value is not None for node in walked(hook.node))
        return t.UNKNOWN if gives else output
    return _instead(output, returns)


def _instead(output: t.Type, returns: t.Type) -> t.Type:
    return output if returns is t.NONE else returns


def _forward(compiler: Compiler, fc: FunctionCompiler | None, owner: SugaredModule) -> Schema | None:
    """The schema of the forward that the hooks surround."""
    place = compiler.reporter.place_of(owner.instance)[0]
    found = find(compiler, fc, owner, "forward", place)
    schemas = found.schemas if isinstance(found, (Method, Compiled)) else ()
    if not schemas and isinstance(found, Method) and found.function is not None:
        schemas = compiler.method_schemas(fc, owner, "forward", found.function, place)
    return schemas[0] if len(schemas) == 1 and not schemas[0].vararg else None


def _functions(compiler: Compiler, owner: SugaredModule, kind: str) -> Iterator[py.FunctionValue]:
    """The hooks that are functions with a name; the others are reported."""
    place, module = compiler.reporter.place_of(owner.instance)
    name = compiler.name_of(owner.instance)
    for hook in owner.instance.hooks.get(kind, ()):
        if isinstance(hook, py.FunctionValue) and isinstance(hook.node, ast.FunctionDef):
            yield hook
        elif isinstance(hook, py.External):
            compiler.report(Refusal("legacy-norm-hook", place, name=name, hook=hook.name), module)
        elif isinstance(hook, py.Unknown):
            compiler.reporter.add_gap(unread.what(hook, compiler.target, module, place))
        else:
            what = "a lambda" if isinstance(hook, py.FunctionValue) else kind_of(hook)
            compiler.report(Refusal("hook-object", place, name=name, what=what), module)


def _signature(compiler: Compiler, hook: py.FunctionValue) -> Signature:
    assert isinstance(hook.node, ast.FunctionDef)
    return signatures.read(compiler, hook.node, hook.scope, method=True)


def _compile(
    compiler: Compiler,
    owner: SugaredModule,
    hook: py.FunctionValue,
    forward: Schema | None,
    output: t.Type | None,
) -> Schema | None:
    """Compile one hook, if its types are those of what it is given; a pre-hook is given no output."""
    name = compiler.name_of(owner.instance)
    refusal = _mismatch(_signature(compiler, hook), hook, name, forward, output)
    if refusal is not None:
        compiler.report(refusal, hook.module)
        return None
    return compiler.compile_function(hook, owner, f"{name}.{hook.name}")


def _mismatch(
    signature: Signature, hook: py.FunctionValue, name: str, forward: Schema | None, output: t.Type | None
) -> Refusal | None:
    arguments, facts = signature.arguments, {"hook": hook.name, "name": name}
    wanted = 1 if output is None else 2
    is_read = bool(arguments) and arguments[0].type is t.UNKNOWN
    if not is_read and (len(arguments) != wanted or not isinstance(arguments[0].type, t.TupleType)):
        return Refusal("hook-object/signature", hook.node, **facts)
    if output is None and signature.returns is None:
        return Refusal("hook-object/unannotated", hook.node, **facts)
    if forward is None:
        return None
    inputs = t.TupleType(tuple(argument.type for argument in forward.arguments))
    for argument, type_ in zip(arguments, (inputs, output), strict=False):
        if type_ is not None and _differs(argument.type, type_):
            given = {"parameter": argument.name, "given": argument.type, "wanted": type_}
            return Refusal("hook-object/types", hook.node, **facts, **given)
    if output is None and signature.returns is not None and not _may_return(signature.returns, inputs):
        return Refusal("hook-object/returns", hook.node, **facts, given=signature.returns, wanted=inputs)
    return None


def _differs(given: t.Type, wanted: t.Type) -> bool:
    return given != wanted and not t.mentions_unknown(given) and not t.mentions_unknown(wanted)


def _may_return(given: t.Type, inputs: t.TupleType) -> bool:
    """Whether a pre-hook may return it: None, all inputs, or the only one, which is no tuple itself."""
    if given is t.NONE or not _differs(given, inputs):
        return True
    only = inputs.elements[0] if len(inputs.elements) == 1 else None
    return only is not None and not isinstance(only, t.TupleType) and not _differs(given, only)
