"""Verdicts and findings from the facts of the walks, one file per family."""

from tsguard.judges.judgement import Judgement, judge

__all__ = ["Judgement", "judge"]
