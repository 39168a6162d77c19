"""The abstract interpreter of Python: constructors, globals, and the base of the walks for traces and modes."""

from tsguard.analysis.python.context import Interpreter, Raised
from tsguard.analysis.python.interpreter import PythonInterpreter
from tsguard.analysis.python.program import Program

__all__ = ["Interpreter", "Program", "PythonInterpreter", "Raised"]
