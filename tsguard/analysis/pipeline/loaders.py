"""The DataLoaders that a module creates: their arguments, datasets and loops."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from tsguard.analysis.pipeline.frames import Frame, Loop, Site
from tsguard.analysis.pipeline.names import PipelineNames, method
from tsguard.project.project import Definition
from tsguard.report.records import dataclass
from tsguard.source.walking import walked

DATALOADERS = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})
# The parameters of torch.utils.data.DataLoader in order, with their defaults.
_PARAMETERS: dict[str, Any] = {
    "dataset": ...,
    "batch_size": 1,
    "shuffle": None,
    "sampler": None,
    "batch_sampler": None,
    "num_workers": 0,
    "collate_fn": None,
    "pin_memory": False,
    "drop_last": False,
    "timeout": 0,
    "worker_init_fn": None,
    "multiprocessing_context": None,
    "generator": None,
    "prefetch_factor": None,
    "persistent_workers": False,
}
_CORE_COUNTS = frozenset(
    {"os.cpu_count", "os.process_cpu_count", "multiprocessing.cpu_count", "torch.multiprocessing.cpu_count"}
)
_WRAPPERS = frozenset({"torch.utils.data.Subset", "torch.utils.data.ConcatDataset"})
_PROGRESS_BARS = ("tqdm", "track")
_MUTATORS = frozenset({"update", "pop", "setdefault", "clear", "popitem"})


@dataclass(frozen=True, slots=True, eq=False)
class Loader:
    """A call of ``DataLoader``, or of a class derived from it, or of its constructor by such a class.

    ``complete`` unless some of its arguments cannot be seen.
    """

    site: Site[ast.Call]
    names: PipelineNames
    arguments: dict[str, ast.expr]
    complete: bool
    dataset: Definition | None

    @property
    def frame(self) -> Frame:
        return self.site.frame

    def argument(self, name: str) -> ast.expr | None:
        """The expression given for a parameter; None where none is seen, or it is None itself."""
        given = self.arguments.get(name)
        return None if isinstance(given, ast.Constant) and given.value is None else given

    def value(self, name: str) -> Any:
        """A parameter's constant value, its default where none is given; ``...`` where it cannot be told."""
        if name in self.arguments:
            return self.names.constant(self.arguments[name], self.frame)
        return _PARAMETERS[name] if self.complete else ...

    @property
    def has_workers(self) -> bool | None:
        """Whether it loads in worker processes; None where that cannot be told."""
        number = self.value("num_workers")
        if isinstance(number, int):
            return number > 0
        given = self.argument("num_workers")
        expression = self.names.origin(given, self.frame)[0] if given is not None else None
        if (
            isinstance(expression, ast.Call)
            and self.names.qualified(expression.func, self.frame) in _CORE_COUNTS
        ):
            return True
        return None

    @property
    def start_method(self) -> str | None:
        """The start method asked for by name; None where none is."""
        chosen = self.value("multiprocessing_context")
        return chosen if isinstance(chosen, str) else None


def loaders(names: PipelineNames) -> list[Loader]:
    """Every DataLoader that a module makes."""
    found = []
    for site in names.survey.calls:
        if names.qualified(site.node.func, site.frame) in DATALOADERS or _constructs_itself(site, names):
            found.append(_loader(site, names))
        elif (derived := _derived(names.definition(site.node.func, site.frame), names)) is not None:
            own = any(method(cls, name) for cls in derived for name in ("__init__", "__new__", "__iter__"))
            found.append(Loader(site, names, {}, False, None) if own else _loader(site, names))
    return found


def _derived(found: Definition | None, names: PipelineNames) -> list[ast.ClassDef] | None:
    """A class derived from DataLoader and its ancestors of the project; None for any other class."""
    bases = names.external_bases(found) if found is not None else set()
    return names.ancestry(found) if found is not None and bases and bases <= DATALOADERS else None


def _constructs_itself(site: Site[ast.Call], names: PipelineNames) -> bool:
    """``super().__init__(...)`` in a class derived from DataLoader directly, and from nothing else."""
    cls = site.frame.cls
    if cls is None or not cls.bases or ast.unparse(site.node.func) != "super().__init__":
        return False
    plain = (base.value if isinstance(base, ast.Subscript) else base for base in cls.bases)
    return all(names.qualified(base, names.survey.top) in DATALOADERS for base in plain)


def _loader(site: Site[ast.Call], names: PipelineNames) -> Loader:
    arguments: dict[str, ast.expr] = {}
    complete = True
    for name, value in zip(_PARAMETERS, site.node.args, strict=False):
        if isinstance(value, ast.Starred):
            complete = False
            break
        arguments[name] = value
    for keyword in site.node.keywords:
        if keyword.arg is not None:
            arguments[keyword.arg] = keyword.value
            continue
        unpacked = _unpacked(keyword.value, site.frame, names)
        complete = complete and unpacked is not None
        arguments.update(unpacked or {})
    return Loader(site, names, arguments, complete, dataset_of(arguments.get("dataset"), site.frame, names))


def _unpacked(expression: ast.expr, frame: Frame, names: PipelineNames) -> dict[str, ast.expr] | None:
    """What ``**expression`` gives, if it is a dictionary that is written out and never changed."""
    value, where = names.origin(expression, frame)
    if isinstance(expression, ast.Name) and _is_changed(expression.id, where):
        return None
    if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "dict" and not value.args:
        pairs = {keyword.arg: keyword.value for keyword in value.keywords}
        return None if None in pairs else {str(name): item for name, item in pairs.items()}
    if not isinstance(value, ast.Dict):
        return None
    keys = [key.value if isinstance(key, ast.Constant) else None for key in value.keys]
    return dict(zip(map(str, keys), value.values, strict=True)) if None not in keys else None


