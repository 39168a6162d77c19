"""One target compiled, as ``torch.jit.script`` would."""

from __future__ import annotations

from collections.abc import Callable

from tsguard.analysis import unread
from tsguard.analysis import values as py
from tsguard.analysis.events import Event, Gap
from tsguard.analysis.python import Interpreter, decorators
from tsguard.analysis.script import constructor_source, interfaces, module_compilation, python_errors
from tsguard.analysis.script.compiler import TargetCompiler
from tsguard.analysis.script.context import Compiler
from tsguard.analysis.script.refusals import Refusal
from tsguard.analysis.script.reports import Settled
from tsguard.project import Target
from tsguard.report.records import dataclass


@dataclass(frozen=True, slots=True)
class Compilation:
    """What compiling a target showed: the rules broken and what could not be told.

    ``unread`` are the keys of events in properties that no compiled code reads; a module that ``raises`` does so in
    Python, whenever it is called.
    """

    events: tuple[Event, ...] = ()
    gaps: tuple[Gap, ...] = ()
    unread: frozenset[tuple[object, ...]] = frozenset()
    raises: bool = False


def compile_target(interp: Interpreter, target: Target, subject: py.Value) -> Compilation:
    """Compile a module instance or a function as ``torch.jit.script`` would."""
    compiler = TargetCompiler(interp, target, subject if isinstance(subject, py.ModuleValue) else None)
    with interfaces.asked_of(compiler):
        return _compile_subject(compiler, interp, target, subject)


def compiles(
    interp: Interpreter, target: Target, module: py.ModuleValue, is_refused: Callable[[Event], bool]
) -> bool:
    """Whether a module compiles, as far as all of it can be told, without an event that ``is_refused``."""
    compiler = TargetCompiler(interp, target, module)
    compiler.reporter.settles = is_refused
    try:
        with interfaces.asked_of(compiler):
            compilation = _compile_subject(compiler, interp, target, module)
    except Settled:
        return False
    return not any(map(is_refused, compilation.events))


def _compile_subject(
    compiler: Compiler, interp: Interpreter, target: Target, subject: py.Value
) -> Compilation:
    if isinstance(subject, py.ModuleValue):
        constructor_source.check(compiler, subject)
        module_compilation.compile_module(compiler, subject)
    elif isinstance(subject, py.FunctionValue):
        if "unused" in subject.marks or "cached" in subject.marks:
            return Compilation()
        compiler.compile_function(subject, None, subject.name)
        if decorators.overloads(interp, subject):
            refusal = Refusal("unscriptable-function/overloaded", subject.node, name=subject.name)
            compiler.report(refusal, subject.module)
    else:
        known = subject.unread if isinstance(subject, py.Unknown) else None
        compiler.reporter.add_gap(known or unread.use(target.module, target.node))
    reporter = compiler.reporter
    return Compilation(
        tuple(reporter.events.values()),
        tuple(reporter.gaps.values()),
        reporter.unread(),
        any(python_errors.raises(refusal, module) for refusal, module in reporter.met),
    )
