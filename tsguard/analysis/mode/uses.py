"""Reports about layers and functions of torch, by their behaviour in each mode."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tsguard.analysis import torch_parameters
from tsguard.analysis.mode import activity
from tsguard.analysis.mode.activity import Activity
from tsguard.analysis.mode.choices import differs
from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.analysis.python.following import Place
from tsguard.analysis.python.library import descendants
from tsguard.analysis.uniform_layers import begins_uniform
from tsguard.analysis.values import (
    ClassValue,
    DictValue,
    External,
    ModuleValue,
    TensorValue,
    TupleValue,
    Value,
)
from tsguard.language.modes import FUNCTIONS, ModeUse
from tsguard.language.rule_names import RuleName
from tsguard.source.unparsing import unparsed
from tsguard.source.walking import walked

# What a use is called where the modes differ, and where it acts in both: as a layer, as a function.
_BY_MODE: dict[str, tuple[RuleName, RuleName]] = {
    "dropout": ("mode-dependent-layer/dropout", "mode-dependent-call/dropout"),
    "statistics": ("mode-dependent-layer/statistics", "mode-dependent-call/statistics"),
    "slope": ("mode-dependent-layer/slope", "mode-dependent-call/slope"),
}
_IN_BOTH: dict[str, tuple[RuleName, RuleName]] = {
    "renormalising": ("state-updated-in-eval/renormalising-layer", "state-updated-in-eval/renormalising"),
    "sampling": ("random-in-eval/layer", "random-in-eval"),
}


def function(
    walk: ModeInterpreter, name: str, args: list[Value], kwargs: Mapping[str, Value], node: ast.AST | None
) -> bool:
    """Report what a function does; whether the tables know it to depend on a flag."""
    use = FUNCTIONS.get(name)
    if use is None:
        return False
    acts = activity.of_call(walk, use, torch_parameters.bound(walk.tables, name, args, kwargs)).reached_in(
        walk.mode
    )
    is_same = use.effect == "random" and acts.train and acts.eval and _is_seeded(walk, name, node)
    if acts and walk.mode != "train" and not is_same:
        names = [parameter.name for parameter in torch_parameters.of_function(walk.tables, name)]
        is_flag_given = use.flag in kwargs or use.flag in names[: len(args)]
        shown = name.replace("torch.nn.functional.", "F.")
        walk.report(_rule(use, acts, is_flag_given), node, acts.condition, name=shown, flag=use.flag)
    return True


def _rule(use: ModeUse, acts: Activity, is_flag_given: bool) -> RuleName:
    if use.kind in _IN_BOTH:
        return _IN_BOTH[use.kind][1]
    if acts.train != acts.eval or not acts.eval:
        return _BY_MODE[use.kind][1]
    if use.effect == "state":
        return "state-updated-in-eval/statistics"
    if not use.flag:
        return "always-training/no-flag"
    return "always-training/constant" if is_flag_given else "always-training"


def layer(walk: ModeInterpreter, use: ModeUse, base: str, module: ModuleValue, node: ast.AST | None) -> None:
    """Report what a layer of torch.nn does in the modes that it is put in."""
    flags = walk.tree.flag(module)
    acts = activity.of_layer(walk, use, module, flags).reached_in(walk.mode)
    if not acts:
        return
    facts = {"layer": f"nn.{base.rpartition('.')[2]}"}
    if use.kind in _IN_BOTH:
        rule = _IN_BOTH[use.kind][0]
    elif flags[1]:
        rule, facts = _kept_out(walk, module, facts)
    else:
        rule = _BY_MODE[use.kind][0]
    if rule == "layer-never-in-eval/built-in-forward" and use.effect == "state":
        return  # its state goes with it: what it gives is the same in both modes
    walk.report_at(rule, places(walk, module, node), module, acts.condition, **facts)


def _kept_out(
    walk: ModeInterpreter, module: ModuleValue, facts: dict[str, str]
) -> tuple[RuleName, dict[str, str]]:
    """Why a layer is in training mode although the target is in eval()."""
    if walk.tree.path(module) is not None:
        return "layer-never-in-eval/override", facts
    holder = walk.tree.holder(module)
    if holder is not None:
        name, value = holder
        container = "ModuleDict" if isinstance(value, DictValue) else "ModuleList"
        return "layer-never-in-eval", {**facts, "name": name, "container": container}
    return "layer-never-in-eval/built-in-forward", facts


def places(walk: ModeInterpreter, module: ModuleValue, node: ast.AST | None) -> list[Place]:
    """Where a module is made, then where the modules around it are made, innermost first."""
    around = [frame.receiver for frame in reversed(walk.frames) if frame.receiver is not None]
    made = (m.place for m in dict.fromkeys((module, *around)))
    found = [Place(place[1], place[0]) for place in made if place is not None]
    return found or ([Place(walk.module, node)] if node is not None else [])


def power_iteration(walk: ModeInterpreter, module: ModuleValue, node: ast.AST | None) -> None:
    """Spectral normalisation updates its vectors at each call in training mode."""
    train, other = walk.tree.flag(module)
    if not train or walk.mode == "eval":
        return
    rule: RuleName = "layer-never-in-eval/override" if other else "mode-dependent-layer/power-iteration"
    name = module.cls.name if isinstance(module.cls, (ClassValue, External)) else "the layer"
    walk.report_at(rule, places(walk, module, node), module, layer=name.replace("torch.nn.", "nn."))


def observing(walk: ModeInterpreter, module: ModuleValue, name: str, node: ast.AST | None) -> None:
    """An observer learns the range of what it is given, in both modes."""
    shown = name.rpartition(".")[2]
    walk.report_at("state-updated-in-eval/observer", places(walk, module, node), module, name=shown)


def random(walk: ModeInterpreter, name: str, node: ast.AST | None) -> None:
    """Report a function that is random whatever the mode, unless only train() reaches it, or a seed goes before it."""
    if walk.mode != "train" and not _is_seeded(walk, name, node):
        walk.report("random-in-eval", node, name=name)


def made(walk: ModeInterpreter, module: Value, node: ast.AST | None) -> None:
    """Report a module that is made in a forward where its parameters begin as random numbers.

    Where the function gives it weights of its own, it is taken to give it all.  They are no state of the target.
    """
    if isinstance(module, ModuleValue):
        _disown(module)
    function = walk.frames[-1].function if walk.frames else None
    if not isinstance(module, ModuleValue) or function is None or _gives_weights(function):
        return
    pending = [module]
    for layer_made in pending:
        pending.extend(child for child in layer_made.children.values() if isinstance(child, ModuleValue))
        name = layer_made.cls.name if isinstance(layer_made.cls, External) else ""
        holds = any(isinstance(value, TensorValue) for value in layer_made.parameters.values())
        if name and holds and not begins_uniform(name):
            random(walk, name, node)
            return


def _disown(module: ModuleValue) -> None:
    """What changes the parameters and buffers of a module that a call makes changes nothing that stays."""
    for _, part in descendants(module):
        for registry in (part.parameters, part.buffers):
            for name, value in registry.items():
                if isinstance(value, TensorValue):
                    registry[name] = replace(value, role="")


def _gives_weights(function: ast.AST) -> bool:
    """Whether weights are assigned, filled in place, loaded or initialised; to read one gives none."""
    attributes = [part for part in walked(function) if isinstance(part, ast.Attribute)]
    if any(part.attr in ("load_state_dict", "init") for part in attributes):
        return True
    written = (part for part in attributes if isinstance(part.ctx, ast.Store) or part.attr.endswith("_"))
    return any(part.attr == "weight" or "weight" in _owners(part) for part in written)


def _owners(node: ast.Attribute) -> tuple[str, ...]:
    """The attributes that an attribute is taken of: weight and data of ``m.weight.data.fill_``."""
    owner = node.value
    return (*_owners(owner), owner.attr) if isinstance(owner, ast.Attribute) else ()


# What seeds a generator, by the beginning of the names of what draws from it.
_SEEDS = {
    "torch.": ("torch.manual_seed", "torch.random.manual_seed"),
    "numpy.random.": ("np.random.seed", "numpy.random.seed"),
    "random.": ("random.seed",),
}


def _is_seeded(walk: ModeInterpreter, name: str, node: ast.AST | None) -> bool:
    """Whether the function that runs has given the generator one seed on every way to a place."""
    function = walk.frames[-1].function if walk.frames else None
    seeds = next((seeds for start, seeds in _SEEDS.items() if name.startswith(start)), ())
    if function is None or isinstance(function, ast.Lambda) or node is None:
        return False
    if _has_own_generator(node, function):
        return True
    is_seeded = False
    for statement in _before(function.body, node):
        given = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(given, ast.Call) and unparsed(given.func) in seeds:
            is_seeded = any(_is_fixed(argument, function) for argument in given.args)
        elif is_seeded:
            is_seeded = not any(_reseeds(part) for part in walked(statement))
    return is_seeded


def _reseeds(node: ast.AST) -> bool:
    """Whether a call gives a generator another state."""
    name = node.func if isinstance(node, ast.Call) else None
    return isinstance(name, ast.Attribute) and name.attr in (
        "seed",
        "set_state",
        "set_rng_state",
        "manual_seed",
    )


def _has_own_generator(call: ast.AST, function: ast.AST) -> bool:
    """Whether a call draws from a generator that the function makes, and gives no seed that changes."""
    given = [keyword.value for keyword in getattr(call, "keywords", ()) if keyword.arg == "generator"]
    names = {part.id for part in given if isinstance(part, ast.Name)}
    made = [
        statement.value
        for statement in walked(function)
        if isinstance(statement, ast.Assign) and names & {unparsed(target) for target in statement.targets}
    ]
    values = made if names else given
    seeding = [part for part in walked(function) if isinstance(part, ast.Call) and _reseeds(part)]
    is_fixed = all(bool(part.args) and all(_is_fixed(a, function) for a in part.args) for part in seeding)
    return is_fixed and bool(values) and all(unparsed(value).startswith(_GENERATORS) for value in values)


# A generator that is made has one seed until it is given another.
_GENERATORS = ("torch.Generator(", "torch.manual_seed(", "torch.random.manual_seed(")


def _before(body: list[ast.stmt], node: ast.AST) -> Iterator[ast.stmt]:
    """The statements that run before a node whenever it does: those above it in the blocks around it."""
    line = getattr(node, "lineno", 0)
    for place, statement in enumerate(body):
        if not statement.lineno <= line <= (statement.end_lineno or 0):
            continue
        yield from body[:place]
        for field in ("body", "orelse", "finalbody"):
            yield from _before(getattr(statement, field, []), node)


def _is_fixed(argument: ast.expr, function: ast.AST) -> bool:
    """Whether an expression is the same in each call: a number, or one that a loop counts."""
    if isinstance(argument, ast.Name):
        loops = (part for part in walked(function) if isinstance(part, ast.For))
        counting = (loop for loop in loops if unparsed(loop.target) == argument.id)
        return any(unparsed(loop.iter).startswith("range(") for loop in counting)
    return isinstance(argument, ast.Constant)


def check_result(walk: ModeInterpreter, result: Value) -> None:
    """A result that holds a setting that differs by mode."""
    parts = result.items if isinstance(result, TupleValue) else (result,)
    if differs(parts):
        walk.report("training-branch", walk.target.node, test="the result")
