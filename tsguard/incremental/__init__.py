"""Incremental analysis for editors: results that an edit does not affect are reused."""

from tsguard.incremental.judge import Judge

__all__ = ["Judge"]
