"""From facts to the answer.

The answer cannot contradict the facts.  It holds, whatever they are, that

- what is recommended was attempted, worked and agreed with eager;
- a trace is recommended only where no trace in that place went wrong and there is a tensor among the
  inputs; where the linter knows of a hazard in it, that is named before any speed;
- a speed is told with its interval, and only of what was timed; "is not faster" is said of an
  interval that shows it;
- "without Python" is said only of what is saved and then runs without Python;
- nothing is kept back: findings count whether the report lists them or not;
- where the linter knows why torch refuses a target, the linter is quoted, not torch.

These are tested over generated facts in ``tests/answer``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tsguard.answer.facts import COMPILED_ALREADY, Answer, Facts
from tsguard.answer.making import EXPORTED, hazards, is_open, is_portable, is_right, is_saved, way
from tsguard.answer.speed import ratio
from tsguard.answer.words import first_line, is_internal, named, place, quoted, said
from tsguard.report import Attempt, AttemptError, Finding

_DOING = {
    "script": "Script it",
    "trace": "Trace it",
    "freeze": "{way}reeze it",
    "optimize_for_inference": "{way}se torch.jit.optimize_for_inference",
    "onednn": "Trace and freeze it with oneDNN Graph fusion",
    "compile": "Use torch.compile",
    "export_dynamic": "Export it with dynamic sizes",
    "export": "Export it",
    "aot_inductor": "Compile it ahead of time with AOTInductor",
}
_EXAMPLE_ONLY = " for the example's sizes only"
_NOT_DOING = {"trace": "trace it", "export": "export it", "export_dynamic": "export it with dynamic sizes"}
_WAYS = {
    "freeze": {"script": "Script and f", "trace": "Trace and f", "": "F"},
    "optimize_for_inference": {"script": "Script it and u", "trace": "Trace it and u", "": "U"},
}


def answer(facts: Facts) -> Answer:
    """What to do with a target, by all that is known of it."""
    if facts.stopped is not None:
        return _never_called(facts)
    eager = [a for a in facts.attempts if a.backend == "eager"]
    if eager and all(a.status != "ok" for a in eager):
        return _eager_fails(facts, eager[0])
    right = [a for a in facts.attempts if is_right(a, facts)]
    if not right:
        return _leave(facts)
    told = [_on_device(facts, [a for a in right if a.device == device]) for device in _devices(right)]
    several = len(told) > 1
    sentences = [
        f"On {device}: {text}" if several and i == 0 else text
        for device, one in zip(_devices(right), told, strict=True)
        for i, text in enumerate(one.sentences)
    ]
    sentences += [
        *_other_modes(facts, eager),
        *_what_not(facts, right),
        *_elsewhere(facts, right),
        *_repair(facts, right),
    ]
    return Answer(
        told[0].kind,
        tuple(sentences),
        tuple(a for one in told for a in one.use),
        tuple(f for one in told for f in one.minded),
    )


def _devices(attempts: Iterable[Attempt]) -> list[str]:
    return list(dict.fromkeys(a.device for a in attempts))


def _never_called(facts: Facts) -> Answer:
    stopped = facts.stopped
    assert stopped is not None
    if stopped.lacking is not None:
        return Answer("needs", (f"Not called, {stopped.lacking}.", *_compiles(facts)))
    if facts.given and stopped.of_inputs:
        return Answer(
            "inputs", (f"Check the inputs that you gave: {said(stopped.error)}.", *_compiles(facts))
        )
    begin = "It fails" if stopped.of_inputs else "Not called, it fails"
    told = f"{begin} {stopped.when}: {said(stopped.error)}."
    return Answer("repair", (told, *_compiles(facts)))


def _eager_fails(facts: Facts, eager: Attempt) -> Answer:
    why = said(eager.error)
    if facts.given:
        told = f"Check the inputs that you gave: with them it fails in {place(eager)}, uncompiled: {why}."
        return Answer("inputs", (told, *_compiles(facts)))
    told = f"Repair the module itself first, it fails in {place(eager)}: {why}."
    return Answer("repair", (told, *_compiles(facts)))


def _compiles(facts: Facts) -> list[str]:
    """A bug of another kind does not hide whether the module compiles."""
    script = next((a for a in facts.attempts if a.backend == "script" and a.status != "skipped"), None)
    if script is None:
        return []
    if script.status == "ok":
        return ["It does compile with torch.jit.script."]
    return [f"Scripting fails besides: {_reason(script.error, facts)}."]


def _leave(facts: Facts) -> Answer:
    tried = [a for a in facts.attempts if a.backend != "eager"]
    failed = [a for a in tried if a.status not in ("ok", "skipped")]
    if not failed:
        without = [a for a in tried if a.status == "ok"]
        if without and not facts.tensors:
            return Answer("leave", ("Leave it eager: it takes no tensor, so a trace of it is a constant.",))
        noted = next((first_line(a.note) for a in tried if a.note), "")
        return Answer("nothing", (f"Nothing was attempted{f': {noted}' if noted else ''}.",))
    first = next((a for a in failed if a.backend == "script"), failed[0])
    told = f"First repair, for {first.backend}: {_reason(first.error, facts, _family(first))}."
    return Answer("leave", ("Leave it eager.", told))


def _family(attempt: Attempt) -> str:
    """Whose findings say why an attempt fails; "" where none do."""
    return "export" if attempt.backend in EXPORTED else attempt.backend if attempt.backend == "script" else ""


def _on_device(facts: Facts, right: list[Attempt]) -> Answer:
    """What to do on one device, in inference first."""
    # Another dtype was asked for besides; the answer is for the model as it is.
    right = [a for a in right if a.dtype is None] or right
    best = _fastest(facts, [a for a in right if a.mode == "eval"]) or _fastest(facts, right)
    if best is None:
        return _no_faster(facts, right)
    minded = hazards(best, facts)
    doing = _doing(best, facts)
    speed = f"{_speed(best)} in {place(best)}"
    if best.backend not in ("script", "trace"):
        alone = _fastest(
            facts, [a for a in right if a.backend in ("script", "trace") and a.mode == best.mode]
        )
        safe = alone is not None and not hazards(alone, facts)
        speed += f" ({alone.backend} alone {_speed(alone)})" if alone is not None and safe else ""
    use, training = _training(facts, right, best) if best.mode == "eval" else ((), "")
    if minded:
        told = (
            f"{doing}, if you can rule out what it gets wrong: {named(minded)}.",
            f"On the inputs tried it is equal to eager and {speed}{training}.",
        )
        return Answer("use", told, (best, *use), tuple(minded))
    return Answer("use", (f"{doing}: equal to eager and {speed}{training}.",), (best, *use))


def _doing(attempt: Attempt, facts: Facts) -> str:
    ways = _WAYS.get(attempt.backend, {"": ""})
    doing = _DOING[attempt.backend].format(way=ways.get(way(attempt, facts), ways[""]))
    return doing + _restriction(attempt, facts)


def _restriction(attempt: Attempt, facts: Facts) -> str:
    only = attempt.backend in ("export", "aot_inductor") and is_open(attempt, facts) is False
    return _EXAMPLE_ONLY if only else ""


def _training(facts: Facts, right: Sequence[Attempt], best: Attempt) -> tuple[tuple[Attempt, ...], str]:
    """What the answer for inference does in training; nothing is named there that would have to be minded."""
    trained = [
        a
        for a in right
        if a.mode == "train"
        and a.speedup is not None
        and (a.backend == best.backend or not hazards(a, facts))
    ]
    same = next((a for a in trained if a.backend == best.backend), None)
    if same is not None and _concluded(same) == "faster":
        only = "" if _restriction(best, facts) else _restriction(same, facts)
        return (same,), f", {_speed(same)} in training{only}"
    other = _fastest(facts, [a for a in trained if a.backend != best.backend])
    if other is not None:
        gives = f"{other.backend} gives {_speed(other)}{_restriction(other, facts)}"
        return (other,), f"; for training, {gives}"
    # What another backend shows there says nothing of this one.
    shown = [_concluded(a) for a in ([same] if same is not None else trained)]
    if "slower" in shown:
        slower = same or next(a for a in trained if _concluded(a) == "slower")
        return (), f"; train it eagerly, {slower.backend} is slower there, {_speed(slower)}"
    if "no difference" in shown:
        return (), "; in training it is not faster"
    return (), "; in training the timing is too noisy to tell" if shown else ""


def _fastest(facts: Facts, attempts: Sequence[Attempt]) -> Attempt | None:
    """The fastest of those that are faster.

    What the linter knows nothing against comes first.  Of those whose intervals do not tell them apart,
    one that can be saved is taken, then the one that is faster in more modes, then the plainest.
    """
    faster = [a for a in attempts if _concluded(a) == "faster"]
    unminded = [a for a in faster if not hazards(a, facts)] or faster
    best = max(unminded, key=_low, default=None)
    if best is None:
        return None
    level = [a for a in unminded if a.speedup is not None and a.speedup.high >= _low(best)]
    return min(level, key=lambda a: _rank(a, facts))


def _rank(attempt: Attempt, facts: Facts) -> tuple[bool, int, int, float]:
    place = list(_DOING).index(attempt.backend)
    return not is_saved(attempt, facts), -_modes_gained(attempt, facts), place, -_low(attempt)


def _modes_gained(attempt: Attempt, facts: Facts) -> int:
    """In how many modes the same backend is faster on the same device."""
    alike = [a for a in facts.attempts if (a.backend, a.device) == (attempt.backend, attempt.device)]
    return len({a.mode for a in alike if _concluded(a) == "faster"})


def _low(attempt: Attempt) -> float:
    return attempt.speedup.low if attempt.speedup is not None else 0.0


def _no_faster(facts: Facts, right: list[Attempt]) -> Answer:
    timed = [a for a in right if a.speedup is not None]
    slower = [a for a in timed if _concluded(a) == "slower"]
    if slower and len(slower) == len(right):
        worst = slower[0]
        told = f"Leave it eager: {worst.backend} is slower, {_speed(worst)} in {place(worst)}."
        return Answer("leave", (told,))
    left = [a for a in right if a not in slower]
    if all(a.note == COMPILED_ALREADY for a in left):
        return Answer("works", ("It is compiled already, and runs.",), tuple(left))
    use = _to_name(facts, left)
    minded = hazards(use[0], facts)
    told = f"It works with {_where(facts, right, use)}{_but(minded)}"
    level = next((a for a in use if _concluded(a) == "no difference"), None)
    noisy = next((a for a in use if _concluded(a) == "too noisy"), None)
    if level is not None:
        told += "," if minded else ""
        told += (
            f" and is not faster ({level.backend} {_speed(level)} in {place(level)}{_beside(slower, use)}):"
            f" {_purpose(facts, use)}."
        )
    elif noisy is not None:
        told += f"; whether it is faster is not known, {noisy.backend} is too noisy with {_speed(noisy)}"
        told += f" in {place(noisy)}: use a longer --time-budget or a quieter machine."
    else:
        told += "; no speed was measured."
    return Answer("works", (told,), tuple(use), tuple(minded))


def _beside(slower: Sequence[Attempt], use: Sequence[Attempt]) -> str:
    """That what works is slower in another place."""
    backends = {a.backend for a in use}
    also = next((a for a in slower if a.backend in backends), None)
    return f"; slower in {place(also)}, {also.backend} {_speed(also)}" if also is not None else ""


def _where(facts: Facts, right: Sequence[Attempt], use: Sequence[Attempt]) -> str:
    """What works, with the modes in which it does where it does not in all that were tried."""
    modes = {a.mode for a in facts.attempts if a.backend == "eager"}
    works: dict[str, dict[str, None]] = {}
    for attempt in use:
        held = {a.mode for a in right if a.backend == attempt.backend}
        where = "" if modes <= held else f" in {' and '.join(sorted(held))}"
        where += f" in {attempt.dtype}" if attempt.dtype else ""
        works.setdefault(where, {})[attempt.backend + _restriction(attempt, facts)] = None
    return ", and with ".join(f"{' and '.join(names)}{where}" for where, names in works.items())


def _to_name(facts: Facts, left: list[Attempt]) -> list[Attempt]:
    """Of what works, that which runs without Python, if anything does, and which nothing is known against."""
    opened = {a.mode for a in left if a.backend == "export_dynamic"}
    named = [a for a in left if a.backend in ("script", "trace")]
    named = named or [a for a in left if a.backend != "export" or a.mode not in opened]
    unminded = [a for a in named if not hazards(a, facts)]
    return unminded or [a for a in named if a.backend == named[0].backend]


def _but(minded: Sequence[Finding]) -> str:
    return f", but gets some inputs wrong ({named(minded)})" if minded else ""


def _purpose(facts: Facts, use: Sequence[Attempt]) -> str:
    if all(is_portable(a, facts) for a in use):
        return "use it to deploy without Python, not for speed"
    return "it is not faster here"


def _speed(attempt: Attempt) -> str:
    return ratio(attempt.speedup) if attempt.speedup else ""


def _concluded(attempt: Attempt) -> str:
    return attempt.speedup.conclusion if attempt.speedup is not None else ""


def _other_modes(facts: Facts, eager: Sequence[Attempt]) -> list[str]:
    """That the module itself fails where nothing could be tried."""
    failing = next((a for a in eager if a.status != "ok"), None)
    if failing is None:
        return []
    it = "With the inputs that were guessed it" if facts.guessed else "The module itself"
    return [f"{it} fails in {place(failing)}: {said(failing.error)}."]


def _what_not(facts: Facts, right: Sequence[Attempt]) -> list[str]:
    told = []
    wrong = next((a for a in facts.attempts if a.status == "diverged"), None)
    if wrong is None and any(a.backend == "export" for a in right):
        wrong = next(
            (a for a in facts.attempts if (a.backend, a.status) == ("export_dynamic", "failed")), None
        )
    if wrong is not None:
        doing = _NOT_DOING.get(wrong.backend, f"use {wrong.backend}")
        if any(a.backend == wrong.backend for a in right):
            doing += f" in {place(wrong)}"
        told.append(f"Do not {doing}: {said(wrong.error) if wrong.error else 'it differs from eager'}.")
    broken = next((a for a in right if a.breaks), None)
    if broken is not None:
        told.append(f"torch.compile does not take it with fullgraph=True: {said(broken.breaks[0])}.")
    unsaved: dict[str, list[str]] = {}
    for a in right:
        if a.saved is False:
            unsaved.setdefault(first_line(a.note or "cannot be saved"), []).append(a.backend)
    for note, backends in unsaved.items():
        told.append(f"The {' and the '.join(dict.fromkeys(backends))} result {note}.")
    return told


def _elsewhere(facts: Facts, right: list[Attempt]) -> list[str]:
    """What works in one place and fails in another."""
    failing = [
        a
        for a in facts.attempts
        if a.status in ("failed", "crashed", "timeout")
        and any((r.backend, r.dtype) == (a.backend, a.dtype) for r in right)
    ]
    alike = {a.backend: a for a in reversed(failing)}
    return [f"In {place(a)} {a.backend} fails: {said(a.error)}." for a in reversed(alike.values())]


def _repair(facts: Facts, right: list[Attempt]) -> list[str]:
    told = []
    for backend in ("script", "export"):
        refused = next((a for a in facts.attempts if a.backend == backend and a.status == "failed"), None)
        if refused is not None and not any(a.backend == backend for a in right):
            told.append(f"To {backend} it: {_reason(refused.error, facts, backend)}.")
    return told


def _reason(error: AttemptError | None, facts: Facts, backend: str = "script") -> str:
    """Why an attempt fails: in the linter's words where it knows, else in torch's."""
    known = [f for f in facts.findings if f.family == backend and f.severity == "error"]
    at = [f for f in known if error is not None and (f.path, f.line) == (error.path, error.line)]
    if not known:
        return said(error)
    is_elsewhere = not at and error is not None and error.line is not None and not is_internal(error)
    return quoted((at or known)[0]) + (f"; torch stops at {said(error)}" if is_elsewhere else "")
