"""Python's own rules over abstract values: constructors, globals, and forward as traced."""

from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.interpreter import PythonInterpreter
from tsguard.analysis.python.program import Program

__all__ = ["Interpreter", "Program", "PythonInterpreter", "Raised"]
