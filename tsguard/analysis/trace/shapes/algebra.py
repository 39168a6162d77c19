"""Shapes of linear algebra: products, decompositions, diagonals."""

from __future__ import annotations

from collections.abc import Callable

from tsguard.analysis import values as py
from tsguard.analysis.trace.shapes import computing
from tsguard.analysis.trace.shapes.dims import Dim, number
from tsguard.analysis.trace.shapes.extents import Extent, broadcast
from tsguard.analysis.trace.shapes.operation import Operation, Shaped, extent_of


def _behind(rule: Callable[[Operation], Shaped]) -> Callable[[Operation], Shaped]:
    """The same of what comes after the first argument, as ``torch.addmm(sum, a, b)`` has it."""
    return lambda op: rule(Operation(op.facts, op.args[1:], op.kwargs, op.learns))


def applied(op: Operation) -> Shaped:
    """``torch.mv(matrix, vector)``."""
    shape = op.takes_rank(op.shape(), 2)
    return Extent((None if shape is None else shape.at(0),))


def contracted(op: Operation) -> Shaped:
    """``torch.tensordot(a, b, dims)``, of the last dimensions of one and the first of the other."""
    left, right, count = op.shape(0, "a"), op.shape(1, "b"), op.whole(2, "dims", 2)
    if left is None or right is None or count is None or right.lead is not None or left.lead is not None:
        return None
    return Extent((*left.dims[: len(left.dims) - count], *right.dims[count:]))


def distances(op: Operation) -> Shaped:
    """``torch.cdist(a, b)``: of each row of one to each of the other."""
    left, right = op.shape(0, "x1"), op.shape(1, "x2")
    if left is None or right is None:
        return None
    batch = broadcast(left.without_last(2), right.without_last(2))
    return None if batch is None else batch.followed_by(left.at(-2), right.at(-2))


def crossed(op: Operation) -> Shaped:
    """``F.bilinear(a, b, weight)``."""
    shape, weight = op.shape(0, "input1"), op.shape(2, "weight")
    return None if shape is None else shape.with_last(None if weight is None else weight.at(0))


def solved(op: Operation) -> Shaped:
    """``torch.linalg.solve(a, b)``, of a ``b`` that has as many dimensions, so that it is no row."""
    left, right = op.shape(0, "A"), op.shape(1, "B")
    is_matrix = left is not None and right is not None and left.rank == right.rank
    return right if is_matrix else None


def diagonals(op: Operation) -> Shaped:
    """``torch.diagonal(x, offset, dim1, dim2)``: as the last dimension."""
    shape, one, other = op.shape(), op.whole(2, "dim1", 0), op.whole(3, "dim2", 1)
    if shape is None or not shape.rank or one is None or other is None:
        return None
    gone = {one % len(shape.dims), other % len(shape.dims)}
    kept = [dim for index, dim in enumerate(shape.dims) if index not in gone]
    return Extent((*kept, _diagonal(op, shape.at(one), shape.at(other))))


def _diagonal(op: Operation, rows: Dim | None, columns: Dim | None) -> Dim | None:
    """How long the diagonal of a matrix is."""
    offset, down, across = op.whole(1, "offset", 0), op.facts.number(rows), op.facts.number(columns)
    if offset == 0 and rows == columns:
        return rows
    if offset is None or down is None or across is None:
        return None
    return number(max(0, min(down + min(offset, 0), across - max(offset, 0))))


def as_diagonal(op: Operation) -> Shaped:
    """``torch.diag_embed(x)``: the last dimension twice, without an offset."""
    shape = op.shape()
    if shape is None or len(op.args) + len(op.kwargs) > 1:
        return None
    return shape.followed_by(shape.at(-1))


def diagonal(op: Operation) -> Shaped:
    """``torch.diag(x)``: a matrix of a row, a row of a matrix."""
    shape = op.shape()
    if shape is None or shape.lead is not None or len(op.args) + len(op.kwargs) > 1:
        return None
    if len(shape.dims) == 1:
        return Extent((shape.dims[0], shape.dims[0]))
    return Extent((_diagonal(op, *shape.last(2)),))


def of_matrices(op: Operation) -> Shaped:
    """``torch.linalg.det(x)``: a number for each matrix, or several."""
    shape = op.shape(0, "A", "input", "self")
    return None if shape is None else shape.without_last(2)


def matrix_norm(op: Operation) -> Shaped:
    """``torch.linalg.matrix_norm(x)`` of the last two dimensions."""
    plain = len(op.args) <= 2 and not op.kwargs.keys() & {"dim", "keepdim"}
    return of_matrices(op) if plain else None


