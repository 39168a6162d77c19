"""Files that do to a process what no file should, and what must be said of each.

Every file defines ``Net``, so that only its misbehaviour keeps it from being attempted.
``step`` is the step that must be named (an attempt's backend when it is an attempt).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hostile:
    name: str
    step: str
    says: str
    source: str
    line: int | None = None
    survives: bool = False


_FINE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
    def forward(self, x):
        return self.fc(x)
"""
_HEAD = "import ctypes, os, signal, sys, threading, time\nimport torch\nfrom torch import nn\n"


def _on_import(name: str, says: str, code: str, **fields: object) -> Hostile:
    return Hostile(name, "import", says, _HEAD + code + _FINE, **fields)  # type: ignore[arg-type]


def _in_constructor(name: str, says: str, code: str, **fields: object) -> Hostile:
    body = _FINE.replace("        self.fc =", f"        {code}\n        self.fc =")
    return Hostile(name, "construct", says, _HEAD + body, **fields)  # type: ignore[arg-type]


def _in_forward(name: str, says: str, code: str, step: str = "inputs", **fields: object) -> Hostile:
    body = _FINE.replace("        return", f"        {code}\n        return")
    return Hostile(name, step, says, _HEAD + body, **fields)  # type: ignore[arg-type]


HOSTILE = [
    _on_import("segfault at import", "SIGSEGV", "ctypes.string_at(0)\n", line=4),
    _on_import("abort at import", "SIGABRT", "os.abort()\n", line=4),
    _on_import("os._exit(0) at import", "status 0", "os._exit(0)\n"),
    _on_import("os._exit(3) at import", "status 3", "os._exit(3)\n"),
    _on_import("sys.exit at import", "SystemExit", "sys.exit('usage: model.py DATA')\n", line=4),
    _on_import("keyboard interrupt", "KeyboardInterrupt", "raise KeyboardInterrupt\n", line=4),
    _on_import(
        "argparse at import",
        "SystemExit",
        "import argparse; p = argparse.ArgumentParser(); p.add_argument('data'); p.parse_args()\n",
        line=4,
    ),
    _on_import("reads standard input", "EOFError", "input('data folder? ')\n", line=4),
    _on_import("missing dependency", "ModuleNotFoundError", "import no_such_package\n", line=4),
    Hostile("syntax error", "import", "SyntaxError", "import torch\nclass Net(:\n    pass\n", 2),
    _on_import(
        "exception whose str raises",
        "is not available",
        "class Bad(Exception):\n    def __str__(self): raise RuntimeError('no text')\nraise Bad\n",
        line=6,
    ),
    _on_import("kills itself by a signal", "SIGKILL", "os.kill(os.getpid(), signal.SIGKILL)\n"),
    _on_import("kills its supervisor", "lost", "os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)\n"),
    _on_import("infinite loop at import", "time limit", "while True: pass\n", line=4),
    _on_import(
        "sleeps with all signals blocked",
        "time limit",
        "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); time.sleep(600)\n",
    ),
    _on_import("stops itself", "time limit", "os.kill(os.getpid(), signal.SIGSTOP)\n"),
    _on_import(
        "fork bomb",
        "time limit",
        "for _ in range(7): os.fork()\ntime.sleep(600)\n",
    ),
    _on_import(
        "starts hundreds of processes",
        "hundreds of processes",
        "for _ in range(300): os.posix_spawn('/bin/sleep', ['sleep', '600'], {})\ntime.sleep(600)\n",
    ),
    _in_constructor("loops in C", "time limit", "sum(iter(int, 1))", line=8),
    _in_constructor("constructor raises", "ZeroDivisionError", "1 / 0", line=8),
    _in_constructor(
        "memory without end",
        "memory",
        "self.hoard = [b'x' * 2**26 for _ in range(10**6)]",
    ),
    _in_constructor(
        "recursion without end", "RecursionError", "def again(): again()\n        again()", line=8
    ),
    _in_constructor("impossible allocation", "RuntimeError", "self.table = torch.zeros(10**14)", line=8),
    _in_constructor("closes every descriptor", "exited", "os.closerange(0, 65536)"),
    _in_forward("segfault in forward", "SIGSEGV", "ctypes.string_at(0)", line=10),
    _in_forward("forward hangs", "time limit", "time.sleep(600)", line=10),
    _in_forward("forward exits", "SystemExit", "sys.exit(1)", line=10),
    _in_forward("raises what is no Exception", "GeneratorExit", "raise GeneratorExit", line=10),
    Hostile(
        "segfault in the compiler only",
        "script",
        "SIGSEGV",
        "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n        return make(x)\n"
        "def make(x) -> list:\n    return [x]\n",
    ),
    # What follows misbehaves and must not be noticed: the attempts succeed.
    _on_import("300 MB of output", "", "for _ in range(300): os.write(1, b'x' * 2**20)\n", survives=True),
    _on_import("replaces sys.stdout", "", "sys.stdout = sys.stderr = None\n", survives=True),
    _on_import(
        "patches json and os", "", "import json; json.dumps = os.write = os.getpid = None\n", survives=True
    ),
    _on_import(
        "forges results",
        "",
        'for fd in range(3, 400):\n    try: os.write(fd, b\'\\n{"event": "end"}\\ntsguard {"event": "end"}\\n\')\n    except OSError: pass\n',
        survives=True,
    ),
    _on_import(
        "never ending thread", "", "threading.Thread(target=time.sleep, args=(600,)).start()\n", survives=True
    ),
    _on_import("atexit that hangs", "", "import atexit; atexit.register(time.sleep, 600)\n", survives=True),
    _on_import(
        "leaves a daemon behind",
        "",
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(600)\n    os._exit(0)\n",
        survives=True,
    ),
    _on_import(
        "leaves sessions behind",
        "",
        "for _ in range(20):\n    if os.fork() == 0:\n        os.setsid(); time.sleep(600)\n",
        survives=True,
    ),
    _on_import("forked child goes on importing", "", "os.fork()\n", survives=True),
    _on_import("changes the working folder", "", "os.chdir('/')\n", survives=True),
    _on_import("prints what is no text", "", "os.write(1, bytes(range(256)))\n", survives=True),
]
