"""Python's own rules over abstract values: constructors, globals, and forward as traced."""

from tsguard.analysis.python.interpreter import Interpreter, Program, Raised

__all__ = ["Interpreter", "Program", "Raised"]