def _is_changed(name: str, frame: Frame) -> bool:
    for node in walked(frame.node):
        if isinstance(node, ast.Attribute) and node.attr in _MUTATORS and _is_named(node.value, name):
            return True
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store)
            and _is_named(node.value, name)
        ):
            return True
    return False


def _is_named(expression: ast.expr, name: str) -> bool:
    return isinstance(expression, ast.Name) and expression.id == name


def dataset_of(expression: ast.expr | None, frame: Frame, names: PipelineNames) -> Definition | None:
    """The class of the project whose instance an expression is, looked for under torch's own wrappers."""
    if expression is None:
        return None
    value, where = names.origin(expression, frame)
    if not isinstance(value, ast.Call):
        return None
    if names.qualified(value.func, where) in _WRAPPERS and value.args:
        return dataset_of(value.args[0], where, names)
    found = names.definition(value.func, where)
    return found if found is not None and isinstance(found.node, ast.ClassDef) else None


@dataclass(frozen=True, slots=True)
class LoaderLoop:
    """A ``for`` over a DataLoader, and the names that hold its batches.

    ``outer`` are the loops around it: those of its frame and, where the loader comes as
    an argument, those around the call that gives it.
    """

    loader: Loader
    loop: ast.For | ast.AsyncFor
    frame: Frame
    batch: frozenset[str]
    outer: tuple[Loop, ...]

    @property
    def iterated(self) -> ast.expr:
        """The loader as the loop writes it, under ``enumerate`` and progress bars."""
        inner: ast.expr = self.loop.iter
        while isinstance(inner, ast.Call) and inner is not self.loader.site.node and inner.args:
            inner = inner.args[0]
        return inner

    @property
    def repeats(self) -> bool:
        """Whether the same loader is gone over again and again."""
        return any(loop not in self.loader.site.loops for loop in self.outer)


def loader_loops(found: list[Loader], names: PipelineNames) -> Iterator[LoaderLoop]:
    """Every loop over one of a module's loaders that can be told to be one."""
    search = _Search({loader.site.node: loader for loader in found}, names)
    for site in names.survey.loops:
        if isinstance(site.node, ast.While):
            continue
        batch = frozenset(n.id for n in walked(site.node.target) if isinstance(n, ast.Name))
        for loader, around in search.iterated(site.node.iter, site.frame):
            yield LoaderLoop(loader, site.node, site.frame, batch, (*around, *site.loops))


@dataclass(frozen=True, slots=True)
class _Search:
    """Looks for the loaders that an expression may be, and the loops around where it becomes them."""

    by_call: dict[ast.Call, Loader]
    names: PipelineNames

    def iterated(self, expression: ast.expr, frame: Frame) -> Iterator[tuple[Loader, tuple[Loop, ...]]]:
        """The loaders that an iterable goes over, under ``enumerate`` and progress bars."""
        value, where = self.names.origin(expression, frame)
        if isinstance(value, ast.Call):
            called = getattr(value.func, "id", "") or self.names.qualified(value.func, where)
            if value in self.by_call:
                around = () if where is frame else self._around_calls(frame)
                yield self.by_call[value], around
            elif called.rpartition(".")[2] in ("enumerate", *_PROGRESS_BARS) and value.args:
                yield from self.iterated(value.args[0], where)
        elif isinstance(value, ast.Name):
            bar = self._progress_bar(value, where)
            yield from self._given(value.id, where) if bar is None else self.iterated(bar, where)

    def _progress_bar(self, name: ast.Name, frame: Frame) -> ast.Call | None:
        """The progress bar that a name stands for inside ``with tqdm(loader) as name``."""
        found = frame.lookup(name.id)
        entered = [bound.node for bound in found[0]] if found is not None else []
        calls = [
            node.context_expr
            for node in entered
            if isinstance(node, ast.withitem)
            and isinstance(node.optional_vars, ast.Name)
            and isinstance(node.context_expr, ast.Call)
            and node.context_expr.lineno <= name.lineno
        ]
        if len(entered) != sum(isinstance(node, ast.withitem) for node in entered) or not calls:
            return None
        last = max(calls, key=lambda call: call.lineno)
        called = getattr(last.func, "id", "") or self.names.qualified(last.func, frame)
        return last if called.rpartition(".")[2] in _PROGRESS_BARS else None

    def _given(self, name: str, frame: Frame) -> Iterator[tuple[Loader, tuple[Loop, ...]]]:
        """The loaders that the module's own calls of a function give as one of its parameters."""
        for site in self._calls(frame):
            given = argument_for(name, site.node, frame.node)
            if given is not None:
                value, _ = self.names.origin(given, site.frame)
                if isinstance(value, ast.Call) and value in self.by_call:
                    yield self.by_call[value], site.loops

    def _around_calls(self, frame: Frame) -> tuple[Loop, ...]:
        """The loops in which a function that goes over a loader of the module is called."""
        return next((site.loops for site in self._calls(frame) if site.loops), ())

    def _calls(self, frame: Frame) -> list[Site[ast.Call]]:
        top = self.names.survey.top
        if frame.parent is not top or frame.cls is not None or isinstance(frame.node, ast.Module):
            return []
        name = frame.node.name
        return [s for s in self.names.survey.calls if getattr(s.node.func, "id", "") == name]


def argument_for(name: str, call: ast.Call, function: ast.AST) -> ast.expr | None:
    """What a call gives for a parameter of a function; None where that cannot be told."""
    spec = getattr(function, "args", None)
    if not isinstance(spec, ast.arguments) or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    positions = [parameter.arg for parameter in (*spec.posonlyargs, *spec.args)]
    if name in positions and positions.index(name) < len(call.args):
        return call.args[positions.index(name)]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
