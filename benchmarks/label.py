"""What torch does with drawn modules, asked apart from tsguard: a line of JSON for each, as it is known.

    python benchmarks/label.py drawn.jsonl -o labelled.jsonl [--question NAME]... [--workers N]

Each module is asked in a process of its own, the questions in turn:

- script: ``torch.jit.script``, then held against eager on what differs from the example in values,
  batch and sizes, wherever eager takes it: right, wrong, raises, or refused with the line;
- trace: the same of ``torch.jit.trace``, and whether torch warned; where nothing differs, a longer search is
  made, by other random numbers, extreme values, far sizes and second calls, and noted as ``searched``;
- export: ``torch.export.export``, not strict, held against eager on other values of the same sizes;
- batch: the same with the first dimension of each tensor open, on other batches (``alone``: eager takes none
  that is larger, so that the first dimension is no batch);
- compile: ``torch.compile(fullgraph=True, backend="eager")``;
- script-save, trace-save: what either makes is saved and loaded, and called with the example: right, wrong,
  unsaved or unloaded with the reason;
- mode: whether train() and eval() differ, the result is random, or a call leaves other state; with parameters
  that all start at one number made different, as training does.

Lines that the output holds already are not asked again: a run that was ended goes on where it was.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import importlib
import importlib.util
import inspect
import io
import json
import math
import multiprocessing
import os
import random
import re
import resource
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import torch
from varied import Arguments, alike, further_variants, mapped, tensors, variants

PATIENCE = 90
"""Seconds for one question."""
VARYING = 8
"""Seconds after which no further inputs are tried."""
SEARCHING = 8
"""Seconds of the longer search for a wrong trace."""
MEMORY = 12 * 2**30

NO_ANSWER = frozenset({"no call", "timeout", "crashed"})

Answer = dict[str, Any]


class Case:
    """A drawn module: made anew as often as wanted, and the example that it is called with."""

    def __init__(self, line: dict[str, Any]) -> None:
        self.folder = line["folder"]
        module = _imported(line)
        package = module.__name__.partition(".")[0]
        self._names: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "math": math}
        self._names |= {"SimpleNamespace": SimpleNamespace, package: sys.modules.get(package, module)}
        self._names |= vars(module)
        self._constructor = line["constructor"]
        self.anew()
        torch.manual_seed(0)
        args, kwargs = [], {}
        for text in line["inputs"]:
            keyword = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*=(?!=)(.*)", text, re.DOTALL)
            if keyword:
                kwargs[keyword[1]] = eval(keyword[2].strip(), self._names)
            else:
                args.append(eval(text, self._names))
        self.example = Arguments(args, kwargs)

    def anew(self) -> Any:
        torch.manual_seed(0)
        random.seed(0)
        numpy.random.seed(0)
        return eval(self._constructor, self._names).eval()

    def difference(self, made: Any, given: Arguments) -> str | None:
        """In what something made of the module differs from eager; "" for nothing, None where eager cannot tell."""
        try:
            want, again = given.given_to(self.anew()), given.given_to(self.anew())
        except Exception:
            return None
        if not alike(want, again):
            return None
        try:
            # The profiling executor of TorchScript compiles anew in the second call.
            results = [given.given_to(_as_made(made)) for _ in range(2)]
        except Exception as error:
            return f"raises: {_one_line(error)}"
        return "" if alike(want, results[1]) else "wrong: other results"

    def held(self, made: Any, kinds: tuple[str, ...]) -> Answer:
        """Something made of the module, against eager on all that differs from the example in these respects."""
        return self._held(made, (v for v in variants(self.example) if v.kind in kinds), VARYING)

    def _held(self, made: Any, inputs: Iterator[Arguments], seconds: float) -> Answer:
        started, tried = time.monotonic(), 0
        for given in inputs:
            if time.monotonic() - started > seconds:
                break
            found = self.difference(made, given)
            tried += found is not None
            if found:
                return {"answer": found.partition(":")[0], "why": f"{given.what}: {found}", "tried": tried}
        return {"answer": "right", "tried": tried}

    def searched(self, made: Any) -> Answer:
        """Something made of the module, against eager by a longer search."""
        answer = self._held(made, further_variants(self.example), SEARCHING)
        found = self.difference_of_second_calls(made) if answer["answer"] == "right" else None
        return {**answer, "answer": "wrong", "why": found} if found else answer

    def difference_of_second_calls(self, made: Any) -> str | None:
        """Where the second of two calls by other values differs, since one keeps what the other does not."""
        first, second, *_ = variants(self.example)
        outcomes = []
        for callee in (self.anew(), self.anew(), copy.deepcopy(_as_made(made))):
            try:
                first.given_to(callee)
                outcomes.append(second.given_to(callee))
            except Exception:
                return None
        eager, again, ours = outcomes
        return "" if not alike(eager, again) or alike(eager, ours) else "second call: wrong: other results"

    def refused(self, error: BaseException) -> Answer:
        """A refusal, with the innermost place of the project that it names."""
        text = f"{error}\n{''.join(traceback.format_tb(error.__traceback__))}"
        places = re.findall(r'File "([^"]+)", line (\d+)', text)
        own = [(Path(f).relative_to(self.folder), n) for f, n in places if f.startswith(self.folder)]
        is_script = 'File "' in str(error)
        place = (own[0] if is_script else own[-1]) if own else None
        where = {"file": str(place[0]), "line": int(place[1])} if place else {}
        return {"answer": "refused", "why": _one_line(error), **where}


def _as_made(made: Any) -> Any:
    """The same with its buffers as they were when this was first asked: what calls change does not add up."""
    buffers = {name: buffer.clone() for name, buffer in made.named_buffers()}
    kept = made.__dict__.setdefault("_buffers_as_made", buffers)
    for name, buffer in made.named_buffers():
        buffer.copy_(kept[name])
    return made


def _imported(line: dict[str, Any]) -> Any:
    sys.path[:0] = [line["root"], *line["search_paths"]]
    if "." in line["module"] or line["file"].endswith("__init__.py"):
        return importlib.import_module(line["module"])
    spec = importlib.util.spec_from_file_location(line["module"], Path(line["folder"], line["file"]))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[line["module"]] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _one_line(error: BaseException) -> str:
    text = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' | '.join(text[:3])}"[:400]


EVERY = ("values", "batch", "size", "alone")


def script(case: Case) -> Answer:
    return case.held(torch.jit.script(case.anew()), EVERY)


def script_save(case: Case) -> Answer:
    return saved(case, torch.jit.script(case.anew()))


def trace_save(case: Case) -> Answer:
    return saved(case, traced(case))


def saved(case: Case, made: Any) -> Answer:
    """What a file holds of something made of the module, against eager on the example."""
    file = io.BytesIO()
    try:
        torch.jit.save(made, file)  # type: ignore[no-untyped-call]
    except Exception as error:
        return {"answer": "unsaved", "why": _one_line(error)}
    file.seek(0)
    try:
        loaded = torch.jit.load(file)  # type: ignore[no-untyped-call]
    except Exception as error:
        return {"answer": "unloaded", "why": _one_line(error)}
    found = case.difference(loaded, copy.deepcopy(case.example))
    return {"answer": (found or "right").partition(":")[0], "why": found or ""}


def traced(case: Case) -> Any:
    # A module may change what it is given, as one that asks for gradients of its input does.
    net, example = case.anew(), copy.deepcopy(case.example)
    given: dict[str, Any] = {"example_inputs": tuple(example.args)}
    if example.kwargs:
        given = {"example_kwarg_inputs": _by_name(net, example)}
    return torch.jit.trace(net, **given, check_trace=False)  # type: ignore[no-untyped-call]


def trace(case: Case) -> Answer:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = traced(case)
    warned = any(issubclass(w.category, torch.jit._trace.TracerWarning) for w in caught)
    _begun_anew(made, case.anew())
    answer = {**case.held(made, EVERY), "warned": warned}
    return {**answer, "searched": case.searched(made)} if answer["answer"] == "right" else answer


def _begun_anew(made: Any, net: Any) -> None:
    """Tracing calls the module once: its buffers are as after one call, and eager is held from before it."""
    begun = dict(net.named_buffers())
    for name, buffer in made.named_buffers():
        if name in begun and begun[name].shape == buffer.shape:
            buffer.copy_(begun[name])


def _by_name(net: Any, example: Arguments) -> dict[str, Any]:
    return dict(inspect.signature(net.forward).bind(*example.args, **example.kwargs).arguments)


def export(case: Case) -> Answer:
    example = copy.deepcopy(case.example)
    program = torch.export.export(case.anew(), tuple(example.args), example.kwargs or None, strict=False)
    return case.held(program.module(), ("values",))


def batch(case: Case) -> Answer:
    others = [v for v in variants(case.example) if v.kind == "batch" and _takes(case, v)]
    if not any(_is_larger(v, case.example) for v in others):
        return {"answer": "alone"}
    # torch takes a size of 1 for always 1.
    large = (v for v in (case.example, *others) if all(t.shape[0] > 1 for t in tensors(vars(v)) if t.dim()))
    example, net = copy.deepcopy(next(large, case.example)), case.anew()
    first = torch.export.Dim.AUTO
    shapes = mapped(_by_name(net, example), lambda t: {0: first} if t.dim() else None, lambda _: None)
    program = torch.export.export(
        net, tuple(example.args), example.kwargs or None, dynamic_shapes=shapes, strict=False
    )
    return case.held(program.module(), ("batch",))


def _is_larger(given: Arguments, example: Arguments) -> bool:
    return sum(map(torch.numel, tensors(vars(given)))) > sum(map(torch.numel, tensors(vars(example))))


def _takes(case: Case, given: Arguments) -> bool:
    try:
        given.given_to(case.anew())
    except Exception:
        return False
    return True


def compile(case: Case) -> Answer:
    made = torch.compile(case.anew(), fullgraph=True, backend="eager")
    case.example.given_to(made)
    return {"answer": "right"}


def mode(case: Case) -> Answer:
    def run(training: bool, seed: int) -> tuple[Any, str]:
        net = case.anew().train(training)
        _trained(net)
        before = {key: value.clone() for key, value in net.state_dict().items()}
        torch.manual_seed(seed)
        with torch.no_grad():
            result = net(*case.example.args, **case.example.kwargs)
        return result, "" if alike(before, net.state_dict()) else "updates state"

    try:
        results = [run(False, 1), run(False, 2), run(True, 1), run(True, 2)]
    except Exception as error:
        return {"answer": "dependent", "why": _one_line(error)}
    for name, first, second in (("eval random", 0, 1), ("train and eval", 0, 2), ("train random", 2, 3)):
        if not alike(results[first][0], results[second][0]):
            return {"answer": "dependent", "why": name}
    state = next((text for _, text in results if text), "")
    return {"answer": "dependent", "why": state} if state else {"answer": "independent"}


def _trained(net: torch.nn.Module) -> None:
    """Parameters that start at one number hide what reaches them: a last layer of zeros hides a dropout."""
    torch.manual_seed(7)
    with torch.no_grad():
        for parameter in net.parameters():
            if (
                parameter.is_floating_point()
                and parameter.numel()
                and bool((parameter == parameter.flatten()[0]).all())
            ):
                parameter.add_(0.1 * torch.randn_like(parameter))


QUESTIONS: dict[str, Callable[[Case], Answer]] = {
    "script": script, "trace": trace, "script-save": script_save, "trace-save": trace_save,
    "export": export, "batch": batch, "compile": compile, "mode": mode,
}  # fmt: skip


def ask(line: dict[str, Any], questions: list[str], answers: Connection) -> None:
    """Answer the questions of one module; in a process of its own."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    torch.set_num_threads(1)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            case = Case(line)
            torch.manual_seed(3)
            case.example.given_to(case.anew())
        except BaseException as error:
            answers.send(("eager", {"answer": "no call", "why": _one_line(error)}))
            return
        for question in questions:
            try:
                answer = QUESTIONS[question](case)
            except Exception as error:
                answer = case.refused(error)
            answers.send((question, answer))


