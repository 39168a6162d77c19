"""Calls in the walk of modes: functions run in frames of their own, others are looked up."""

from __future__ import annotations

import ast
import itertools

from tsguard.analysis import unread
from tsguard.analysis.budgets import MODE_RECURSIONS
from tsguard.analysis.events import text_of
from tsguard.analysis.mode import quiet, repeated, sides, state, unwritten, uses
from tsguard.analysis.mode.choices import (
    MODES,
    ByMode,
    Either,
    Mode,
    by_mode,
    differs,
    differs_within,
    either,
    lifted,
)
from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.analysis.python import PythonInterpreter, Raised, ancestry, autograd_functions, kept_calls
from tsguard.analysis.python.attributes import APPLY
from tsguard.analysis.python.drawn_numbers import only_outcome
from tsguard.analysis.terms import placed, spelled
from tsguard.analysis.values import (
    FALSE,
    BoundMethod,
    ClassValue,
    Const,
    DictValue,
    External,
    FunctionValue,
    ListValue,
    ModuleValue,
    ObjectValue,
    TensorValue,
    TupleValue,
    Unknown,
    Value,
)
from tsguard.language.modes import is_random_function, is_random_operator
from tsguard.source.unparsing import unparsed

Args = list[Value]
Kwargs = dict[str, Value]

# Questions about how torch runs the code, which in eager mode are answered with no.
_NOT_IN_EAGER = frozenset(
    {
        "torch.jit.is_scripting",
        "torch.jit.is_tracing",
        "torch._C._get_tracing_state",
        "torch.compiler.is_compiling",
        "torch.compiler.is_dynamo_compiling",
        "torch.compiler.is_exporting",
        "torch.onnx.is_in_onnx_export",
        "torch._dynamo.is_compiling",
    }
)
# What reads attributes by names, with the places of the names among the arguments; of a text, anything.
_READERS = {
    "builtins.getattr": slice(1, 2),
    "builtins.hasattr": slice(1, 2),
    "operator.attrgetter": slice(None),
}
# Functions of Python whose result is one value made of several.
_OVER_ITEMS = frozenset(f"builtins.{name}" for name in ("all", "any", "max", "min", "sorted", "sum"))
# Methods of containers and texts that answer, by their arguments.
_ANSWERING = frozenset({"get", "index", "count", "startswith", "endswith", "format", "join", "replace"})
_RUN_TEXTS = frozenset({"builtins.eval", "builtins.exec"})
_OF_GRADIENTS = frozenset({"requires_grad", "create_graph", "retain_graph"})
# Methods that no value comes of.
_OF_GRADIENTS_ALONE = frozenset({"requires_grad_", "backward", "retain_grad", "register_hook"})
# Functions that call the function they are given, at once or later.
_CALLERS = frozenset(
    {"torch.utils.checkpoint.checkpoint", "torch.jit.fork", "torch.jit._fork", "torch.futures.fork"}
)
# Methods of a tensor that give one of the same memory.
_VIEWS = frozenset(
    {
        *("detach", "view", "view_as", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "expand"),
        *("expand_as", "transpose", "t", "permute", "swapaxes", "movedim", "narrow", "select", "diagonal"),
    }
)
_TRANSFORMERS = frozenset(
    {"torch.vmap", "torch.func.vmap", "torch.compile", "torch.jit.script", "torch.jit.script_if_tracing"}
)


def call(
    walk: ModeInterpreter, function: Value, args: Args, kwargs: Kwargs, node: ast.AST | None
) -> Value | None:
    """The result of a call that the walk sees to; None for those of the interpreter."""
    if isinstance(function, BoundMethod) and isinstance(function.function, FunctionValue):
        receiver = function.receiver if isinstance(function.receiver, ModuleValue) else None
        return _run(walk, function.function, [function.receiver, *args], kwargs, node, receiver)
    if isinstance(function, FunctionValue):
        return _run(walk, function, args, kwargs, node, None)
    if isinstance(function, Either):
        return either(walk.call(option, list(args), dict(kwargs), node) for option in function.options)
    if isinstance(function, ByMode):
        return _in_each_mode(walk, function, args, kwargs, node)
    if isinstance(function, ClassValue) and ancestry.is_module_class(walk, function):
        return _construct(walk, function, args, kwargs, node)
    if isinstance(function, BoundMethod) and isinstance(function.function, External):
        if function.function.name.rpartition(".")[2] in ("register_buffer", "register_parameter"):
            state.registered(walk, function.receiver, args, kwargs, node)
        applied = _applied(walk, function, args, kwargs, node)
        if applied is not None:
            return applied
        return _method(walk, function.function.name, function.receiver, args, kwargs, node)
    if isinstance(function, External):
        return _external(walk, function, args, kwargs, node)
    _unknown(walk, function, [*args, *kwargs.values()], node)
    return None


