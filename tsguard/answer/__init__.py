"""One answer from all that is known of a target: what to do with it."""

from tsguard.answer.deciding import answer
from tsguard.answer.facts import Answer, Facts, Stopped

__all__ = ["Answer", "Facts", "Stopped", "answer"]
