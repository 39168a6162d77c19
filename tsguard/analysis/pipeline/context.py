"""Everything that the rules of the input pipeline look at in one module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property
from typing import Literal

from tsguard.analysis.events import Event
from tsguard.analysis.pipeline.frames import Frame, Function, Site, survey
from tsguard.analysis.pipeline.loaders import Loader, LoaderLoop, loader_loops, loaders
from tsguard.analysis.pipeline.names import PipelineNames, method
from tsguard.language.rule_names import RuleName
from tsguard.project.modules import Module
from tsguard.project.project import Definition, Project
from tsguard.report.records import dataclass

_MAP = re.compile(r"torch\.utils\.data\.(dataset\.)?Dataset|torchvision\.datasets\.\w+(\.\w+)?")
_ITERABLE = re.compile(r"torch\.utils\.data\.(dataset\.)?IterableDataset")
_COLLATE_NAME = re.compile(r"_*(\w+_)?collate(_\w+)?|collat(e|ion)_fn")


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A class of datasets: ``kind`` tells whether items are asked for by index or iterated over."""

    cls: ast.ClassDef
    kind: Literal["map", "iterable"]
    names: PipelineNames

    @property
    def module(self) -> Module:
        return self.names.module

    @property
    def getter(self) -> Function | None:
        """The method that makes an item, where the class itself defines it."""
        return method(self.cls, "__getitem__" if self.kind == "map" else "__iter__")


@dataclass(frozen=True, slots=True, eq=False)
class ItemCode:
    """A function that runs for every item (of a dataset) or for every batch (to collate it)."""

    function: Function
    frame: Frame
    names: PipelineNames
    role: Literal["item", "collate"]


@dataclass(eq=False)
class Pipeline:
    """One module's loaders, datasets and collate functions."""

    project: Project
    module: Module
    _names: dict[Module, PipelineNames] = field(default_factory=dict)

    @property
    def names(self) -> PipelineNames:
        return self.names_of(self.module)

    def names_of(self, module: Module) -> PipelineNames:
        """The names of another module of the project, surveyed when first asked for."""
        if module not in self._names:
            self._names[module] = PipelineNames(self.project, module, survey(module.file.tree))
        return self._names[module]

    @cached_property
    def loaders(self) -> list[Loader]:
        return loaders(self.names)

    @cached_property
    def loops(self) -> list[LoaderLoop]:
        return list(loader_loops(self.loaders, self.names))

    @cached_property
    def datasets(self) -> list[Dataset]:
        """The dataset classes that the module defines."""
        classes = (Definition(self.module, node) for node, _ in self.names.survey.classes)
        return [dataset for c in classes if (dataset := self.dataset(c)) is not None]

    def dataset(self, definition: Definition | None) -> Dataset | None:
        """A class as a dataset; None if it is no dataset for certain."""
        if definition is None or not isinstance(definition.node, ast.ClassDef):
            return None
        names = self.names_of(definition.module)
        bases = names.external_bases(definition)
        if any(_ITERABLE.fullmatch(base) for base in bases):
            return Dataset(definition.node, "iterable", names)
        if any(_MAP.fullmatch(base) for base in bases):
            return Dataset(definition.node, "map", names)
        return None

    @cached_property
    def item_code(self) -> list[ItemCode]:
        """The functions of the module that make items, then those that collate them."""
        getters = [(d.getter, d.names) for d in self.datasets if d.kind == "map"]
        found = [
            ItemCode(function, names.survey.frames[function], names, "item")
            for function, names in getters
            if function is not None and function in names.survey.frames
        ]
        frames = self.names.survey.frames
        return [*found, *(ItemCode(f, frames[f], self.names, "collate") for f in self._collating())]

    def _collating(self) -> dict[Function, None]:
        handed = (loader.argument("collate_fn") for loader in self.loaders)
        found: dict[Function, None] = {}
        for loader, given in zip(self.loaders, handed, strict=True):
            definition = self.names.called(given, loader.frame) if given is not None else None
            node = definition.node if definition is not None and definition.module is self.module else None
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found[node] = None
        for function in self.names.survey.frames:
            if isinstance(function, ast.FunctionDef) and _COLLATE_NAME.fullmatch(function.name):
                found[function] = None
        return found

    def calls_in(self, frame: Frame) -> Iterator[tuple[ast.Call, Site[ast.Call]]]:
        """The calls of one frame, in source order."""
        for site in self._calls.get(frame, ()):
            yield site.node, site

    @cached_property
    def _calls(self) -> dict[Frame, list[Site[ast.Call]]]:
        found: dict[Frame, list[Site[ast.Call]]] = {}
        for site in self.names.survey.calls:
            found.setdefault(site.frame, []).append(site)
        return found

    def event(self, rule: RuleName, node: ast.AST, *, module: Module | None = None, **facts: str) -> Event:
        """A rule broken at a node, of this module unless another one is given."""
        where = module or self.module
        return Event(rule, where, where.file.span(node), facts)
