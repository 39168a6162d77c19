"""Tables in which functions keep what they found out, as one walk sees them."""

from __future__ import annotations

from pathlib import Path

from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.trace.memos import Memos
from tsguard.analysis.values import DictValue, FunctionValue, Scope, Unknown, Value
from tsguard.analysis.worlds import World
from tsguard.project import Project

SOURCE = """
KEPT = {}

def kept(x):
    if type(x) not in KEPT:
        KEPT[type(x)] = str(x)
    return KEPT[type(x)]
"""


def table_and_scope(folder: Path) -> tuple[DictValue, Scope]:
    path = folder / "kept.py"
    path.write_text(SOURCE, encoding="utf-8")
    project = Project((folder,))
    program = Program(project)
    scope = program.scope(project.module(path))
    interp = PythonInterpreter(program, World())
    table, function = interp.lookup("KEPT", scope), interp.lookup("kept", scope)
    assert isinstance(table, DictValue)
    assert isinstance(function, FunctionValue)
    return table, Scope(scope.module, parent=scope, function=function)


def seen(table: Value, scope: Scope) -> Value:
    return Memos().as_seen("TABLE", table, scope)


def test_who_fills_a_table_finds_it_empty_at_first(tmp_path: Path):
    table, inside = table_and_scope(tmp_path)
    as_seen = seen(table, inside)
    assert isinstance(as_seen, DictValue)
    assert as_seen is not table
    assert not as_seen.items


def test_what_an_earlier_run_left_under_a_key_that_is_not_told_is_not_there(tmp_path: Path):
    table, inside = table_and_scope(tmp_path)
    table.items["?0"], table.untold["?0"] = Unknown(), Unknown()
    as_seen = seen(table, inside)
    assert isinstance(as_seen, DictValue)
    assert not as_seen.items


def test_a_table_with_entries_of_its_own_is_seen_as_it_is(tmp_path: Path):
    table, inside = table_and_scope(tmp_path)
    table.items[int] = Unknown()
    assert seen(table, inside) is table
