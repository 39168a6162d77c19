"""Symbolic shapes: what of a tensor's sizes is the same for every input that eager takes.

A dimension is a number or a formula over what only inputs tell (``dims``), a shape is
dimensions (``extents``), and what layers, checks and unpackings ask of inputs are ``facts``.
How operations shape their results is the table in ``rules``.  Unknown stays unknown.
Source: torch 2.13's documentation of each operation, and running it.
"""
