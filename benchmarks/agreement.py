"""Whether the recommendation of ``tsguard check`` agrees with what torch does, found out apart from it.

    python benchmarks/agreement.py FILE[:CLASS]...

Each module class is checked; then a process without tsguard makes the same module, scripts and
traces it, and compares both with eager on the inputs that were found and on many that differ from
them in values, batch and sizes. What the recommendation says of a backend is held against that:

- one that it recommends, or says to work, must be right on every input that eager takes;
- one named with a hazard must be wrong on some (it is counted apart: no user is led astray by it);
- "leave it eager" must mean that neither script nor trace is right.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import json
import re
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PATIENCE = 120
VARYING = 15
"""Seconds after which no further inputs are tried on a module."""


def claims(recommendation: str) -> dict[str, str]:
    """What a recommendation says of script and of trace: "right", "wrong" or "hazard"."""
    first = recommendation.partition(". ")[0]
    said: dict[str, str] = {}
    does = re.match(r"(Script|Trace) ", first)
    works = re.match(r"It works with ([a-z_ ]+)", first)
    named = [does[1].lower()] if does else re.findall(r"script|trace", works[1]) if works else []
    doubtful = "if you can rule out" in first or "but gets some inputs wrong" in first
    said |= dict.fromkeys(named, "hazard" if doubtful else "right")
    if first.startswith("Leave it eager") and "slower" not in first and "constant" not in first:
        said |= {"script": "wrong", "trace": "wrong"}
    if "Do not trace it" in recommendation:
        said["trace"] = "wrong"
    if "To script it: " in recommendation:
        said["script"] = "wrong"
    return said


# -- the truth, in a process of its own ------------------------------------------------------


def truth(asked: dict[str, Any]) -> dict[str, str]:
    """What becomes of script and trace: "right", or in what they are wrong."""
    import torch

    sys.path.insert(0, asked["root"])
    module = importlib.import_module(asked["module"])
    names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, **vars(module)}
    names |= {n.partition(".")[0]: sys.modules[n.partition(".")[0]] for n in (asked["module"],)}
    from types import SimpleNamespace

    names["SimpleNamespace"] = SimpleNamespace

    def anew() -> Any:
        torch.manual_seed(0)
        return eval(asked["constructor"], names).eval()

    anew()
    torch.manual_seed(0)
    args, kwargs = [], {}
    for text in asked["inputs"]:
        keyword = re.fullmatch(r"([A-Za-z_]\w*)=(?!=)(.*)", text, re.DOTALL)
        if keyword:
            kwargs[keyword[1]] = eval(keyword[2], names)
        else:
            args.append(eval(text, names))
    found = {}
    for backend in ("script", "trace"):
        try:
            made = made_by(backend, anew(), args, kwargs)
        except Exception as error:
            found[backend] = f"refused: {one_line(error)}"
            continue
        found[backend] = "right"
        started = time.monotonic()
        for name, values, keywords in variants(args, kwargs):
            if time.monotonic() - started > VARYING:
                break
            wrong = difference(anew, made, values, keywords)
            if wrong:
                found[backend] = f"{name}: {wrong}"
                break
    return found


def made_by(backend: str, net: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    import torch

    if backend == "script":
        return torch.jit.script(net)
    if kwargs:
        return torch.jit.trace(net, example_kwarg_inputs=by_name(net, args, kwargs), check_trace=False)
    return torch.jit.trace(net, tuple(copy.deepcopy(args)), check_trace=False)


def by_name(net: Any, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    import inspect

    return copy.deepcopy(dict(inspect.signature(net.forward).bind(*args, **kwargs).arguments))


def difference(anew: Any, made: Any, args: Any, kwargs: Any) -> str:
    """In what a compiled module differs from eager; "" for nothing, and where eager takes no such input."""
    import torch

    def ran(callee: Any) -> Any:
        torch.manual_seed(3)
        with torch.no_grad():
            return callee(*copy.deepcopy(args), **copy.deepcopy(kwargs))

    try:
        want = ran(anew())
        again = ran(anew())
    except Exception:
        return ""
    if not alike(want, again):
        return ""
    try:
        # The profiling executor compiles anew in the second call.
        got = [ran(made), ran(made)][-1]
    except Exception as error:
        return f"raises {one_line(error)}"
    return "" if alike(want, got) else "other results"


def alike(left: Any, right: Any) -> bool:
    import torch

    a, b = list(tensors(left)), list(tensors(right))
    try:
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-4, equal_nan=True)
    except AssertionError:
        return False
    return True


def tensors(value: Any) -> Iterator[Any]:
    import torch

    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)
    elif hasattr(value, "__dict__"):
        yield from tensors(vars(value))


def variants(args: list[Any], kwargs: dict[str, Any]) -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """The inputs, and others: values, then each size of the first tensor wherever it occurs."""
    import torch

    def each(change: Any) -> tuple[list[Any], dict[str, Any]]:
        return [mapped(v, change) for v in args], {k: mapped(v, change) for k, v in kwargs.items()}

    def other(t: Any) -> Any:
        torch.manual_seed(5)
        return torch.randn_like(t) if t.is_floating_point() else t.flip(-1) if t.dim() else t

    yield "as found", args, kwargs
    yield "other values", *each(other)
    yield "negated", *each(lambda t: -t if t.is_floating_point() else t)
    yield "zeros", *each(lambda t: torch.zeros_like(t) if t.is_floating_point() else t)
    first = next(tensors((args, kwargs)), None)
    for dim in range(first.dim() if first is not None else 0):
        size = first.shape[dim]
        for wanted in dict.fromkeys((size + 1, size * 2, max(size // 2, 1))):
            if wanted != size and wanted <= 600:
                yield (
                    f"size {size} to {wanted} in dimension {dim}",
                    *each(lambda t, d=dim, s=size, w=wanted: resized(t, d, s, w)),
                )
    if first is not None and first.dim() >= 4:
        yield "larger images", *each(lambda t: resized(resized(t, -1, None, 96), -2, None, 96))


def resized(tensor: Any, dim: int, size: int | None, wanted: int) -> Any:
    import torch

    if tensor.dim() <= max(dim, ~dim) or size not in (None, tensor.shape[dim]) or not tensor.shape[dim]:
        return tensor
    times = -(-wanted // tensor.shape[dim])
    return torch.cat([tensor] * times, dim).narrow(dim, 0, wanted).contiguous()


def mapped(value: Any, change: Any) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: mapped(item, change) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(mapped(item, change) for item in value)
    return value


def one_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else ''}"[:160]


# -- holding the two against each other --------------------------------------------------------


def asked_of(target: Any) -> dict[str, Any] | None:
    """What the other process is to make; None where the check made nothing that can be written down."""
    from tsguard.project import Project

    if not target.constructor or not any(a.backend == "eager" and a.status == "ok" for a in target.attempts):
        return None
    module = Project().module(Path(target.path).absolute())
    words = shlex.split(target.inputs or "")
    inputs = [word for option, word in zip(words[::2], words[1::2], strict=False) if option == "--input"]
    return {
        "root": str(module.root),
        "module": module.name,
        "constructor": target.constructor,
        "inputs": inputs,
    }


def asked_torch(asked: dict[str, Any]) -> dict[str, str] | None:
    command = [sys.executable, "-W", "ignore", __file__, "--truth"]
    try:
        ran = subprocess.run(
            command, input=json.dumps(asked), capture_output=True, text=True, timeout=PATIENCE
        )
        answer: dict[str, str] = json.loads(ran.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError):
        return None
    return answer


def judged(said: dict[str, str], found: dict[str, str]) -> list[str]:
    """The contradictions, a line each."""
    told = []
    for backend, claim in said.items():
        is_right = found[backend] == "right"
        if (claim == "right" and not is_right) or (claim == "wrong" and is_right):
            told.append(f"{backend} is said to be {claim}, torch: {found[backend]}")
    return told


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", metavar="FILE[:CLASS]")
    parser.add_argument("--truth", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.truth:
        answer = truth(json.load(sys.stdin))
        print(f"\n{json.dumps(answer)}")
        return
    tally = held(options.targets)
    print(f"{sum(tally.values())} modules: {dict(tally)}")


def held(names: list[str]) -> Counter[str]:
    from tsguard.checking.run import CheckOptions, run
    from tsguard.runtime.launcher import Launcher
    from tsguard.settings.config import Settings
    from tsguard.settings.requests import parse

    settings = Settings(cache=False)
    check = CheckOptions(modes=("eval",), time_budget=0, workers=1)
    tally: Counter[str] = Counter()
    with Launcher() as launcher:
        for name in names:
            report, _ = run([parse(name, settings)], settings, check, launcher=launcher)
            for target in report.targets:
                asked = asked_of(target)
                found = asked_torch(asked) if asked is not None else None
                if found is None:
                    tally["not called" if asked is None else "no truth"] += 1
                    print(f"{target.target}: {'not called' if asked is None else f'no truth for {asked}'}")
                    continue
                said = claims(target.recommendation or "")
                wrong = judged(said, found)
                cautious = [b for b, claim in said.items() if claim == "hazard" and found[b] == "right"]
                tally["contradicted" if wrong else "agrees, too careful" if cautious else "agrees"] += 1
                print(f"{target.target}: {'; '.join(wrong) or 'agrees'}", flush=True)
                if wrong or cautious:
                    print(f"    {target.recommendation}\n    {asked}\n    {found}", flush=True)
    return tally


if __name__ == "__main__":
    main()
