"""Repair that torch has confirmed: a copy of the code is mended until torch scripts it, eager unchanged."""

from tsguard.repairing.loop import repair_all
from tsguard.repairing.results import Repaired

__all__ = ["Repaired", "repair_all"]
