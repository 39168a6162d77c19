"""What torch does with programs: scripts them in processes forked from one that has torch.

Run as a script: reads a JSON list of ``{"path", "inputs", "target"}`` from standard input, writes a
JSON list of ``{"outcome", "message", "line"}``; ``outcome`` is "ok", "blocked", "broken",
"unrun" where eager fails on the inputs, or "invalid" for a program that eager Python cannot
construct or that it runs otherwise by intent.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import sys
import warnings
from pathlib import Path

# Programs are tiny: one that computes for so long is in a loop without an end. What they import is not:
# torch.compile alone brings some thousand modules with it.
_SECONDS = 60
_IMPORT_CPU_SECONDS = 30
_CPU_SECONDS = 4
_AT_ONCE = 25
_DIED = {"outcome": "invalid", "message": "torch did not survive it", "line": None}


def main() -> None:
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    requests = json.load(sys.stdin)
    while requests:
        answers = _forked(requests[:_AT_ONCE])
        for answer in answers or [_DIED]:
            print(json.dumps(answer), flush=True)
        del requests[: len(answers) or 1]


def _forked(requests: list[dict[str, str]]) -> list[dict[str, object]]:
    """The outcomes of the first programs, up to one that hangs or kills the process."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with os.fdopen(writer, "w") as pipe:
            for request in requests:
                signal.alarm(_SECONDS)
                signal.setitimer(signal.ITIMER_PROF, _IMPORT_CPU_SECONDS)
                print(json.dumps(_outcome(request)), file=pipe, flush=True)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answers = [json.loads(line) for line in pipe if line.endswith("\n")]
    os.waitpid(child, 0)
    return answers


def _outcome(request: dict[str, str]) -> dict[str, object]:
    import torch

    sys.path.insert(0, str(Path(request["path"]).parent))
    try:
        # Torch keeps what it has compiled by the qualified name.
        name = Path(request["path"]).stem
        spec = importlib.util.spec_from_file_location(name, request["path"])
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        signal.setitimer(signal.ITIMER_PROF, _CPU_SECONDS)
        made = getattr(module, request["target"])
        net = made() if isinstance(made, type) else made
        torch.manual_seed(0)
        inputs = eval(request["inputs"], vars(module))
    except Exception as error:
        return {"outcome": "invalid", "message": repr(error), "line": None}
    try:
        scripted = torch.jit.script(net)
    except Exception as error:
        return {"outcome": "blocked", "message": str(error), "line": _line(str(error), request["path"])}
    outcome = _ran(net, scripted, inputs)
    if outcome["outcome"] == "broken" and "is_scripting" in Path(request["path"]).read_text():
        return {"outcome": "invalid", "message": "eager may differ by intent", "line": None}
    return outcome


def _ran(net: object, scripted: object, inputs: tuple[object, ...]) -> dict[str, object]:
    """Whether the compiled code does as eager where eager does anything."""
    import copy

    import torch

    try:
        torch.manual_seed(0)
        expected = net(*copy.deepcopy(inputs))  # type: ignore[operator]
    except Exception as error:
        return {"outcome": "unrun", "message": f"eager raises {error!r}", "line": None}
    try:
        torch.manual_seed(0)
        given = scripted(*copy.deepcopy(inputs))  # type: ignore[operator]
    except Exception as error:
        return {"outcome": "broken", "message": str(error), "line": None}
    same = _equal(expected, given)
    return {
        "outcome": "ok" if same else "broken",
        "message": "" if same else "differs from eager",
        "line": None,
    }


def _equal(a: object, b: object) -> bool:
    import torch

    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        alike = a.shape == b.shape and a.dtype == b.dtype
        return alike and torch.allclose(a.double(), b.double(), equal_nan=True)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[k], b[k]) for k in a)
    if isinstance(a, float) and isinstance(b, float):
        return a == b or abs(a - b) < 1e-6 * max(abs(a), abs(b)) or (a != a and b != b)
    return type(a) is type(b) and a == b


def _line(message: str, path: str) -> int | None:
    found = re.search(rf'File "{re.escape(path)}", line (\d+)', message)
    return int(found[1]) if found else None


if __name__ == "__main__":
    main()
