"""Fixes: from an event to the edits that repair it, and edits applied to text."""

from tsguard.fixes.repairs import repair

__all__ = ["repair"]
