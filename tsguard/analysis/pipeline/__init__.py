"""The input pipeline: how DataLoaders are set up, and what datasets and collate functions do.

Each rule fires on what the code shows and on nothing else: a dataset or a setting that
reaches the code from elsewhere keeps it silent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tsguard.analysis.events import Event
from tsguard.project.modules import Module
from tsguard.project.project import Project

# Cheaper to look for than the pattern, of which one of them is always a part.
_WORDS = ("torch.utils", "DataLoader", "collate")
_CONCERNED = re.compile(r"torch\.utils(\.data| import data)|DataLoader|def \w*collate")


def pipeline_events(project: Project, module: Module) -> Iterator[Event]:
    """The rules of the input pipeline that a module breaks."""
    text = module.file.text
    if not any(word in text for word in _WORDS) or not _CONCERNED.search(text):
        return
    # Most files load no data: what looks at those that do is not imported for others.
    from tsguard.analysis.pipeline.checks import CHECKS
    from tsguard.analysis.pipeline.context import Pipeline

    pipeline = Pipeline(project, module)
    # Several loaders may lead to the same place of a dataset or a training loop.
    yield from {event.key: event for part in CHECKS for event in part.check(pipeline)}.values()
