"""Write the torch tables that tsguard ships, from the installed torch.

    python tools/torch_tables.py FOLDER

They go into a folder of the release's name in FOLDER; tools/table_changes.py puts them into
the package.  Every fact is asked of torch itself: operator schemas from its registry, callables
by resolving and compiling them, modules of ``torch.nn`` by constructing and scripting them.  What
hangs on how torch was built is told as of a build without CUDA.  Run it once per torch release; a
test compares the shipped tables of a release with the torch installed in its environment.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import logging
import os
import re
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from nn_samples import SAMPLES
from table_changes import write
from torch import nn
from torch.jit._builtins import _find_builtin

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

OPERATOR_NAMESPACES = ("aten", "prim", "cuda", "quantized")
NAMESPACES = [
    "torch",
    "torch.jit",
    "torch._jit_internal",
    "torch.nn",
    "torch.overrides",
    "torch.autograd",
    "torch.amp",
    "torch.cuda.amp",
    "torch.utils.checkpoint",
    "torch.profiler",
    "torch.compiler",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.parameter",
    "torch.nn.utils",
    "torch.nn.utils.rnn",
    "torch.nn.utils.parametrizations",
    "torch.nn.utils.parametrize",
    "torch.nn.utils.prune",
    "torch.nn.utils.fusion",
    "torch.nn.utils.weight_norm",
    "torch.nn.utils.spectral_norm",
    "torch.nn.utils.stateless",
    "torch.nn.utils.skip_init",
    "torch.nn.utils.clip_grad",
    "torch.nn.modules",
    "torch.nn.modules.activation",
    "torch.nn.modules.adaptive",
    "torch.nn.modules.batchnorm",
    "torch.nn.modules.channelshuffle",
    "torch.nn.modules.container",
    "torch.nn.modules.conv",
    "torch.nn.modules.distance",
    "torch.nn.modules.dropout",
    "torch.nn.modules.flatten",
    "torch.nn.modules.fold",
    "torch.nn.modules.instancenorm",
    "torch.nn.modules.lazy",
    "torch.nn.modules.linear",
    "torch.nn.modules.loss",
    "torch.nn.modules.module",
    "torch.nn.modules.normalization",
    "torch.nn.modules.padding",
    "torch.nn.modules.pixelshuffle",
    "torch.nn.modules.pooling",
    "torch.nn.modules.rnn",
    "torch.nn.modules.sparse",
    "torch.nn.modules.transformer",
    "torch.nn.modules.upsampling",
    "torch.nn.modules.utils",
    "torch.nn.common_types",
    "torch.nn.parallel",
    "torch.nn.attention",
    "torch.nn.quantized",
    "torch.functional",
    "torch.fft",
    "torch.linalg",
    "torch.special",
    "torch.sparse",
    "torch.nested",
    "torch.autograd",
    "torch.autograd.function",
    "torch.autograd.functional",
    "torch.autograd.grad_mode",
    "torch.autograd.profiler",
    "torch.profiler",
    "torch.amp",
    "torch.cuda",
    "torch.cuda.amp",
    "torch.cpu",
    "torch.jit",
    "torch._jit_internal",
    "torch._C",
    "torch._VF",
    "torch.overrides",
    "torch.compiler",
    "torch._dynamo",
    "torch.utils",
    "torch.utils.checkpoint",
    "torch.utils.data",
    "torch.onnx",
    "torch.random",
    "torch.backends",
    "torch.backends.cuda",
    "torch.backends.cudnn",
    "torch.backends.mps",
    "torch.distributed",
    "torch.distributions",
    "torch.export",
    "torch.func",
    "torch.hub",
    "torch.library",
    "torch.mps",
    "torch.optim",
    "torch.quantization",
    "torch.ao.quantization",
    "torch.ao.nn.quantized",
    "torch.serialization",
    "torch.testing",
    "torch.types",
    "torch.version",
    "torch.nn.modules.utils",
    "torch.autograd.variable",
    "torch.ops",
    "torch.fx",
    "torch.masked",
    "torch.multiprocessing",
    "torch.utils.data.dataloader",
    "torch.utils.data.dataset",
    "torch.utils.model_zoo",
    "torch.distributed.nn",
    "torch.optim.lr_scheduler",
    "torch._utils",
    "torch.tensor",
    "torch.signal",
    "torch.package",
    "torch.return_types",
    "torch.classes",
    "torch.storage",
    "math",
    "cmath",
]


# Addresses and paths, which differ from run to run.
_MACHINE = re.compile(r" \(of Pyth[^)]*\)| at 0x[0-9a-f]+| at   File \"/.*|: /.*| from '/[^']*'")


def short(error: BaseException) -> str:
    """The first informative line of an error: of a call by a schema, what does not fit."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    skip = ("Arguments for call are not valid", "The following variants")
    informative = [line for line in lines if not line.startswith(skip)]
    first = informative[0] if informative else type(error).__name__
    if first.endswith(":") and " -> " in first:
        first = next((line for line in informative if line.startswith("Expected a value")), first)
    return _MACHINE.sub("", f"{type(error).__name__}: {first}")[:200]


