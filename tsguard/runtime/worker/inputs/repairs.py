"""What to change after a trial failed, most promising first."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch

from tsguard.runtime.worker.inputs import moves
from tsguard.runtime.worker.inputs.moves import Move
from tsguard.runtime.worker.inputs.probe import Trouble
from tsguard.runtime.worker.inputs.specs import (
    INVENTED_KEY,
    LENGTH,
    DictSpec,
    Guess,
    Kind,
    SequenceSpec,
    Spec,
    TensorSpec,
)

Repair = Callable[[Guess, Trouble, re.Match[str]], Iterator[Move]]


def suspected(guess: Guess, trouble: Trouble) -> frozenset[str]:
    """The inputs that a failure may be about: all, if it does not tell."""
    return (trouble.suspects & guess.tensors().keys()) or frozenset(a.name for a in guess.arguments)


def _sizes(got: int, want: int, *, both_ways: bool = False) -> Repair:
    """The message names a size that came out and the one that was wanted, by group number."""

    def repair(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
        pairs = [(int(match[got]), int(match[want]))]
        if both_ways:
            pairs += _pairs_by_operand(trouble, *pairs[0])
        for left, right in pairs:
            yield from moves.resizes(guess, suspected(guess, trouble), left, right)

    return repair


def _pairs_by_operand(trouble: Trouble, left: int, right: int) -> list[tuple[int, int]]:
    """The other direction too, unless only one side comes from the inputs."""
    free = [bool(o.origins) for o in trouble.operands]
    return [(right, left)] if len(free) < 2 or all(free[:2]) or not free[0] else []


def _rank(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
    if not match[1]:
        return
    names, wanted = suspected(guess, trouble), int(match[1])
    yield from moves.ranked(guess, names, wanted)
    # What arrived may have other dimensions than what was given.
    for arrived in {len(o.shape) for o in trouble.operands[:1] if o.origins} - {wanted}:
        for name in sorted(names):
            spec = guess.get(name)
            rank = len(spec.shape) + wanted - arrived if isinstance(spec, TensorSpec) else -1
            if isinstance(spec, TensorSpec) and rank >= 0:
                yield 0.15, guess.with_spec(name, moves.with_rank(spec, rank))


def _deeper(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
    """One dimension more for each suspect, then one less."""
    for name in sorted(suspected(guess, trouble)):
        spec = guess.get(name)
        if isinstance(spec, TensorSpec):
            for cost, rank in (
                (0.1, len(spec.shape) + 1),
                (0.4, len(spec.shape) + 2),
                (0.5, len(spec.shape) - 1),
            ):
                if 0 <= rank <= 6:
                    yield cost, guess.with_spec(name, moves.with_rank(spec, rank))


def _kind(kind: Kind) -> Repair:
    def repair(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
        high = 0
        if kind == "int":
            tables = [o.shape[0] for o in trouble.operands if not o.origins and len(o.shape) == 2]
            high = tables[0] if tables else 0
        suspects = suspected(guess, trouble)
        if kind == "float":
            wrong = {n for n in suspects if getattr(guess.get(n), "kind", "float") != "float"}
            suspects = frozenset(wrong) or suspects
        yield from moves.of_kind(guess, suspects, kind, high)

    return repair


def _range(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
    """Indices beyond the end of what they index."""
    limits = [o.shape[0] for o in trouble.operands if not o.origins and o.shape]
    for name, spec in guess.tensors().items():
        if spec.kind == "int" and name in suspected(guess, trouble):
            for place, high in enumerate((*limits, spec.high // 2, 2, 1)):
                if 0 < high < spec.high:
                    yield place / 10, guess.with_spec(name, TensorSpec(spec.shape, "int", high))
    for cost, part in ((0.4, 2), (0.5, 4)):
        yield cost, moves.changed(guess, guess.tensors(), functools.partial(_length_over, part))


def _length_over(part: int, spec: TensorSpec) -> TensorSpec:
    return spec.resized(1, spec.shape[1] // part) if len(spec.shape) in (2, 3) else spec


def _larger(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
    """Everything beyond batch and channels larger: kernels and strides did not fit."""
    for cost, times in ((0.0, 2), (0.2, 4), (0.4, 8)):

        def grow(spec: TensorSpec, times: int = times) -> TensorSpec:
            kept = 2 if len(spec.shape) >= 3 else 1
            return spec.of((*spec.shape[:kept], *(times * s for s in spec.shape[kept:])))

        yield cost, moves.changed(guess, suspected(guess, trouble), grow)
    yield (
        0.4,
        moves.changed(
            guess, suspected(guess, trouble), lambda s: s.resized(-1, 4096) if len(s.shape) == 3 else s
        ),
    )


def _divisible(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
    yield from made_divisible(guess, trouble, int(match[1]), int(match[2]))


def made_divisible(guess: Guess, trouble: Trouble, size: int, divisor: int) -> Iterator[Move]:
    """Guesses in which what came out as ``size`` may come out as a multiple of ``divisor``."""
    if divisor > 0:
        for cost, want in ((0.0, -(-size // divisor) * divisor), (0.2, divisor), (0.3, 8 * divisor)):
            for more, guessed in moves.resizes(guess, suspected(guess, trouble), size, want):
                yield cost + more, guessed


def _split(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
    want = sum(int(size) for size in re.findall(r"\d+", match[2]))
    yield from moves.resizes(guess, suspected(guess, trouble), int(match[1]), want)


def _reshape(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
    """A view that does not fit: make the tensor as large as the view, or a multiple of it."""
    fixed = [int(size) for size in re.findall(r"-?\d+", match[1])]
    have, wanted = int(match[2]), math.prod(size for size in fixed if size > 0)
    if not have or not wanted:
        return
    if 0 in fixed:
        # The batch is divided, and came out as less than one.
        for rank, parts in enumerate(size for size in fixed if 1 < size <= LENGTH):
            yield 0.1 + rank / 10, moves.changed(guess, guess.tensors(), moves.sized(0, parts))
    for name in sorted(suspected(guess, trouble)):
        for dim in (1, -1, 2):
            yield (
                0.1,
                moves.changed(
                    guess, [name], functools.partial(moves.in_proportion, dim=dim, wanted=wanted, have=have)
                ),
            )
        yield 0.2, moves.changed(guess, [name], functools.partial(moves.scaled_area, got=have, want=wanted))
    for size in dict.fromkeys(reversed([s for o in trouble.operands if o.origins for s in o.shape])):
        for want in dict.fromkeys(s for s in fixed if s > 1):
            for cost, repaired in moves.resizes(guess, suspected(guess, trouble), size, want):
                yield 0.5 + cost, repaired


def _shapes(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
    """Two whole shapes that should be one: each tensor with one of them gets the other."""
    left, right = (tuple(int(size) for size in re.findall(r"\d+", match[i])) for i in (1, 2))
    for cost, (got, want) in enumerate(((left, right), (right, left))):
        for name, spec in guess.tensors().items():
            if spec.shape == got:
                yield cost / 10, guess.with_spec(name, spec.of(want))
        for a, b in zip(got, want, strict=False):
            for more, repaired in moves.resizes(guess, suspected(guess, trouble), a, b):
                yield 0.2 + cost / 10 + more, repaired


def _state(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
    """A recurrent state of another shape than the cell's."""
    want = tuple(int(size) for size in re.findall(r"\d+", match[1]))
    for name in sorted(suspected(guess, trouble)):
        yield 0.2, moves.changed(guess, [name], lambda s: s.of(want))


