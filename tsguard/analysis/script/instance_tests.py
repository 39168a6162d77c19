"""``isinstance`` where TorchScript answers otherwise than Python: its answer rests on the type alone."""

from __future__ import annotations

import ast

from tsguard.analysis import values as py
from tsguard.analysis.events import text_of
from tsguard.analysis.python import ancestry
from tsguard.analysis.script import differences, none_defaults
from tsguard.analysis.script.context import FunctionCompiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.sugared import Value
from tsguard.language import types as t
from tsguard.language.legacy_types import LEGACY_TYPES
from tsguard.language.relations import merged
from tsguard.language.rule_names import RuleName

# What every Tensor is an instance of in Python, and none in TorchScript, which compiles the class.
_VARIABLES = frozenset({"torch.autograd.Variable", "torch.autograd.variable.Variable"})
_NUMBERS = frozenset({t.INT, t.FLOAT, t.BOOL, t.COMPLEX, t.NUMBER})
# What models compute with unless they are told otherwise.
_USUAL = "FloatTensor"


def tell_difference(
    fc: FunctionCompiler, subject: ast.expr, value: Value, wanted: list[t.Type], classes: ast.expr
) -> None:
    """Report a test that compiled code may answer otherwise than eager does."""
    given = merged([value.type])
    if t.TENSOR in wanted:
        none_defaults.test(fc, subject, value)
    if t.TENSOR in given:
        _of_tensor(fc, subject, classes, t.TENSOR in wanted)
    if not _NUMBERS.isdisjoint(given) and _name(fc, classes) == "numbers.Number":
        _tell(fc, "isinstance-untyped/number", subject, classes)
    is_asked = value.parameter and value.type is t.TENSOR and t.TENSOR not in wanted
    if is_asked and _name(fc, classes) not in _VARIABLES and differences.may_get_anything(fc):
        _tell(fc, "isinstance-untyped", subject, classes)


def _of_tensor(fc: FunctionCompiler, subject: ast.expr, classes: ast.expr, is_true: bool) -> None:
    name = _name(fc, classes)
    kind = name.rpartition(".")[2]
    if name in _VARIABLES:
        _tell(fc, "isinstance-untyped/variable", subject, classes)
    elif is_true and kind in LEGACY_TYPES and kind != _USUAL:
        _tell(fc, "isinstance-untyped/dtype", subject, classes, dtype=f"torch.{LEGACY_TYPES[kind]}")
    elif is_true and kind not in LEGACY_TYPES and name not in ("", "torch.Tensor"):
        _tell(fc, "isinstance-untyped/parameter", subject, classes)


def _name(fc: FunctionCompiler, classes: ast.expr) -> str:
    """The class of tensors or of numbers that is asked for alone; "" for any other, and for several."""
    found = fc.compiler.interp.evaluate(classes, fc.scope)
    if isinstance(found, py.ClassValue):
        is_of_tensors = ancestry.derives_from(fc.compiler.interp, found, "torch.Tensor")
        return found.name if is_of_tensors else ""
    return found.name if isinstance(found, py.External) else ""


def _tell(fc: FunctionCompiler, rule: RuleName, subject: ast.expr, classes: ast.expr, **more: str) -> None:
    fc.note(Refusal(rule, subject, name=text_of(subject), classes=text_of(classes), **more))