def of_torch(value: object) -> bool:
    """Whether a class is torch's or Python's own, and not of a package that happens to be installed."""
    package = getattr(value, "__module__", "torch").partition(".")[0]
    return not inspect.isclass(value) or package in (*sys.stdlib_module_names, "torch", "functorch")


def render(schema: Any) -> str:
    """A schema as text; ``str(schema)`` asserts on defaults of broadcasting lists."""
    parts = []
    keyword_only = False
    for argument in schema.arguments:
        if argument.kwarg_only and not keyword_only:
            keyword_only = True
            parts.append("*")
        kind = str(argument.type)
        if argument.N is not None:
            kind = re.sub(r"List\[(\w+)\]", rf"\1[{argument.N}]", kind)
        default = ""
        if argument.has_default_value():
            try:
                default = f"={literal(argument.default_value)}"
            except RuntimeError:
                default = "=..."
        parts.append(f"{kind} {argument.name}{default}")
    returns = ", ".join(str(r.type) for r in schema.returns)
    return f"{schema.name}({', '.join(parts)}) -> {returns}"


def literal(value: object) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def operators() -> dict[str, list[str]]:
    """Operator name to its overloads, in the order in which torch tries them."""
    names = {s.name for s in torch._C._jit_get_all_schemas()}
    table = {}
    for name in sorted(names):
        if name.partition("::")[0] in OPERATOR_NAMESPACES and "::_test" not in name:
            schemas = torch._C._jit_get_schemas_for_operator(name)
            table[name] = [str(s).partition("::")[2] for s in schemas]
    return table


def constant(value: object) -> dict[str, Any] | None:
    """A plain value that a module attribute may hold, or None."""
    if isinstance(value, str) and value.startswith("/"):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"const": repr(value)}
    for kind in ("dtype", "device", "layout", "memory_format", "qscheme"):
        if isinstance(value, getattr(torch, kind)):
            return {"atom": kind, "value": str(value).removeprefix("torch.")}
    return None