def _applied(
    walk: ModeInterpreter, function: BoundMethod, args: Args, kwargs: Kwargs, node: ast.AST | None
) -> Value | None:
    """What ``apply`` of an ``autograd.Function`` of the project gives; None for other methods."""
    cls = function.receiver if function.function == APPLY else None
    found = autograd_functions.forward_of(walk, cls) if isinstance(cls, ClassValue) else None
    return None if found is None else _run(walk, found[0], [*found[1], *args], kwargs, node, None)


def _run(
    walk: ModeInterpreter,
    function: FunctionValue,
    args: Args,
    kwargs: Kwargs,
    node: ast.AST | None,
    receiver: ModuleValue | None,
) -> Value:
    """Run a function; the result is any of what its paths return."""
    if _is_endless(walk, function, receiver):
        walk.unread(unread.depth(walk.module, node or function.node))
        return Unknown(placed(node))
    is_foreign = not walk.is_own(function.module)
    if is_foreign and quiet.computes_only(walk, function, [*args, *kwargs.values()], receiver):
        return TensorValue()
    return repeated.followed(
        walk, function, args, kwargs, lambda: _followed(walk, function, args, kwargs, node, receiver)
    )


def _is_endless(walk: ModeInterpreter, function: FunctionValue, receiver: ModuleValue | None) -> bool:
    """Whether a function goes on calling itself: that of another module is another one, and there are only so many."""
    calls = itertools.takewhile(lambda frame: frame.receiver in (None, receiver), reversed(walk.frames))
    return sum(frame.function is function.node for frame in calls) > MODE_RECURSIONS


def _followed(
    walk: ModeInterpreter,
    function: FunctionValue,
    args: Args,
    kwargs: Kwargs,
    node: ast.AST | None,
    receiver: ModuleValue | None,
) -> Value:
    """What a function returns, on all its paths."""
    value: list[Value] = []
    with walk.entered(function, node, receiver) as frame:
        try:
            value = [PythonInterpreter.call(walk, function, args, kwargs, node)]
        except Raised:
            if not frame.returned:
                raise
    if walk.program.is_generator(function):
        return value[0] if value else Unknown(placed(node))
    return either([*frame.returned, *value])


def _in_each_mode(
    walk: ModeInterpreter, function: ByMode, args: Args, kwargs: Kwargs, node: ast.AST | None
) -> Value:
    if differs([function]):
        _report_use(walk, node)
    results = []
    ways: list[tuple[Mode, Value]] = [("train", function.train), ("eval", function.eval)]
    for mode, option in ways:
        with walk.only(mode):
            results.append(walk.call(option, list(args), dict(kwargs), node))
    return by_mode(*results, known=True)


def _construct(
    walk: ModeInterpreter, cls: ClassValue, args: Args, kwargs: Kwargs, node: ast.AST | None
) -> Value:
    """A module built in a forward: its constructor is no part of the walk."""
    walk.show()
    made = None if walk.is_own(cls.module) else kept_calls.object_of(walk, cls, args, kwargs)
    if made is None:
        made = walk.plain.call(cls, args, kwargs, node)
    uses.made(walk, made, node)
    return made


def _method(
    walk: ModeInterpreter, name: str, receiver: Value, args: Args, kwargs: Kwargs, node: ast.AST | None
) -> Value | None:
    """Methods of tensors that are random, that change a module's state, or that do another thing in each mode."""
    kind, _, short = name.rpartition(".")
    if short in _ANSWERING and isinstance(receiver, (Const, DictValue, ListValue, TupleValue)):
        return _answered(walk, BoundMethod(External(name), receiver), args, kwargs, node)
    if kind != "method" or not isinstance(receiver, TensorValue):
        return None
    unwritten.made(walk, name, args, node)
    if is_random_operator(short):
        uses.random(walk, f"Tensor.{short}", node)
    elif receiver.role and state.changes_in_place(short) and walk.mode != "train":
        text = (
            unparsed(node.func.value)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            else "it"
        )
        walk.report("state-updated-in-eval", node, name=text)
    elif short not in _OF_GRADIENTS_ALONE and differs_within(_deciding(args, kwargs)):
        _report_use(walk, node)
    return receiver if short in _VIEWS else None