def _two_states(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
    """A hidden state and a cell's, for what takes both."""
    for name in sorted(suspected(guess, trouble)):
        spec = guess.get(name)
        if isinstance(spec, TensorSpec):
            one = spec.of((1, *spec.shape[:1], *spec.shape[-1:]) if match[1] == "3" else spec.shape[-2:])
            yield 0.1, guess.with_spec(name, SequenceSpec((one, one), is_tuple=True))


def _as_dict(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
    for name in sorted(trouble.blamed or suspected(guess, trouble)):
        spec = guess.get(name)
        if isinstance(spec, TensorSpec):
            yield 0.2, guess.with_spec(name, DictSpec(((INVENTED_KEY, spec),)))


def _as_list(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
    """A sequence of tensors: of images without the batch, or of whole tensors."""
    for name in sorted(suspected(guess, trouble)):
        spec = guess.get(name)
        if isinstance(spec, TensorSpec):
            single = spec.of(spec.shape[1:]) if len(spec.shape) in (4, 5) else spec
            yield 0.3, guess.with_spec(name, SequenceSpec((single, single)))
            yield 0.5, guess.with_spec(name, SequenceSpec((spec, spec)))


def _as_value(*texts: str) -> Repair:
    def repair(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
        for cost, text in enumerate(texts):
            for name in sorted(trouble.blamed or frozenset(guess.tensors())):
                yield 0.3 + cost / 10, moves.replaced(guess, name, text)

    return repair


def _key(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
    """A key that a dict of inputs lacks, or each dict in a list of them."""
    for argument in guess.arguments:
        fresh = _with_key(argument.spec, match[1])
        if fresh != argument.spec:
            yield 0.1, guess.with_spec(argument.name, fresh)


def _with_key(spec: Spec, key: str) -> Spec:
    if isinstance(spec, SequenceSpec):
        return replace(spec, items=tuple(_with_key(item, key) for item in spec.items))
    if not isinstance(spec, DictSpec) or key in dict(spec.items):
        return spec
    kept = tuple((known, item) for known, item in spec.items if known != INVENTED_KEY)
    return DictSpec((*kept, (key, spec.items[0][1])))


def _longer_list(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
    for argument in guess.arguments:
        if isinstance(argument.spec, SequenceSpec) and len(argument.spec.items) < 8:
            items = argument.spec.items
            longer = SequenceSpec((*items, items[-1]), argument.spec.is_tuple)
            yield 0.2, guess.with_spec(argument.name, longer)


def _scalar_tensor(guess: Guess, trouble: Trouble, match: re.Match[str]) -> Iterator[Move]:
    for name in sorted(suspected(guess, trouble)):
        yield 0.3, moves.changed(guess, [name], lambda s: s.of(s.shape[:1]))
        yield 0.4, moves.changed(guess, [name], lambda s: s.of(()))


_INT = r"(\d+)"
_TABLE: list[tuple[str, Repair]] = [
    (rf"mat1 and mat2 shapes cannot be multiplied \(\d+x{_INT} and {_INT}x\d+\)", _sizes(1, 2)),
    (rf"to have {_INT} channels, but got {_INT} channels", _sizes(2, 1)),
    (rf"running_mean should contain {_INT} elements not {_INT}", _sizes(1, 2)),
    (rf"normalized_shape=\[{_INT}\].*but got input of size\[(?:.*, )?{_INT}\]", _sizes(2, 1)),
    (
        rf"size of tensor a \({_INT}\) must match the size of tensor b \({_INT}\)",
        _sizes(1, 2, both_ways=True),
    ),
    (rf"Expected size {_INT} but got size {_INT} for tensor number", _sizes(2, 1, both_ways=True)),
    (rf"must be equal to input_size\. Expected {_INT}, got {_INT}", _sizes(2, 1)),
    (rf"got {_INT},? expected {_INT}", _sizes(1, 2)),
    (r"torch\.Size\(\[([\d, ]*)\]\).*?torch\.Size\(\[([\d, ]*)\]\)", _shapes),
    (rf"expecting embedding dimension of {_INT}, but got {_INT}", _sizes(2, 1)),
    (r"Expected hidden(?:\[\d\])? size (\(.*?\)), got", _state),
    (rf"batch2 tensor to be: \[\d+, {_INT}\] but got: \[\d+, {_INT}\]", _sizes(2, 1, both_ways=True)),
    (rf"has size {_INT} for operand 1 which .* previously seen size {_INT}", _sizes(2, 1, both_ways=True)),
    (rf"got weight of shape \[{_INT}\] and input of shape \[\d+, {_INT}", _sizes(2, 1)),
    (rf"split_sizes to sum exactly to {_INT}.*split_sizes=\[(.*?)\]", _split),
    (rf"[Ss]hape mismatch, {_INT} != {_INT}", _sizes(1, 2, both_ways=True)),
    (rf"divide axis of length {_INT} in chunks of {_INT}", _divisible),
    (r"shape '\[(.*?)\]' is invalid for input of size (\d+)", _reshape),
    (
        rf"expanded size of the tensor \({_INT}\) must match the existing size \({_INT}\)",
        _sizes(2, 1, both_ways=True),
    ),
    (
        rf"(?:must match|doesn't match|equal|expected (?!\d[,)]|\d dims)).*?\(?{_INT}.*?\(?{_INT}",
        _sizes(1, 2, both_ways=True),
    ),
    (r"Expected \dD \(unbatched\) or (\d)D \(batched\)", _rank),
    (r"expected (?:\dD or )?(\d)D input", _rank),
    (r"(?:\dD or )(\d)D \(batch mode\)", _rank),
    (r"\dD or (\d)D tensor", _rank),
    (r"not enough values to unpack \(expected (\d)", _rank),
    (r"Expected (\d) elements in a list but found", _rank),
    (r"subscripts in the equation \((\d)\) does not match", _rank),
    (r"too many values to unpack \(expected (\d)", _rank),
    (r"expected (\d) dims\. Received", _rank),
    (r"input\.dim\(\) = \d is not equal to len\(dims\) = (\d)", _rank),
    (r"hx and cx should also be (\d)-D", _two_states),
    (r"(?:must|should) (?:have|(?:also )?be) (?:a )?(\d)[- ]?[Dd]", _rank),
    (r"input must have (\d) dimensions", _rank),
    (r"iteration over a (0)-d tensor", _deeper),
    (
        r"Dimension out of range|tuple index out of range|too many indices|[Ww]rong shape|at least \d dim|Only \dD",
        _deeper,
    ),
    (r"values to unpack|number of dimensions|[Dd]imension", _deeper),
    (
        r"not implemented for 'Float'|scalar types: Long, Int|used as indices must be|[Ee]xpected (?:dtype )?int64|index tensor|Expected tensor for .*indices",
        _kind("int"),
    ),
    (r"boolean masks|condition to be a boolean|bitwise_not|must be (?:of )?bool", _kind("bool")),
    (
        r"same dtype|not implemented for '(?:Long|Bool|Int)'|expected scalar type|bool tensor is not supported|must be floating|Input type|floating point dtype|Expected floating|got Long|should be the same",
        _kind("float"),
    ),
    (
        r"out of range in self|can not be greater than input's length|is out of bounds|out of range|out of bounds",
        _range,
    ),
    (
        r"'Tensor' object has no attribute '(?:items|keys|values|get|pop)'|Tensors? .*indices must|only integers, slices",
        _as_dict,
    ),
    (r"'Tensor' object is not callable", _as_value("torch.nn.Identity()", "torch.relu")),
    (
        r"converted to an index|interpreted as an integer|must be int|SymInt|converted to a Scalar|converted to Python scalar",
        _as_value("4", "(8, 8)", "0.5"),
    ),
    (
        r"'Tensor' object has no attribute|expected to be a? ?(?:list|tuple)|must be (?:a )?(?:list|tuple)|expected sequence|List of (?:Tensor|image)|list of \dd|expecte?d .*(?:list|tuple)",
        _as_list,
    ),
    (r"KeyError: '([^']+)'", _key),
    (r"^KeyError: \d$", _deeper),
    (r"list index out of range|tuple index out of range", _longer_list),
    (
        r"[Kk]ernel size|too small|[Pp]adding size should|smaller than|more than 1 |negative dimension|pad should be|[Ii]nvalid computed output size|greater than|non-empty|size 0|reduction dim|too low",
        _larger,
    ),
    (r"scalar|single element|ambiguous", _scalar_tensor),
]
_COMPILED = [(re.compile(pattern, re.DOTALL), repair) for pattern, repair in _TABLE]


def by_message(guess: Guess, trouble: Trouble) -> Iterator[Move]:
    """Repairs that the error's text suggests."""
    text = f"{type(trouble.error).__name__}: {trouble.message}"
    for rank, (pattern, repair) in enumerate(_COMPILED):
        match = pattern.search(text)
        if match is not None:
            for cost, repaired in repair(guess, trouble, match):
                yield cost + rank / 200, repaired


def by_operation(guess: Guess, trouble: Trouble) -> Iterator[Move]:
    """Repairs from the operands of the operation that raised: what layers and tables take."""
    operands = trouble.operands
    if trouble.operation in ("linear", "bilinear") and len(operands) > 1:
        got, want = operands[0], operands[1]
        if got.shape and got.shape[-1] != want.shape[-1]:
            yield from moves.resizes(guess, got.origins, got.shape[-1], want.shape[-1])
    if trouble.operation == "embedding" and len(operands) > 1:
        yield from moves.of_kind(guess, operands[0].origins, "int", operands[1].shape[0])
    if trouble.operation in ("matmul", "__matmul__", "bmm", "mm", "addmm", "dot") and len(operands) > 1:
        left, right = operands[-2:]
        if left.shape and len(right.shape) > 1 and left.shape[-1] != right.shape[-2]:
            yield from moves.resizes(guess, left.origins, left.shape[-1], right.shape[-2])
            yield from moves.resizes(guess, right.origins, right.shape[-2], left.shape[-1])
    wanted = {o.dtype for o in operands if not o.origins}
    if torch.float32 in wanted:
        wrong = [o for o in operands if o.origins and not o.dtype.is_floating_point]
        for operand in wrong if trouble.operation != "embedding" else ():
            yield from moves.of_kind(guess, operand.origins, "float")


def by_missing(trouble: Trouble) -> list[str]:
    """Names of arguments that the error says are missing."""
    match = re.search(r"missing \d+ required (?:positional|keyword-only) arguments?: (.*)", trouble.message)
    return re.findall(r"'(\w+)'", match[1]) if match else []


def literal_numbers(trouble: Trouble) -> list[int]:
    """Numbers in the message that may be sizes."""
    return [int(n) for n in dict.fromkeys(re.findall(r"\b\d{1,4}\b", trouble.message)) if int(n) > 1]
