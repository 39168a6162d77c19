"""A source file: its text, tree, positions and suppressions."""

from tsguard.source.text import SourceFile, Span

__all__ = ["SourceFile", "Span"]
