"""Loops over a DataLoader: what is started, drawn or decoded again in each epoch or step."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tsguard.analysis.events import Event, text_of
from tsguard.analysis.pipeline.context import Dataset, Pipeline
from tsguard.analysis.pipeline.frames import Frame, Loop, Site
from tsguard.analysis.pipeline.loaders import Loader, LoaderLoop
from tsguard.analysis.pipeline.names import PipelineNames, method
from tsguard.source.walking import walked

_DECODERS = frozenset(
    {
        *("PIL.Image.open", "cv2.imread", "imageio.imread", "skimage.io.imread", "soundfile.read"),
        *("librosa.load", "torchaudio.load", "torchvision.io.read_image", "torchvision.io.decode_image"),
        *("torchvision.io.read_video", "numpy.load", "torch.load", "open"),
    }
)
_DECODING_DATASETS = frozenset(
    f"torchvision.datasets.{name}" for name in ("ImageFolder", "CocoDetection", "ImageNet", "VOCDetection")
)
_SAMPLER = "torch.utils.data.distributed.DistributedSampler"
_SAMPLERS = frozenset({_SAMPLER, "torch.utils.data.DistributedSampler"})


def check(pipeline: Pipeline) -> Iterator[Event]:
    for loop in pipeline.loops:
        yield from _restarted_workers(pipeline, loop)
        yield from _decoding_without_workers(pipeline, loop)
        yield from _same_order(pipeline, loop)
    for site in pipeline.names.survey.calls:
        if site.loops:
            yield from _restarted_loader(pipeline, site)
    yield from _rebuilt_loaders(pipeline)


def _restarted_workers(pipeline: Pipeline, loop: LoaderLoop) -> Iterator[Event]:
    loader = loop.loader
    if not loop.repeats or not loader.has_workers or loader.value("persistent_workers") is not False:
        return
    if not _changes_dataset(loop):
        yield pipeline.event("workers-restarted", loop.loop.iter, loader=text_of(loop.iterated, 30))


def _changes_dataset(loop: LoaderLoop) -> bool:
    """Whether the loops around change the dataset, of which workers that persist would keep an old copy."""
    held = {node.id for node in _dataset_parts(loop.loader) if isinstance(node, ast.Name)}
    return any(
        (isinstance(part, ast.Name) and part.id in held)
        or (isinstance(part, ast.Attribute) and part.attr == "dataset")
        for part in _changed(loop.outer)
    )


def _rebuilt_loaders(pipeline: Pipeline) -> Iterator[Event]:
    """Loaders made anew, always alike, in the loop around the one that goes over them."""
    for loop in pipeline.loops:
        loader = loop.loader
        inside = set(loader.site.loops) & set(loop.outer)
        if not inside or not loader.has_workers:
            continue
        changing = changed_in(inside)
        used = {n.id for n in walked(loader.site.node) if isinstance(n, ast.Name)}
        if not changing & used and not any(isinstance(n, ast.Attribute) for n in _dataset_parts(loader)):
            yield pipeline.event("loader-rebuilt/epoch", loader.site.node)


def _dataset_parts(loader: Loader) -> tuple[ast.AST, ...]:
    dataset = loader.argument("dataset")
    return walked(dataset) if dataset is not None else ()


def changed_in(loops: Iterable[Loop]) -> set[str]:
    """Names that loops bind, write into, or call methods of: what they stand for may change."""
    return {expression.id for expression in _changed(loops) if isinstance(expression, ast.Name)}


def _changed(loops: Iterable[Loop]) -> set[ast.expr]:
    changed: set[ast.expr] = set()
    for node in (node for loop in loops for node in walked(loop)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            changed.add(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changed.add(node.func.value)
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            changed.add(node.value)
    return changed


def _restarted_loader(pipeline: Pipeline, site: Site[ast.Call]) -> Iterator[Event]:
    """``next(iter(loader))`` in a loop."""
    call = site.node
    if getattr(call.func, "id", "") != "next" or not call.args:
        return
    inner = call.args[0]
    if not (isinstance(inner, ast.Call) and getattr(inner.func, "id", "") == "iter" and len(inner.args) == 1):
        return
    value, _ = pipeline.names.origin(inner.args[0], site.frame)
    loader = next((known for known in pipeline.loaders if known.site.node is value), None)
    if loader is None or (loader.frame is site.frame and set(loader.site.loops) & set(site.loops)):
        return
    if loader.has_workers:
        yield pipeline.event("loader-rebuilt/step", call, loader=text_of(inner.args[0], 30))
    elif loader.value("shuffle") in (None, False) and _is_ordered(loader) and _trains(site.loops[-1]):
        yield pipeline.event("loader-rebuilt/first", call, loader=text_of(inner.args[0], 30))


def _is_ordered(loader: Loader) -> bool:
    return loader.complete and not {"sampler", "batch_sampler"} & loader.arguments.keys()


def _decoding_without_workers(pipeline: Pipeline, loop: LoaderLoop) -> Iterator[Event]:
    loader = loop.loader
    if loader.has_workers is not False or not _trains(loop.loop):
        return
    decoder = _decoder(pipeline, loader)
    if decoder:
        place = loader.argument("num_workers") or loader.site.node
        yield pipeline.event("decoding-without-workers", place, call=decoder)


def _trains(loop: Loop) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == "backward" for n in walked(loop))


def _decoder(pipeline: Pipeline, loader: Loader) -> str:
    """The call by which the loader's dataset reads a file for each item; "" where none is seen."""
    dataset = pipeline.dataset(loader.dataset)
    if dataset is not None:
        return _decoder_of(dataset) if dataset.kind == "map" else ""
    given = loader.argument("dataset")
    value, where = loader.names.origin(given, loader.frame) if given is not None else (None, loader.frame)
    name = loader.names.qualified(value.func, where) if isinstance(value, ast.Call) else ""
    return name.rpartition(".")[2] if name in _DECODING_DATASETS else ""