def compiled_each(functions: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """What ``compiled`` says of each, asked in child processes, because the compiler may crash."""
    left = list(functions)
    while left:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            with os.fdopen(writer, "w") as pipe:
                for function in left:
                    print(json.dumps(compiled(function)), file=pipe, flush=True)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            answers = [json.loads(line) for line in pipe if line.endswith("\n")]
        os.waitpid(child, 0)
        if len(answers) < len(left):
            answers.append({"fails": "the compiler crashes"})
        yield from answers
        del left[: len(answers)]


def compiled(function: Any) -> dict[str, Any]:
    """What happens when a Python function is reached by torch.jit.script."""
    if torch._jit_internal.is_ignored_fn(function):
        return {"ignored": True}
    try:
        overloads = torch.jit._script._get_overloads(function)
        if overloads:
            return {"schemas": [render(f.schema) for f in overloads]}
        scripted = torch.jit._recursive.try_compile_fn(function, torch._sources.fake_range())
        return {"schemas": [render(scripted.schema)]}
    except Exception as error:
        return {"fails": short(error)}


def class_kind(cls: type) -> str:
    for kind, base in (
        ("module", nn.Module),
        ("exception", BaseException),
        ("autograd", torch.autograd.Function),
        ("tensor", torch.Tensor),
        ("enum", __import__("enum").Enum),
        ("tuple", tuple),
    ):
        if issubclass(cls, base):
            return kind
    return "context" if hasattr(cls, "__enter__") else "class"


def describe(value: Any) -> dict[str, Any] | str | None:
    """What a name means to torch.jit.script, or None for what is not a value."""
    if isinstance(value, types.ModuleType):
        return {"module": value.__name__}
    plain = constant(value)
    if plain:
        return plain
    symbol = _find_builtin(value)
    if symbol and not inspect.isclass(value):
        return symbol
    if inspect.isfunction(value) and value in torch._jit_internal.boolean_dispatched:
        return dispatch(value)
    if inspect.isclass(value):
        entry = {"class": class_kind(value), "is": f"{value.__module__}.{value.__qualname__}"}
        return {**entry, "op": symbol} if symbol else entry
    if callable(value):
        return {"builtin": type(value).__name__}
    return {"object": type(value).__name__}


def is_compiled(value: Any) -> bool:
    """Whether torch.jit.script compiles a function that it meets, so that it has to be asked."""
    dispatched = torch._jit_internal.boolean_dispatched
    return inspect.isfunction(value) and not _find_builtin(value) and value not in dispatched


def signature(function: Any) -> dict[str, Any]:
    """The names of a function's parameters, where Python knows them."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
    return {"parameters": [str(p).partition(":")[0].partition("=")[0] for p in parameters.values()]}


def dispatch(value: Any) -> dict[str, Any]:
    """A function that a flag chooses, which may be chosen by another flag in turn."""
    dispatched = torch._jit_internal.boolean_dispatched.get(value)
    if dispatched is None:
        return next(compiled_each([value]))
    return {
        "dispatch": dispatched["arg_name"],
        "index": dispatched["index"],
        "default": dispatched["default"],
        "true": dispatch(dispatched["if_true"]),
        "false": dispatch(dispatched["if_false"]),
    }


def names() -> dict[str, Any]:
    """Qualified name to its meaning; a second name of a thing is an alias of the first."""
    table: dict[str, Any] = {}
    first_names: dict[int, str] = {}
    functions: dict[str, Any] = {}
    for namespace, module in namespaces():
        table.setdefault(namespace, {"module": namespace})
        for name, value in members(module):
            qualified = f"{namespace}.{name}"
            shared = callable(value) and not isinstance(value, type(None))
            if shared and id(value) in first_names:
                table[qualified] = "=" + first_names[id(value)]
                continue
            if is_compiled(value) and namespace != "torch._C":
                functions[qualified] = value
                first_names[id(value)] = qualified
                continue
            entry = describe(value)
            internal = namespace == "torch._C" and not isinstance(entry, str)
            if entry and not internal:
                table[qualified] = entry
                if shared:
                    first_names[id(value)] = qualified
    for name, answer in zip(functions, compiled_each(functions.values()), strict=True):
        table[name] = {**answer, **signature(functions[name])}
    return table


def namespaces() -> Iterator[tuple[str, Any]]:
    """The modules, and what is used as one, that this torch has."""
    for namespace in dict.fromkeys(NAMESPACES):
        try:
            module = importlib.import_module(namespace)
        except Exception:
            module = getattr(torch, namespace.rpartition(".")[2], None)
        if module is not None:
            yield namespace, module


def members(module: Any) -> Iterator[tuple[str, Any]]:
    """What a module holds of torch's own."""
    for name in dir(module):
        if name.startswith("__"):
            continue
        try:
            value = getattr(module, name)
        except Exception:
            continue
        foreign = isinstance(value, types.ModuleType) and not value.__name__.startswith("torch")
        if not foreign and of_torch(value):
            yield name, value


def tensor_api() -> dict[str, Any]:
    """Every public name of a Tensor: a method, a property, or absent from script."""
    table = {}
    for name in sorted(set(dir(torch.Tensor))):
        if name.startswith("__"):
            continue
        member = inspect.getattr_static(torch.Tensor, name)
        kind = "property" if inspect.isdatadescriptor(member) else "method"
        table[name] = kind
    return table


def attribute(value: Any) -> str:
    """The TorchScript type that torch infers for an attribute, or what hinders it."""
    inferred = torch._C._jit_try_infer_type(value)
    return str(inferred.type()) if inferred.success() else "?"


def method_schemas(module: nn.Module, name: str) -> dict[str, Any]:
    """A method's schemas, got by compiling it on a fresh concrete type."""
    recursive = torch.jit._recursive
    torch._C._jit_clear_class_registry()
    recursive.concrete_type_store = recursive.ConcreteTypeStore()
    torch.jit._state._clear_class_state()
    try:
        stubs = lambda m: (  # noqa: E731
            recursive.infer_methods_to_compile(m)
            if m is not module or name == "forward"
            else [recursive.make_stub_from_method(m, name)]
        )
        scripted = recursive.create_script_module(module, stubs)
        found = [
            scripted._c._get_method(method)
            for method in scripted._c._method_names()
            if method == name or method.startswith(f"{name}__")
        ]
        return {"schemas": [render(m.schema) for m in found]}
    except Exception as error:
        return {"fails": short(error)}


def function_schemas(function: Callable[..., Any]) -> dict[str, Any]:
    """The schema of a static method, which is a plain function."""
    try:
        return {"schemas": [render(torch.jit.script(function).schema)]}
    except Exception as error:
        return {"fails": short(error)}


def holder_schemas(module: nn.Module) -> dict[str, Any]:
    """The schemas of ``forward`` as a parent module sees them."""
    return method_schemas(module, "forward")


def describe_module(cls: type[nn.Module], sample: str) -> dict[str, Any]:
    scope = {"nn": nn, "torch": torch, "cls": cls}
    module = eval(f"cls({sample})", scope)
    args, kwargs = eval(f"(lambda *a, **k: (a, k))({sample})", scope)
    bound = inspect.Signature(named_parameters(cls)).bind(*args, **kwargs)
    bound.apply_defaults()
    members = {}
    skip = set(nn.Module().__dict__) - {"training"}
    for name, value in module.__dict__.items():
        if name in skip or name.startswith("__"):
            continue
        entry: dict[str, Any] = {"type": attribute(value)}
        if name in bound.arguments and name != "device":
            entry["from"] = name
            if isinstance(value, tuple) and isinstance(bound.arguments[name], int):
                entry["tuple"] = len(value)
        elif constant(value):
            entry.update(constant(value) or {})
        members[name] = entry
    methods = {}
    for name, _ in inspect.getmembers(cls, inspect.isfunction):
        owner = next(c for c in cls.__mro__ if name in c.__dict__)
        if (
            owner is nn.Module
            or name.startswith("__")
            or name in ("extra_repr", "reset_parameters", "forward")
        ):
            continue
        if isinstance(inspect.getattr_static(cls, name), staticmethod):
            methods[name] = {"static": True, **function_schemas(getattr(cls, name))}
            continue
        methods[name] = method_schemas(eval(f"cls({sample})", scope), name)
    parameters: list[list[str | None]] = [
        [p.name, None if p.default is inspect.Parameter.empty else _MACHINE.sub("", repr(p.default))]
        for p in named_parameters(cls)
    ]
    return {
        "bases": [
            f"torch.nn.{c.__name__}" if hasattr(nn, c.__name__) else f"{c.__module__}.{c.__qualname__}"
            for c in cls.__mro__[1:]
            if c is not object
        ],
        "init": parameters,
        "sample": sample,
        "attributes": members,
        "parameters": {k: v is not None for k, v in module._parameters.items()},
        "buffers": {k: v is not None for k, v in module._buffers.items()},
        "modules": {k: f"{type(v).__module__}.{type(v).__qualname__}" for k, v in module._modules.items()},
        "constants": sorted(set(getattr(cls, "__constants__", ()))),
        "forward": holder_schemas(eval(f"cls({sample})", scope)),
        "methods": methods,
        "absent": absent_members(cls, sample, scope),
    }


def named_parameters(cls: type[nn.Module]) -> list[inspect.Parameter]:
    """A constructor's parameters; where it only passes ``*args`` on, its base's.

    ``RNNBase`` takes the kind of cell first, which its subclasses give.
    """
    for base in cls.__mro__:
        found = list(inspect.signature(base.__init__).parameters.values())[1:]
        named = [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        if named or not found:
            return [p for p in named if base is cls or p.name != "mode"]
    return []


def absent_members(cls: type[nn.Module], sample: str, scope: dict[str, Any]) -> dict[str, list[str]]:
    """Parameters and buffers that are None when a flag is given the other value."""
    flags = {}
    base = eval(f"cls({sample})", scope)
    for parameter in list(inspect.signature(cls.__init__).parameters.values())[1:]:
        if not isinstance(parameter.default, bool) or f"{parameter.name}=" in sample:
            continue
        value = not parameter.default
        try:
            other = eval(f"cls({sample + ', ' if sample else ''}{parameter.name}={value})", scope)
        except Exception:
            continue
        gone = [
            name
            for kind in ("_parameters", "_buffers")
            for name in {**getattr(base, kind), **getattr(other, kind)}
            if (getattr(base, kind).get(name) is None) != (getattr(other, kind).get(name) is None)
        ]
        if gone:
            flags[f"{parameter.name}={value}"] = gone
    return flags


def variants(cls: type[nn.Module], samples: list[str]) -> dict[str, Any]:
    """The first sample whole; of the others, and of it with one argument altered, how ``forward`` differs."""
    entry = describe_module(cls, samples[0])
    scope = {"nn": nn, "torch": torch, "cls": cls}
    others = {}
    for sample in [*samples[1:], *altered(cls, samples[0])]:
        forward = holder_schemas(eval(f"cls({sample})", scope))
        if forward != entry["forward"]:
            others[sample] = forward
    if others:
        entry["variants"] = others
    return entry


def altered(cls: type[nn.Module], sample: str) -> list[str]:
    """A sample with one flag turned round, or one number given as an int where the default is a float."""
    found = []
    for parameter in named_parameters(cls):
        default, name = parameter.default, parameter.name
        if isinstance(default, (bool, float)) and f"{name}=" not in sample:
            values = [repr(not default)] if isinstance(default, bool) else ["0", "1"]
            samples = [f"{sample}{', ' if sample else ''}{name}={value}" for value in values]
            found += [each for each in samples if constructs(cls, each)][:1]
    return found


def constructs(cls: type[nn.Module], sample: str) -> bool:
    try:
        eval(f"cls({sample})", {"nn": nn, "torch": torch, "cls": cls})
    except Exception:
        return False
    return True


def modules() -> dict[str, Any]:
    table = {}
    for name, samples in SAMPLES.items():
        cls = getattr(nn, name, None)
        if cls is None:
            continue
        try:
            table[f"torch.nn.{name}"] = variants(cls, samples)
        except Exception as error:
            print(f"torch.nn.{name}: {short(error)}", file=sys.stderr)
    return table


def module_methods() -> list[str]:
    """Names that every nn.Module has, none of which is compiled unless called."""
    return sorted(name for name in dir(nn.Module) if not name.startswith("__"))


TABLES: dict[str, Callable[[], dict[str, Any]]] = {
    "operators": operators,
    "names": names,
    "tensor": lambda: {"members": tensor_api(), "module": module_methods()},
    "modules": modules,
}


def main() -> None:
    release = ".".join(torch.__version__.split("+")[0].split(".")[:2])
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    arguments = parser.parse_args()
    for name in arguments.only:
        table = TABLES[name]()
        ordered = table if name == "operators" else dict(sorted(table.items()))
        plain = json.loads(json.dumps(ordered, sort_keys=name != "operators"))
        write(arguments.folder / release, name, plain)


if __name__ == "__main__":
    main()
