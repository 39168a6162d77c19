"""Problems because each worker process has its own copy of the dataset."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tsguard.analysis.events import Event, text_of
from tsguard.analysis.pipeline.context import Dataset, Pipeline
from tsguard.analysis.pipeline.epochs import called
from tsguard.analysis.pipeline.frames import Frame, Function
from tsguard.analysis.pipeline.loaders import Loader
from tsguard.analysis.pipeline.names import Assignment, is_self, methods
from tsguard.language.rule_names import RuleName
from tsguard.source.unparsing import unparsed
from tsguard.source.walking import children, walked

_GENERATORS = frozenset(
    {
        "numpy.random.default_rng",
        "numpy.random.RandomState",
        "numpy.random.Generator",
        "random.Random",
        "torch.Generator",
    }
)
_SEEDERS = frozenset({"numpy.random.seed", "random.seed", "torch.manual_seed", "torch.random.manual_seed"})
_SAME_EACH_EPOCH = frozenset({"numpy.random.get_state", "int", "abs", "hash"})
OPENERS = frozenset(
    {
        *(
            "open",
            "h5py.File",
            "zipfile.ZipFile",
            "tarfile.open",
            "tarfile.TarFile",
            "lmdb.open",
            "lmdb.Environment",
        ),
        *("sqlite3.connect", "cv2.VideoCapture"),
    }
)
_SHARDING = ("worker", "shard", "world_size", "rank", "islice")
_LISTED = frozenset({"list", "sorted", "range", "tuple", "os.listdir", "numpy.arange", "numpy.load"})
_ANNOTATED_LIST = re.compile(r"(typing\.)?(List|list|Tuple|tuple|Sequence|range|ndarray|np\.ndarray)\b")


def check(pipeline: Pipeline) -> Iterator[Event]:
    for loader in pipeline.loaders:
        yield from _of_loader(pipeline, loader)


def _of_loader(pipeline: Pipeline, loader: Loader) -> Iterator[Event]:
    if loader.has_workers is not False:
        yield from _constant_seed(pipeline, loader)
    dataset = pipeline.dataset(loader.dataset)
    if dataset is None or not loader.has_workers:
        return
    if loader.complete and loader.argument("worker_init_fn") is None:
        yield from _shared_generators(pipeline, loader, dataset)
        if dataset.kind == "iterable" and loader.value("num_workers") != 1:
            yield from _repeated_items(pipeline, loader, dataset)
    yield from _open_handles(pipeline, dataset)


def _held(dataset: Dataset, kinds: frozenset[str]) -> Iterator[tuple[str, ast.Call, str]]:
    """Attributes that ``__init__`` alone assigns, to what one of these functions returns, or a named part of it."""
    attributes = dataset.names.attributes(dataset.cls)
    for name, places in attributes.items():
        function, value = places[0]
        value = _whole(value, attributes)
        if len(places) > 1 or function.name != "__init__" or not isinstance(value, ast.Call):
            continue
        frame = dataset.names.survey.frames.get(function)
        kind = called(dataset.names, value, frame) if frame is not None else ""
        if (
            kind not in kinds
            and isinstance(value.func, ast.Attribute)
            and isinstance(value.func.value, ast.Call)
        ):
            # torch.Generator().manual_seed(0)
            kind = called(dataset.names, value.func.value, frame) if frame is not None else ""
        if kind in kinds:
            yield name, value, kind


def _whole(value: ast.expr | None, attributes: dict[str, list[Assignment]]) -> ast.expr | None:
    """What a value is a part of: the file of ``File(path)["data"]``, and of ``self.file["data"]``."""
    while isinstance(value, ast.Subscript):
        if not (isinstance(value.slice, ast.Constant) and isinstance(value.slice.value, str)):
            return None  # a slice is read, and lies in memory
        value = value.value
        if isinstance(value, ast.Attribute) and is_self(value.value):
            places = attributes.get(value.attr, [])
            value = places[0][1] if len(places) == 1 else None
    return value


def _users(dataset: Dataset, name: str) -> list[Function]:
    """The methods that read ``self.name`` when an item is made, as far as can be told."""
    running = _running(dataset)
    return [
        function
        for function in methods(dataset.cls)
        if function.name not in ("__init__", "__len__", "__del__", "close", "__exit__")
        and (running is None or function.name in running)
        and name in _read(function)
    ]


def _running(dataset: Dataset) -> set[str] | None:
    """The methods that making an item leads to; None where the class does not define how it is made."""
    if dataset.getter is None:
        return None
    by_name = {function.name: function for function in methods(dataset.cls)}
    todo = {name for name in by_name if name.startswith("__") and name not in ("__init__", "__len__")}
    found: set[str] = set()
    while todo:
        name = todo.pop()
        found.add(name)
        todo |= (_read(by_name[name]) & by_name.keys()) - found
    return found


def _read(function: Function) -> set[str]:
    """The attributes of ``self`` that a method mentions."""
    return {node.attr for node in walked(function) if isinstance(node, ast.Attribute) and is_self(node.value)}


def _shared_generators(pipeline: Pipeline, loader: Loader, dataset: Dataset) -> Iterator[Event]:
    persists = loader.value("persistent_workers") is not False
    rule: RuleName = "generator-copied/persistent" if persists else "generator-copied"
    if loader.value("num_workers") == 1:
        if persists:
            return  # it draws on from epoch to epoch, and no other draws the same
        rule = "generator-copied/single"
    for name, value, kind in _held(dataset, _GENERATORS):
        if _users(dataset, name):
            yield pipeline.event(rule, value, module=dataset.module, attribute=name, kind=kind)


def _open_handles(pipeline: Pipeline, dataset: Dataset) -> Iterator[Event]:
    for name, value, kind in _held(dataset, OPENERS):
        if _users(dataset, name) and not _is_reopened(dataset):
            yield pipeline.event("handle-shared", value, module=dataset.module, attribute=name, kind=kind)


def _is_reopened(dataset: Dataset) -> bool:
    """Whether the class takes care of its own copies."""
    return any(
        function.name in ("__getstate__", "__reduce__", "__reduce_ex__") for function in methods(dataset.cls)
    )


def _constant_seed(pipeline: Pipeline, loader: Loader) -> Iterator[Event]:
    given = loader.argument("worker_init_fn")
    if given is None or loader.value("persistent_workers") is not False:
        return  # workers that persist are seeded once and draw on
    value, where = loader.names.origin(given, loader.frame)
    if isinstance(value, ast.Lambda):
        inside = Frame(ast.Module(body=[], type_ignores=[]), where, where.cls)
        yield from _constant_seeds_in(pipeline, value, inside, [p.arg for p in value.args.args])
        return
    found = loader.names.definition(given, loader.frame)
    if found is None or found.module is not pipeline.module or not isinstance(found.node, ast.FunctionDef):
        return
    frame = loader.names.survey.frames.get(found.node)
    if frame is not None:
        yield from _constant_seeds_in(pipeline, found.node, frame, [p.arg for p in found.node.args.args])


def _constant_seeds_in(
    pipeline: Pipeline, function: ast.AST, frame: Frame, parameters: list[str]
) -> Iterator[Event]:
    for node in walked(function):
        if not isinstance(node, ast.Call) or called(pipeline.names, node, frame) not in _SEEDERS:
            continue
        if len(node.args) == 1 and _is_same_each_epoch(node.args[0], pipeline, frame, parameters):
            yield pipeline.event("worker-seed-constant", node, seed=text_of(node.args[0], 40))


def _is_same_each_epoch(seed: ast.expr, pipeline: Pipeline, frame: Frame, parameters: list[str]) -> bool:
    """Whether a seed is made of constants, the worker's number and numpy's state alone."""
    seed, frame = pipeline.names.origin(seed, frame)
    if isinstance(seed, ast.Call):
        known = called(pipeline.names, seed, frame) in _SAME_EACH_EPOCH
        return known and all(_is_same_each_epoch(a, pipeline, frame, parameters) for a in seed.args)
    if isinstance(seed, ast.Name):
        return seed.id in parameters
    if isinstance(seed, ast.Attribute):
        return (
            seed.attr.endswith("seed") and isinstance(seed.value, ast.Name) and _is_outer(seed.value, frame)
        )
    if isinstance(seed, (ast.Constant, ast.BinOp, ast.Subscript, ast.UnaryOp)):
        below = [child for child in children(seed) if isinstance(child, ast.expr)]
        return all(_is_same_each_epoch(child, pipeline, frame, parameters) for child in below)
    return False


def _is_outer(name: ast.Name, frame: Frame) -> bool:
    found = frame.lookup(name.id)
    return found is not None and found[1] is not frame


def _repeated_items(pipeline: Pipeline, loader: Loader, dataset: Dataset) -> Iterator[Event]:
    bases = dataset.names.external_bases_of(dataset.cls)
    if dataset.getter is None or "?" in bases or len(bases) > 1 or _knows_of_workers(dataset):
        return
    if _goes_through_a_list(dataset, dataset.getter):
        place = loader.argument("dataset") or loader.site.node
        yield pipeline.event("iterable-repeated", place, dataset=dataset.cls.name)


def _knows_of_workers(dataset: Dataset) -> bool:
    """Whether anything in the class looks as if it knew of workers, or could be told its share."""
    words = (
        getattr(n, "id", "") or getattr(n, "attr", "") or getattr(n, "arg", "") for n in walked(dataset.cls)
    )
    return any(part in str(word).lower() for word in words if word for part in _SHARDING)


def _goes_through_a_list(dataset: Dataset, getter: Function) -> bool:
    """Whether iterating gives what every copy of the dataset holds: no stream, nothing drawn at random."""
    frame = dataset.names.survey.frames[getter]
    calls = [node for node in walked(getter) if isinstance(node, ast.Call)]
    if any("random" in dataset.names.qualified(call.func, frame) for call in calls):
        return False
    if any(isinstance(node, ast.While) for node in walked(getter)):
        return False
    iterated = [node.iter for node in walked(getter) if isinstance(node, (ast.For, ast.comprehension))]
    iterated += [node.value for node in walked(getter) if isinstance(node, ast.YieldFrom)]
    iterated += [call.args[0] for call in calls if called(dataset.names, call, frame) == "iter" and call.args]
    return any(_is_listed(source, dataset, frame) for source in iterated)


def _is_listed(source: ast.expr, dataset: Dataset, frame: Frame) -> bool:
    source, frame = dataset.names.origin(source, frame)
    if isinstance(source, ast.Call):
        name = called(dataset.names, source, frame)
        if name in ("enumerate", "iter", "zip", "open", "csv.reader", "csv.DictReader"):
            return name == "open" or any(_is_listed(argument, dataset, frame) for argument in source.args)
        return name in _LISTED
    if isinstance(source, ast.Name):
        found = frame.lookup(source.id)
        bound = found[0][0].node if found is not None else None
        if isinstance(bound, ast.withitem):
            return _is_listed(bound.context_expr, dataset, frame)
        annotation = getattr(bound, "annotation", None)
        return annotation is not None and bool(_ANNOTATED_LIST.match(unparsed(annotation)))
    return isinstance(source, (ast.List, ast.Tuple, ast.ListComp))