def _decoder_of(dataset: Dataset) -> str:
    getter = dataset.getter
    todo = [getter] if getter is not None else []
    callees = [node.func for g in todo for node in walked(g) if isinstance(node, ast.Call)]
    names = [f.attr for f in callees if isinstance(f, ast.Attribute) and _is_self(f.value)]
    todo += [found for name in names if (found := method(dataset.cls, name)) is not None]
    for function in todo:
        frame = dataset.names.survey.frames.get(function)
        for node in walked(function):
            if isinstance(node, ast.Call) and frame is not None and node.args:
                name = called(dataset.names, node, frame)
                if name in _DECODERS and not isinstance(node.args[0], ast.Constant):
                    return text_of(node.func, 30)
    return ""


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def called(names: PipelineNames, call: ast.Call, frame: Frame) -> str:
    """The name of a known package's function, or of a builtin, that a call calls."""
    if isinstance(call.func, ast.Name) and frame.lookup(call.func.id) is None:
        return call.func.id
    return names.qualified(call.func, frame)


def _same_order(pipeline: Pipeline, loop: LoaderLoop) -> Iterator[Event]:
    """A distributed sampler that is never told the epoch draws the same order in each."""
    given = loop.loader.argument("sampler")
    if given is None or not loop.repeats or "set_epoch" in pipeline.module.file.text:
        return
    value, where = loop.loader.names.origin(given, loop.loader.frame)
    if not isinstance(value, ast.Call) or pipeline.names.qualified(value.func, where) not in _SAMPLERS:
        return
    keywords = {keyword.arg: keyword.value for keyword in value.keywords}
    shuffle = keywords.get("shuffle")
    if None in keywords or (shuffle is not None and pipeline.names.constant(shuffle, where) is not True):
        return
    yield pipeline.event("sampler-epoch-not-set", loop.loop.iter, sampler=text_of(given, 30))
