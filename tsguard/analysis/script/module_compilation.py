"""What torch compiles for a module: its methods, properties, hooks and submodules.

Source: torch/jit/_recursive.py (``create_script_module_impl``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.analysis import unread
from tsguard.analysis import values as py
from tsguard.analysis.events import Gap
from tsguard.analysis.python import ancestry
from tsguard.analysis.python import classes as python_classes
from tsguard.analysis.python.context import Raised
from tsguard.analysis.script import (
    altered_layers,
    hooks,
    late_defaults,
    left_in_python,
    notes,
    refused_layers,
)
from tsguard.analysis.script.compiled import Signature
from tsguard.analysis.script.concrete_types import concrete_type
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.convert import as_value
from tsguard.analysis.script.interfaces import compile_child
from tsguard.analysis.script.layers import layer_key
from tsguard.analysis.script.library_modules import library_member
from tsguard.analysis.script.module_attributes import (
    chosen_forward,
    overload_declarations,
    overloads_of,
    unused_properties,
)
from tsguard.analysis.script.module_calls import call
from tsguard.analysis.script.own_calls import left_out
from tsguard.analysis.script.property_values import is_readable
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sources import unread_in
from tsguard.analysis.script.submodules import Submodules
from tsguard.analysis.script.sugared import (
    SugaredModule,
    SugaredPython,
    SugaredUnknown,
    Value,
)
from tsguard.analysis.worlds import Asked
from tsguard.language import types as t
from tsguard.source.functions import takes_positional
from tsguard.source.walking import walked


def compile_module(
    compiler: Compiler, instance: py.ModuleValue, interface: tuple[str, ...] | None = None
) -> None:
    """Compile a module and all below it, as ``torch.jit.script(module)`` does.

    Where it stands for an ``interface``, that tells the methods of it and of all below it.
    """
    instance = compiler.model(instance)
    if (id(instance), interface) in compiler.compiled_modules:
        return
    compiler.compiled_modules.add((id(instance), interface))
    if instance.traced:
        return
    changed = altered_layers.unfollowed(compiler, instance)
    if changed is not None:
        compiler.reporter.add_gap(changed)
    layer = layer_key(compiler.interp, instance)
    if layer is not None:
        refused_layers.check_layer(compiler, instance, layer)
        return
    prepared = _prepared(compiler, instance)
    if prepared is None:
        return
    instance = prepared
    _prepare_children(compiler, instance)
    if isinstance(instance.cls, py.ClassValue):
        _check_initialized(compiler, instance)
        compiler.info(instance)
        missing = ancestry.not_read(compiler.interp, instance.cls)
        for gap in (missing, left_out(compiler.interp, instance.cls)):
            if gap is not None:
                compiler.reporter.add_gap(gap)
    _compile_children(compiler, instance, interface)
    for held in instance.attributes.values():
        gap = unread_in(compiler.interp, held)
        if gap is not None:  # a module, for all that is known
            compiler.reporter.add_gap(gap)
    concrete_type(compiler, instance)
    _compile_methods(compiler, instance, interface)


def _compile_children(
    compiler: Compiler, instance: py.ModuleValue, interface: tuple[str, ...] | None
) -> None:
    faces = compiler.info(instance).interfaces
    for name, child in instance.children.items():
        if name in faces:
            compile_child(compiler, instance, name, faces[name])
        elif isinstance(child, py.ModuleValue):
            compile_module(compiler, child, interface)
        elif not py.is_none(child):
            place, module = compiler.reporter.place_of(instance)
            known = unread_in(compiler.interp, child)
            if known is None and isinstance(child, py.Unknown):
                known = unread.what(child, compiler.target, module, place)
            compiler.reporter.add_gap(known or unread.use(module, place))


def _prepare_children(compiler: Compiler, instance: py.ModuleValue) -> None:
    """Put what ``__prepare_scriptable__`` of submodules gives in their place, before anything asks for them.

    Source: torch/jit/_script.py (``call_prepare_scriptable_func_impl``).
    """
    for name, child in instance.children.items():
        if isinstance(child, py.ModuleValue) and isinstance(child.cls, py.ClassValue):
            prepared = _prepared(compiler, child)
            if prepared is not None and prepared is not child:
                compiler.prepared.add(id(prepared))
                instance.children[name] = prepared


def _prepared(compiler: Compiler, instance: py.ModuleValue) -> py.ModuleValue | None:
    """What ``__prepare_scriptable__`` gives to be scripted instead, which is not asked again; None where it refuses."""
    found = python_classes.class_member(compiler.interp, instance.cls, "__prepare_scriptable__")
    if found is None or not isinstance(found[0], py.FunctionValue) or id(instance) in compiler.prepared:
        return instance
    conversation: list[Asked] = []
    try:
        with compiler.interp.world.heard() as conversation:
            result = compiler.interp.call(py.BoundMethod(found[0], instance), [], {})
    except Raised as raised:
        if any(asked.is_guessed for asked in conversation):
            why = f"its __prepare_scriptable__ seems to raise {raised.name}".rstrip()
            compiler.reporter.add_gap(Gap(found[0].module, found[0].node.lineno, why))
            return None
        is_own = any(raised.node is part for part in walked(found[0].node))
        place = raised.node if raised.node is not None and is_own else found[0].node
        compiler.report(
            Refusal("declared-unscriptable", place, name=compiler.name_of(instance)), found[0].module
        )
        return None
    if isinstance(result, py.ModuleValue):
        return compiler.model(result)
    if isinstance(result, py.Unknown):
        why = f"the source does not tell what __prepare_scriptable__ of {compiler.name_of(instance)} gives"
        compiler.reporter.add_gap(Gap(found[0].module, found[0].node.lineno, why))
        return None
    return instance


def _check_initialized(compiler: Compiler, instance: py.ModuleValue) -> None:
    assert isinstance(instance.cls, py.ClassValue)
    if not instance.initialized and not ancestry.has_unknown_base(compiler.interp, instance.cls):
        found = python_classes.class_member(compiler.interp, instance.cls, "__init__")
        own = found[0] if found is not None else None
        if isinstance(own, py.FunctionValue) and not takes_positional(own.node):
            refusal = Refusal("missing-super-init/receiver", own.node, name=instance.cls.name)
            compiler.report(refusal, own.module)
            return
        compiler.report(
            Refusal("missing-super-init", instance.cls.node, name=instance.cls.name), instance.cls.module
        )


# Names that every class has: a property of this name is not seen on the class.
_CLASS_NAMES = frozenset({"__name__", "__qualname__", "__module__", "__doc__", "__dict__"})


def _compile_methods(compiler: Compiler, instance: py.ModuleValue, interface: tuple[str, ...] | None) -> None:
    owner = SugaredModule(instance)
    refused_layers.check(compiler, instance)
    if isinstance(instance.cls, py.External) and instance.hooks:
        hooks.compile_hooks(compiler, owner)
    if isinstance(instance.cls, py.External):
        if instance.cls.name == "torch.nn.Sequential":
            _check_sequential(compiler, owner)
        return
    assert isinstance(instance.cls, py.ClassValue)
    entries = dict(_entries(compiler, instance.cls))
    exported = {name: entry for name, entry in entries.items() if isinstance(entry, py.FunctionValue)}
    names = interface if interface is not None else ("forward", *exported, *instance.cls.overloads)
    with late_defaults.together(compiler, instance, frozenset(names)):
        if interface is None:
            _compile_forward(compiler, owner, is_all=not exported)
            _compile_overloaded(compiler, owner)
        else:
            _compile_named(compiler, owner, interface)
        notes.call_override(compiler, instance)
        for name, function in exported.items() if interface is None else ():
            _compile_method(compiler, owner, name, function)
        for name, entry in entries.items():
            if isinstance(entry, py.PropertyValue) and is_readable(compiler, instance, name, entry):
                with compiler.reporter.compiling_property(instance.cls, name):
                    _compile_property(compiler, owner, name, entry)
    hooks.compile_hooks(compiler, owner)


def _entries(compiler: Compiler, cls: py.Value) -> Iterator[tuple[str, py.Value]]:
    """The exported methods and the properties of a class and of its bases that no nearer member hides."""
    for base in ancestry.mro(compiler.interp, cls):
        for name, member in base.members.items() if isinstance(base, py.ClassValue) else ():
            exported = isinstance(member, py.FunctionValue) and "export" in member.marks
            if not exported and not isinstance(member, py.PropertyValue):
                continue
            if python_classes.class_member(compiler.interp, cls, name) == (member, base):
                yield name, member


def _compile_named(compiler: Compiler, owner: SugaredModule, names: tuple[str, ...]) -> None:
    """The methods that an interface names."""
    for name in names:
        found = python_classes.class_member(compiler.interp, owner.instance.cls, name)
        if found is not None and isinstance(found[0], py.FunctionValue) and "ignore" not in found[0].marks:
            _compile_method(compiler, owner, name, found[0])


def _compile_forward(compiler: Compiler, owner: SugaredModule, *, is_all: bool) -> None:
    """Compile forward, which may be ``all`` that users of a scripted module call."""
    chosen = chosen_forward(owner.instance)
    if chosen is not None:
        _compile_method(compiler, owner, "forward", chosen)
        return
    found = python_classes.class_member(compiler.interp, owner.instance.cls, "forward")
    overridden = found is not None and library_member(compiler, owner, "forward", found[1]) is None
    if found is None or not overridden:
        if ancestry.derives_from(compiler.interp, owner.instance.cls, "torch.nn.Sequential"):
            _check_sequential(compiler, owner)
        else:
            _compile_inherited(compiler, owner)
        return
    function = found[0]
    if isinstance(function, py.StaticMethod):
        function = function.function
    if isinstance(function, py.FunctionValue) and function.marks & left_in_python.MARKS:
        if compiler.root is not None and owner.instance is compiler.model(compiler.root):
            left_in_python.check(compiler, owner, function, is_called=False)
    elif isinstance(function, py.FunctionValue):
        overloads = overloads_of(compiler, owner, "forward")
        if overloads:
            compile_overloads(compiler, owner, "forward", function)
            if compiler.root is not None and owner.instance is compiler.model(compiler.root):
                refusal = Refusal(
                    "call-without-forward/overloaded", function.node, name=compiler.name_of(owner.instance)
                )
                compiler.report(refusal, function.module)
        elif is_all and compiler.root is not None and owner.instance is compiler.model(compiler.root):
            with compiler.reporter.compiling_forward():
                _compile_method(compiler, owner, "forward", function)
        else:
            _compile_method(compiler, owner, "forward", function)


# Methods that forward of torch's layers calls, which a class may override.
_CALLED_BY_FORWARD = (
    "_apply_instance_norm",
    "_check_input_dim",
    "_conv_forward",
    "_get_no_batch_dim",
    "_handle_no_batch_input",
    "_output_padding",
    "check_forward_args",
    "check_hidden_size",
    "check_input",
    "get_expected_cell_size",
    "get_expected_hidden_size",
    "permute_hidden",
)


def _compile_inherited(compiler: Compiler, owner: SugaredModule) -> None:
    """Forward of a layer of torch, which the class has not overridden, with what it has of the rest."""
    forward = library_member(compiler, owner, "forward", None)
    if isinstance(forward, SugaredUnknown):
        place, module = compiler.reporter.place_of(owner.instance)
        gap = ancestry.without_forward(compiler.interp, owner.instance.cls, module, place)
        if gap is not None:
            compiler.reporter.add_gap(gap)
    if isinstance(forward, SugaredPython) and forward.value == py.External("torch.nn.forward"):
        place, module = compiler.reporter.place_of(owner.instance)
        name = compiler.name_of(owner.instance)
        compiler.report(Refusal("unscriptable-layer", place, name=name, why=forward.name), module)
    for name in _CALLED_BY_FORWARD if forward is not None else ():
        found = python_classes.class_member(compiler.interp, owner.instance.cls, name)
        if found is not None and isinstance(found[0], py.FunctionValue):
            _compile_method(compiler, owner, name, found[0])


def _compile_overloaded(compiler: Compiler, owner: SugaredModule) -> None:
    """Methods with overloads are compiled whether they are called or not."""
    cls = owner.instance.cls
    for name in cls.overloads if isinstance(cls, py.ClassValue) else ():
        found = python_classes.class_member(compiler.interp, cls, name)
        if name != "forward" and found is not None and isinstance(found[0], py.FunctionValue):
            compile_overloads(compiler, owner, name, found[0])


def compile_overloads(
    compiler: Compiler, owner: SugaredModule, name: str, function: py.FunctionValue
) -> None:
    """Each declared overload compiles the implementation with its own types."""
    compiler.methods.setdefault((id(owner.instance), name), overloads_of(compiler, owner, name))
    compiler.charge(function)
    label = f"{compiler.name_of(owner.instance)}.{name}"
    for declaration in overload_declarations(owner, name):
        if isinstance(declaration.node, ast.FunctionDef):
            compiler.compile_function(function, owner, label, declaration=declaration.node)


def _compile_method(compiler: Compiler, owner: SugaredModule, name: str, function: py.FunctionValue) -> None:
    compiler.charge(function)
    try:
        compiler.method_schemas(None, owner, name, function, function.node)
    except Refusal as refusal:
        compiler.report(refusal, function.module)


def _compile_property(compiler: Compiler, owner: SugaredModule, name: str, member: py.PropertyValue) -> None:
    if name in _CLASS_NAMES or name in unused_properties(compiler, owner.instance):
        return
    for function in (member.getter, member.setter):
        if isinstance(function, py.FunctionValue) and "unused" not in function.marks:
            _compile_method(
                compiler, owner, name if function is member.getter else f"{name} setter", function
            )


def _check_sequential(compiler: Compiler, owner: SugaredModule) -> None:
    """nn.Sequential's own forward: each child takes what the one before returns."""
    place, module = compiler.reporter.place_of(owner.instance)
    scope = compiler.interp.program.scope(module)
    definition = ast.FunctionDef("forward", ast.arguments([], [], None, [], [], None, []), [], [], None)
    fc = compiler.function(definition, scope, module, Signature((), None))
    call_node = ast.copy_location(ast.Call(ast.copy_location(ast.Name("Sequential"), place), [], []), place)
    value = Value(t.TENSOR, node=call_node)
    for child in Submodules(compiler, owner).values().items:
        if not isinstance(child, SugaredModule):
            return
        try:
            value = as_value(fc, call(compiler, fc, child, [value], {}, call_node), call_node)
        except Refusal as refusal:
            if refusal.rule == "no-forward":
                compiler.report(refusal, module)
                return
            facts = {"child": compiler.name_of(child.instance), "given": str(value.type)}
            compiler.report(Refusal("sequential-types", place, **facts), module)
            return
        if value.type is t.UNKNOWN:
            return