def _answered(
    walk: ModeInterpreter, method: BoundMethod, args: Args, kwargs: Kwargs, node: ast.AST | None
) -> Value | None:
    """What ``outputs.get("a" if self.training else "b")`` gives in each mode."""
    if kwargs or not differs(map(walk.settled, args)):
        return None
    result = lifted(walk, args, lambda values: PythonInterpreter.call(walk, method, values, {}, node))
    if isinstance(result, TensorValue):
        _report_use(walk, node)
    return result


def _external(
    walk: ModeInterpreter, function: External, args: Args, kwargs: Kwargs, node: ast.AST | None
) -> Value | None:
    name = function.name
    named = args[_READERS[name]] if name in _READERS else []
    if name in _RUN_TEXTS or not all(isinstance(walk.settled(given), Const) for given in named):
        walk.read.add("__dict__")  # an attribute whose name nobody knows may be any
    if name in _NOT_IN_EAGER:
        return FALSE
    if name in _CALLERS and args:
        return walk.call(args[0], args[1:], {}, node)
    if name in _TRANSFORMERS and args:
        return args[0]
    if name == "torch.utils.checkpoint.checkpoint_sequential" and len(args) > 2:
        return _in_sequence(walk, args[0], args[2], node)
    if name.startswith("builtins."):
        return _builtin(walk, function, args, kwargs, node)
    state.written_to(walk, kwargs.get("out"), node)
    unwritten.made(walk, name, args, node)
    if name in walk.tables.modules:
        made = PythonInterpreter.call(walk, function, args, kwargs, node)
        uses.made(walk, made, node)
        return made
    if is_random_function(name):
        only = only_outcome(walk, name, args, kwargs)
        if only is not None:
            return only
        uses.random(walk, name, node)
    elif name in sides.RECORDING:
        return None
    elif not uses.function(walk, name, args, kwargs, node) and differs_within(_deciding(args, kwargs)):
        _report_use(walk, node)
    return None


def _deciding(args: Args, kwargs: Kwargs) -> Args:
    """The arguments that decide a result."""
    return [*args, *(value for name, value in kwargs.items() if name not in _OF_GRADIENTS)]


def _report_use(walk: ModeInterpreter, node: ast.AST | None) -> None:
    """What differs by mode is given to a function that may do anything with it."""
    if node is not None:
        walk.report("training-branch", node, test=text_of(node))


def _builtin(
    walk: ModeInterpreter, function: External, args: Args, kwargs: Kwargs, node: ast.AST | None
) -> Value | None:
    """``float(self.training)`` is a value for each mode too, and ``any(layer.training for layer in self.layers)``."""
    is_over_items = function.name in _OVER_ITEMS and differs_within(args)
    if kwargs or not (is_over_items or any(isinstance(walk.settled(arg), ByMode) for arg in args)):
        return None
    if not is_over_items or walk.mode != "both":
        return lifted(walk, args, lambda values: PythonInterpreter.call(walk, function, values, {}, node))
    results = []
    for mode in MODES:
        with walk.only(mode):
            results.append(PythonInterpreter.call(walk, function, args, {}, node))
    return by_mode(*results)


def _in_sequence(walk: ModeInterpreter, functions: Value, value: Value, node: ast.AST | None) -> Value:
    items = (
        list(functions.children.values())
        if isinstance(functions, ModuleValue)
        else getattr(functions, "items", ())
    )
    for function in items:
        if isinstance(function, Value):
            value = walk.call(function, [value], {}, node)
    return value


def _unknown(walk: ModeInterpreter, function: Value, args: Args, node: ast.AST | None) -> None:
    """A call that cannot be followed: what it does matters where it may be a module."""
    if isinstance(function, ObjectValue) and isinstance(function.cls, ClassValue) and function.open:
        missing = ancestry.not_read(walk, function.cls)
        if missing is not None:
            walk.unread(missing)
    if not isinstance(function, Unknown):
        return
    name = spelled(function.term) if function.term is not None else ""
    if name.startswith("torch.distributions.") and name.endswith((".sample", ".rsample")):
        uses.random(walk, name, node)
    elif differs_within(args):
        _report_use(walk, node)
    elif unread.may_do_anything(function):
        walk.unread(unread.what(function, walk.target, walk.module, node or walk.target.node))
