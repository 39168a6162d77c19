"""TorchScript's compiler without the graph: it type-checks what torch would compile.

Laid out as torch's own front end (``torch/csrc/jit/frontend``): sugared values,
environments, statements, expressions, conditions; and ``torch/jit/_recursive.py`` for
what of a module is compiled.
"""

from tsguard.analysis.script.targets import Compilation, compile_target, compiles

__all__ = ["Compilation", "compile_target", "compiles"]
