"""The analysis of one file: the findings of its targets, and errors."""
