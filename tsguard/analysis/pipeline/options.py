"""Arguments of DataLoader that contradict each other, or that cannot be sent to worker processes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.analysis.events import Event, text_of
from tsguard.analysis.pipeline.context import Pipeline
from tsguard.analysis.pipeline.loaders import Loader
from tsguard.language.rule_names import RuleName

_CALLBACKS = ("collate_fn", "worker_init_fn")


def check(pipeline: Pipeline) -> Iterator[Event]:
    for loader in pipeline.loaders:
        yield from _options_without_workers(pipeline, loader)
        yield from _conflicting_sampling(pipeline, loader)
        if loader.has_workers:
            yield from _unpicklable(pipeline, loader)
    yield from _without_guard(pipeline)


def _options_without_workers(pipeline: Pipeline, loader: Loader) -> Iterator[Event]:
    if loader.has_workers is not False:
        return
    for option in ("prefetch_factor", "persistent_workers", "multiprocessing_context"):
        given = loader.argument(option)
        if given is not None and loader.value(option) not in (..., None, False):
            yield pipeline.event("option-needs-workers", given, option=option)
    given = loader.argument("timeout")
    seconds = loader.value("timeout")
    if given is not None and isinstance(seconds, (int, float)) and seconds > 0:
        yield pipeline.event("option-needs-workers/iterated", given, option="timeout")


def _conflicting_sampling(pipeline: Pipeline, loader: Loader) -> Iterator[Event]:
    dataset = pipeline.dataset(loader.dataset)
    shuffles = loader.value("shuffle") is True
    shuffle, sampler = loader.argument("shuffle"), _given(loader, "sampler")
    batch_sampler, drop_last = _given(loader, "batch_sampler"), loader.argument("drop_last")
    if dataset is not None and dataset.kind == "iterable":
        for option in (shuffle if shuffles else None, sampler, batch_sampler):
            if option is not None:
                name = {id(shuffle): "shuffle", id(sampler): "sampler"}.get(id(option), "batch_sampler")
                yield pipeline.event(
                    "conflicting-sampling/iterable", option, option=name, dataset=dataset.cls.name
                )
    elif batch_sampler is not None:
        for name, refused in _refused_by_batch_sampler(loader):
            yield pipeline.event("conflicting-sampling", refused, option=name, other="batch_sampler")
    elif sampler is not None and shuffles and shuffle is not None:
        yield pipeline.event("conflicting-sampling", shuffle, option="shuffle", other="sampler")
    elif loader.value("batch_size") is None and loader.value("drop_last") is True and drop_last is not None:
        yield pipeline.event("conflicting-sampling", drop_last, option="drop_last", other="batch_size=None")


def _given(loader: Loader, name: str) -> ast.expr | None:
    """An argument that is not None for certain: a call, or a name for one."""
    given = loader.argument(name)
    origin = loader.names.origin(given, loader.frame)[0] if given is not None else None
    return given if isinstance(origin, (ast.Call, ast.List, ast.ListComp)) else None


def _refused_by_batch_sampler(loader: Loader) -> Iterator[tuple[str, ast.expr]]:
    for name, harmless in (
        ("batch_size", (1, ...)),
        ("shuffle", (False, None, ...)),
        ("drop_last", (False, ...)),
    ):
        given = loader.arguments.get(name)
        if given is not None and loader.value(name) not in harmless:
            yield name, given
    sampler = _given(loader, "sampler")
    if sampler is not None:
        yield "sampler", sampler


def _unpicklable(pipeline: Pipeline, loader: Loader) -> Iterator[Event]:
    """What a worker that does not begin as a copy of this process cannot be sent."""
    if loader.start_method == "fork":
        return
    found: list[tuple[str, ast.expr, RuleName | None]] = [
        (o, given, _unpicklable_kind(given, loader)) for o in _CALLBACKS if (given := loader.argument(o))
    ]
    found += [("dataset", lambda_, "unpicklable-callback/lambda") for lambda_ in _lambdas_of(loader)]
    for option, given, rule in found:
        if rule and loader.start_method is not None:
            rule = "unpicklable-callback/spawned"
        if rule:
            method = loader.start_method or ""
            yield pipeline.event(rule, given, option=option, code=text_of(given, 30), method=method)


def _unpicklable_kind(given: ast.expr, loader: Loader) -> RuleName | None:
    value, _ = loader.names.origin(given, loader.frame)
    if isinstance(value, ast.Lambda):
        return "unpicklable-callback/lambda"
    found = loader.frame.lookup(given.id) if isinstance(given, ast.Name) else None
    if found is None or len(found[0]) != 1 or found[1].parent is None:
        return None
    return "unpicklable-callback/local" if isinstance(found[0][0].node, ast.FunctionDef) else None


def _lambdas_of(loader: Loader) -> Iterator[ast.Lambda]:
    """Lambdas that a dataset is made with, and which it therefore holds."""
    dataset = loader.argument("dataset")
    value, _ = loader.names.origin(dataset, loader.frame) if dataset is not None else (None, None)
    if isinstance(value, ast.Call) and loader.dataset is not None:
        for argument in (*value.args, *(keyword.value for keyword in value.keywords)):
            if isinstance(argument, ast.Lambda):
                yield argument


def _without_guard(pipeline: Pipeline) -> Iterator[Event]:
    """Workers that a module starts when it is imported, as spawned workers import it."""
    survey = pipeline.names.survey
    guarded = {site.node for site in survey.loops if site.guarded}
    for loop in pipeline.loops:
        loader = loop.loader
        if loop.frame is not survey.top or loop.loop in guarded or not loader.has_workers:
            continue
        if loader.start_method is None:
            yield pipeline.event("missing-main-guard", loop.loop.iter)
        elif loader.start_method != "fork":
            yield pipeline.event("missing-main-guard/spawned", loop.loop.iter, method=loader.start_method)
