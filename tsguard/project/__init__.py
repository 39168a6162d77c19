"""The project: modules, imports, definitions and targets, found without importing."""

from tsguard.project.project import Project
from tsguard.project.targets import Target, TargetNotFound

__all__ = ["Project", "Target", "TargetNotFound"]
