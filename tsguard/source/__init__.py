"""One file: its text, its tree, its positions, its suppressions."""

from tsguard.source.text import SourceFile, Span

__all__ = ["SourceFile", "Span"]
