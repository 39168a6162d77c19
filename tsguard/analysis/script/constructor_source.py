"""The constructor of a scripted module, whose source torch parses before it compiles anything."""

from __future__ import annotations

import textwrap

from tsguard.analysis import values as py
from tsguard.analysis.python import classes, records
from tsguard.analysis.python.keeping import Kept
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.source.functions import FunctionNode, first_line

_INDENTED: Kept[FunctionNode, bool] = Kept()


def check(compiler: Compiler, instance: py.ModuleValue) -> None:
    """Report a constructor without a source, and a line that is indented less than the constructor.

    torch takes the indentation that all lines share.
    """
    maker = records.made_constructor(compiler.interp, instance.cls)
    if maker is not None and "dataclass" in maker.marks:
        compiler.report(Refusal("constructor-source", maker.node, cls=maker.name), maker.module)
        return
    found = classes.class_member(compiler.interp, instance.cls, "__init__")
    if found is None or not isinstance(found[0], py.FunctionValue):
        return
    function = found[0]
    known = _INDENTED.of(compiler.interp.program)
    if function.node not in known:
        known[function.node] = textwrap.dedent("\n".join(_lines(function)))[:1].isspace()
    if known[function.node]:
        compiler.report(Refusal("constructor-indentation", function.node), function.module)


def _lines(function: py.FunctionValue) -> list[str]:
    """What torch parses: the lines of a function from its first decorator on, without those of comments."""
    first = first_line(function.node)
    lines = function.module.file.lines[first - 1 : function.node.end_lineno]
    return [line for line in lines if not line.strip().startswith("#") or line.strip().startswith("# type:")]
