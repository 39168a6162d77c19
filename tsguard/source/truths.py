"""Values of which a function uses no more than the truth: what else they are does not show."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.source.remembering import remembered
from tsguard.source.walking import walked


def is_only_tested(value: ast.expr, function: ast.AST) -> bool:
    """Whether a value of a function is bound to one name, and that is read in tests alone or never."""
    nodes = walked(function)
    names = [target.id for target in _targets(value, nodes) if isinstance(target, ast.Name)]
    if len(names) != 1:
        return False
    tested = {id(operand) for node in nodes for test in _tests(node) for operand in _operands(test)}
    updated = {id(node.target) for node in nodes if isinstance(node, ast.AugAssign)}
    uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == names[0]]
    reads = [use for use in uses if isinstance(use.ctx, ast.Load) or id(use) in updated]
    return all(id(read) in tested for read in reads)


@remembered(4096)
def tested(node: ast.AST) -> frozenset[str]:
    """The attributes, written out, of which the code of a class or function tests the truth as they are."""
    operands = (operand for inner in walked(node) for test in _tests(inner) for operand in _operands(test))
    return frozenset(ast.unparse(operand) for operand in operands if isinstance(operand, ast.Attribute))


def compared_with(name: str, function: ast.AST) -> tuple[int, ...]:
    """The whole numbers and bools that the tests of a function ask a name to equal; none where it is used for more."""
    return _only_compared(function).get(name, ())


@remembered(4096)
def _only_compared(function: ast.AST) -> dict[str, tuple[int, ...]]:
    """The names of a function that are used for nothing else, with what they are asked to equal."""
    nodes = walked(function)
    numbers: dict[str, tuple[int, ...]] = {}
    compared: set[int] = set()
    tests = [operand for node in nodes for test in _tests(node) for operand in _operands(test)]
    for test in tests:
        if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name):
            wanted = test.comparators[0]
            if _asks_equality(test) and isinstance(wanted, ast.Constant) and isinstance(wanted.value, int):
                compared.add(id(test.left))
                numbers[test.left.id] = (*numbers.get(test.left.id, ()), wanted.value)
    for node in nodes if numbers else ():
        if isinstance(node, ast.Name) and id(node) not in compared:
            numbers.pop(node.id, None)
    return numbers


def _asks_equality(test: ast.Compare) -> bool:
    return len(test.ops) == 1 and isinstance(test.ops[0], (ast.Eq, ast.NotEq, ast.Is, ast.IsNot))


def _targets(value: ast.expr, nodes: tuple[ast.AST, ...]) -> list[ast.expr]:
    for node in nodes:
        if isinstance(node, ast.Assign) and node.value is value:
            return node.targets
        if isinstance(node, ast.AnnAssign) and node.value is value:
            return [node.target]
    return []


def _tests(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        yield node.test
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "bool":
        yield from node.args


def _operands(test: ast.expr) -> Iterator[ast.expr]:
    """A test, or what its ``and`` and ``or`` join."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _operands(value)
    else:
        yield test
