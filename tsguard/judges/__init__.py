"""What the facts of a walk mean: verdicts and findings, one family a file."""

from tsguard.judges.judgement import Judgement, judge

__all__ = ["Judgement", "judge"]
