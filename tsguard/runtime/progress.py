"""How far a run of attempts is, for whoever wants to show it."""

from __future__ import annotations


class Progress:
    """Hears what is being done, from several threads; this one tells nobody."""

    def begin(self, targets: int) -> None:
        """Attempts on so many targets begin."""

    def step(self, text: str) -> None:
        """A target enters a step: ``net.py:Net: script cpu eval``."""

    def done(self, target: str, outcome: str) -> None:
        """A target is through, with an outcome in a few words."""