def turned_back(op: Operation) -> Shaped:
    """``torch.linalg.pinv(x)``: rows for columns."""
    shape = op.shape(0, "A", "input", "self")
    return None if shape is None else shape.with_last(shape.at(-1), shape.at(-2))


def own_values(op: Operation) -> Shaped:
    """``torch.linalg.eigh(x)``: as many values as rows, and vectors."""
    shape = op.shape(0, "A", "input", "self")
    return None if shape is None else [shape.without_last(1), shape]


def own_values_alone(op: Operation) -> Shaped:
    shape = op.shape(0, "A", "input", "self")
    return None if shape is None else shape.without_last(1)


def _least(op: Operation, shape: Extent) -> Dim | None:
    """The shorter side of matrices, where both are known or one and the same."""
    rows, columns = shape.last(2)
    down, across = op.facts.number(rows), op.facts.number(columns)
    if down is not None and across is not None:
        return number(min(down, across))
    return rows if rows == columns else None


def singular(op: Operation) -> Shaped:
    """``torch.linalg.svd(x, full_matrices)``."""
    shape, full = op.shape(0, "A", "input", "self"), op.flag(1, "full_matrices", True)
    if shape is None or full is None:
        return None
    (rows, columns), least, batch = shape.last(2), _least(op, shape), shape.without_last(2)
    sides = (rows, columns) if full else (least, least)
    left, right = batch.followed_by(rows, sides[0]), batch.followed_by(sides[1], columns)
    return [left, batch.followed_by(least), right]


def singular_reduced(op: Operation) -> Shaped:
    """``torch.svd(x)``, whose third part stands upright."""
    shape, some = op.shape(), op.flag(1, "some", True)
    if shape is None or not some:
        return None
    (rows, columns), least, batch = shape.last(2), _least(op, shape), shape.without_last(2)
    return [
        batch.followed_by(rows, least),
        batch.followed_by(least),
        batch.followed_by(columns, least),
    ]


def orthogonal(op: Operation) -> Shaped:
    """``torch.linalg.qr(x)`` in its reduced form."""
    shape = op.shape(0, "A", "input", "self")
    if shape is None or len(op.args) + len(op.kwargs) > 1:
        return None
    (rows, columns), least, batch = shape.last(2), _least(op, shape), shape.without_last(2)
    return [batch.followed_by(rows, least), batch.followed_by(least, columns)]


def correlated(op: Operation) -> Shaped:
    """``torch.cov(x)``: of each row with each."""
    shape = op.shape()
    return Extent((shape.dims[0], shape.dims[0])) if shape is not None and shape.rank == 2 else None


def like_first(op: Operation) -> Shaped:
    """What has the shape of matrices that may be called ``A``."""
    return op.shape(0, "A", "input", "self")


def vectors_multiplied(op: Operation) -> Shaped:
    """``torch.cross(a, b)``, element by element but for its vectors."""
    values = [value for value in op.args[:2] if isinstance(value, py.TensorValue)]
    shapes = [extent_of(op.facts, value) for value in values]
    return broadcast(shapes[0], shapes[1]) if len(shapes) == 2 else None


ALGEBRA: dict[str, Callable[[Operation], Shaped]] = {
    "addmm": _behind(computing.multiplied_flat),
    "addmv": _behind(applied),
    "baddbmm": _behind(computing.multiplied_in_batches),
    "bilinear": crossed,
    "cdist": distances,
    "cholesky": like_first,
    "corrcoef": correlated,
    "cov": correlated,
    "cross": vectors_multiplied,
    "det": of_matrices,
    "diag": diagonal,
    "diag_embed": as_diagonal,
    "diagonal": diagonals,
    "eig": own_values,
    "eigh": own_values,
    "eigvals": own_values_alone,
    "eigvalsh": own_values_alone,
    "ger": computing.outer,
    "inv": like_first,
    "inverse": like_first,
    "logdet": of_matrices,
    "matrix_exp": like_first,
    "matrix_norm": matrix_norm,
    "mv": applied,
    "pinv": turned_back,
    "qr": orthogonal,
    "slogdet": of_matrices,
    "solve": solved,
    "svd": singular_reduced,
    "tensordot": contracted,
}
"""The rules, by the names of the functions."""

OF_LINALG: dict[str, Callable[[Operation], Shaped]] = {"svd": singular, "norm": computing.normed}
"""Those of ``torch.linalg`` that do otherwise than functions of torch with the same name."""
