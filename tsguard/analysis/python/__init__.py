"""Python's own rules over abstract values: constructors, globals, and forward as traced."""

from tsguard.analysis.python.context import Raised
from tsguard.analysis.python.interpreter import Interpreter
from tsguard.analysis.python.program import Program

__all__ = ["Interpreter", "Program", "Raised"]
