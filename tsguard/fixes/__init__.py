"""Repairs: from an event to the edits that mend it, and edits put into text."""

from tsguard.fixes.repairs import repair

__all__ = ["repair"]