def labels(line: dict[str, Any], wanted: list[str]) -> dict[str, Answer]:
    """The answers to the questions about one module; a process that dies costs the one it was at."""
    context = multiprocessing.get_context("forkserver")
    found: dict[str, Answer] = {}
    while (left := [q for q in wanted if q not in found]) and "eager" not in found:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=ask, args=(line, left, theirs), daemon=True)
        process.start()
        theirs.close()
        for question in left:
            try:
                name, answer = ours.recv() if ours.poll(PATIENCE) else (question, {"answer": "timeout"})
            except EOFError:
                name, answer = question, {"answer": "crashed"}
            found[name] = answer
            if answer["answer"] in NO_ANSWER:
                break
        process.kill()
        process.join()
    return found


def read(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text().splitlines()) if path.exists() else iter(())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("drawn", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--question", action="append", choices=QUESTIONS)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    multiprocessing.get_context("forkserver").set_forkserver_preload(
        ["torch", "torch.export", "torch._dynamo"]
    )
    known = {(line["folder"], line["target"]) for line in read(options.output)}
    lines = [line for line in read(options.drawn) if "target" in line]
    lines = [line for line in lines if (line["folder"], line["target"]) not in known]
    tally: Counter[str] = Counter()
    wanted = options.question or list(QUESTIONS)
    with ThreadPoolExecutor(options.workers) as threads, open(options.output, "a") as output:
        for line, answers in zip(lines, threads.map(partial(labels, wanted=wanted), lines), strict=True):
            print(json.dumps({**line, "labels": answers}), file=output, flush=True)
            tally.update(f"{question}: {answer['answer']}" for question, answer in answers.items())
    for name, count in sorted(tally.items()):
        print(f"{count:5} {name}")


if __name__ == "__main__":
    main()
