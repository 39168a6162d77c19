"""Programs by chance, asked of torch.jit.script and of tsguard: where the two disagree.

    python benchmarks/random_programs.py [--seed N] [--count N] [expressions | attributes]

``expressions`` draws modules that return one expression over arguments of many types, most of them nonsense:
what real code never writes shows which rule of the language is missing.  ``attributes`` is every pair of a
class-level annotation and a value.  Printed are how often both say the same, and each program of which they do
not.  torch has to be installed; it is asked in a process of its own, which is started anew where torch ends it.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import random
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HEAD = """\
import math
from typing import *

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Point(NamedTuple):
    x: int
    y: int


class Plain:
    pass
"""

ARGUMENTS = {
    "x": "Tensor", "y": "Tensor", "n": "int", "m": "int", "f": "float", "b": "bool", "s": "str", "z": "complex",
    "o": "Optional[int]", "ot": "Optional[Tensor]", "li": "List[int]", "lf": "List[float]", "ls": "List[str]",
    "lt": "List[Tensor]", "ll": "List[List[int]]", "d": "Dict[str, int]", "dt": "Dict[str, Tensor]",
    "p": "Tuple[int, int]", "q": "Tuple[int, Tensor]", "r": "Tuple[str, float, bool]", "dev": "torch.device",
    "lo": "List[Optional[int]]", "lp": "List[Tuple[int, Tensor]]", "od": "Optional[Dict[str, Tensor]]",
}  # fmt: skip
CONSTANTS = [
    *(
        "1",
        "0",
        "-1",
        "2",
        "0.5",
        "True",
        "False",
        "None",
        "'a'",
        "[]",
        "{}",
        "[1, 2]",
        "(1, 2)",
        "(1,)",
        "1j",
    ),
    *("[1.0]", "['a']", "{'a': 1}", "[x]", "(x, y)", "torch.float"),
]
OPERATORS = [
    *("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>", "and", "or"),
    *("==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"),
]
FUNCTIONS = [
    *(
        "len",
        "int",
        "float",
        "bool",
        "str",
        "abs",
        "round",
        "min",
        "max",
        "sum",
        "sorted",
        "list",
        "tuple",
        "dict",
    ),
    *(
        "range",
        "enumerate",
        "reversed",
        "any",
        "all",
        "ord",
        "chr",
        "hex",
        "hash",
        "zip",
        "print",
        "divmod",
        "pow",
    ),
    *(
        "math.sqrt",
        "math.floor",
        "math.ceil",
        "math.log",
        "math.pow",
        "math.gcd",
        "torch.tensor",
        "torch.stack",
    ),
    *("torch.cat", "torch.zeros", "torch.full", "torch.arange", "torch.where", "torch.relu", "torch.einsum"),
    *("torch.split", "torch.topk", "torch.clamp", "torch.device", "torch.is_tensor", "torch.meshgrid"),
    *("F.pad", "F.softmax", "F.one_hot", "F.interpolate", "torch.reshape", "torch.roll", "torch.gather"),
]
METHODS = [
    *("sum", "mean", "max", "size", "view", "item", "tolist", "dim", "float", "int", "to", "type", "expand"),
    *(
        "split",
        "chunk",
        "unbind",
        "index_select",
        "masked_fill",
        "fill_",
        "topk",
        "new_zeros",
        "norm",
        "softmax",
    ),
    *(
        "upper",
        "strip",
        "join",
        "startswith",
        "replace",
        "find",
        "format",
        "count",
        "index",
        "isdigit",
        "encode",
    ),
    *("append", "extend", "insert", "pop", "remove", "sort", "reverse", "clear", "copy"),
    *("keys", "values", "items", "get", "update", "setdefault", "conjugate", "bit_length"),
]
PROPERTIES = [
    "shape",
    "ndim",
    "dtype",
    "device",
    "T",
    "grad",
    "requires_grad",
    "real",
    "imag",
    "type",
    "index",
]
KEYWORDS = [
    "dim=0",
    "keepdim=True",
    "dtype=torch.float",
    "start=1",
    "p=2",
    "min=0",
    "sep=','",
    "reverse=True",
]
TURNS = ["i", "i + 1", "str(i)", "x[i]", "i[0]", "(i, n)", "[i]", "float(i)", "i * 2", "i is None", "len(i)"]

ANNOTATIONS = [
    *("int", "float", "bool", "str", "complex", "Tensor", "torch.device", "torch.dtype", "Any", "Callable"),
    *("Optional[int]", "Optional[float]", "Optional[Tensor]", "Optional[List[int]]", "Union[int, str]"),
    *("List[int]", "List[float]", "List[bool]", "List[str]", "List[Tensor]", "List[Optional[int]]"),
    *("List[List[int]]", "Dict[str, int]", "Dict[str, Tensor]", "Dict[int, float]", "Tuple[int, int]"),
    *(
        "Tuple[int, float]",
        "Tuple[Tensor, int]",
        "Final[int]",
        "Final",
        "nn.Linear",
        "Point",
        "List",
        "Set[int]",
    ),
]
VALUES = [
    *(
        "1",
        "1.5",
        "True",
        "'a'",
        "None",
        "1j",
        "[]",
        "[1]",
        "[1.5]",
        "['a']",
        "[1, 1.5]",
        "[None]",
        "[1, None]",
    ),
    *(
        "(1, 2)",
        "(1, 1.5)",
        "(1,)",
        "()",
        "{}",
        "{'a': 1}",
        "{'a': 1.5}",
        "{1: 1}",
        "{'a': None}",
        "[[1]]",
        "{1}",
    ),
    *("torch.ones(2)", "nn.Parameter(torch.ones(2))", "[torch.ones(2)]", "{'a': torch.ones(2)}", "[True]"),
    *(
        "(torch.ones(2), 1)",
        "nn.Linear(4, 4)",
        "torch.device('cpu')",
        "torch.float",
        "Point(1, 2)",
        "Plain()",
    ),
    *("lambda x: x", "F.relu", "torch.Size([1, 2])", "range(2)"),
]


class Expressions:
    """Expressions by chance; ``depth`` is how many are within one another."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def atom(self) -> str:
        return self.random.choice(list(ARGUMENTS) if self.random.random() < 0.7 else CONSTANTS)

    def arguments(self, depth: int) -> str:
        given = [self.of(depth - 1) for _ in range(self.random.choice([0, 1, 1, 1, 2, 2, 3]))]
        if self.random.random() < 0.12:
            given.append(self.random.choice(KEYWORDS))
        return ", ".join(given)

    def of(self, depth: int) -> str:
        """An expression."""
        if depth <= 0:
            return self.atom()
        pick, inner = self.random.choice, lambda: self.of(depth - 1)
        return pick(
            [
                lambda: f"({inner()} {pick(OPERATORS)} {inner()})",
                lambda: f"({inner()} {pick(OPERATORS)} {inner()})",
                lambda: f"({pick(['not ', '-', '~'])}{inner()})",
                lambda: f"{pick(FUNCTIONS)}({self.arguments(depth)})",
                lambda: f"{self.atom()}.{pick(METHODS)}({self.arguments(depth)})",
                lambda: f"{self.atom()}.{pick(METHODS)}({self.arguments(depth)})",
                lambda: f"{self.atom()}.{pick(PROPERTIES)}",
                lambda: f"{inner()}[{pick([inner(), '1:', ':n', '::2', ':, 0', '..., None'])}]",
                lambda: f"({inner()} if {inner()} else {inner()})",
                lambda: f"[{pick(TURNS)} for i in {inner()}]",
                lambda: f"{{{pick(['i', 'str(i)'])}: {pick(TURNS)} for i in {inner()}}}",
                lambda: f"[i for i, j in {pick(['zip', 'enumerate'])}({self.arguments(depth)})]",
                lambda: f"f'{{{self.atom()}}}'",
                lambda: f"'%s %d' % ({self.atom()}, {self.atom()})",
                lambda: pick(["({}, {})", "[{}, {}]", "{{{}: {}}}"]).format(self.atom(), inner()),
            ]
        )()

    def programs(self, count: int) -> Iterator[str]:
        """Bodies of classes, each with one expression that Python can parse."""
        warnings.simplefilter("ignore", SyntaxWarning)
        seen: set[str] = set()
        while len(seen) < count:
            expression = self.of(self.random.choice([1, 1, 2]))
            names = {node for node in ARGUMENTS if _reads(expression, node)}
            if expression in seen or not names:
                continue
            seen.add(expression)
            given = ", ".join(f"{name}: {type_}" for name, type_ in ARGUMENTS.items() if name in names)
            yield f"    def forward(self, {given}):\n        return {expression}\n"


def _reads(expression: str, name: str) -> bool:
    try:
        return name in compile(expression, "", "eval").co_names
    except SyntaxError:
        return False


def attributes() -> Iterator[str]:
    """Bodies of classes, one for each annotation and value."""
    for annotation, value in itertools.product(ANNOTATIONS, VALUES):
        yield (
            f"    a: {annotation}\n\n    def __init__(self):\n        super().__init__()\n        self.a = {value}\n\n"
            "    def forward(self, x: Tensor):\n        return x\n"
        )


def ask_torch(path: Path, first: int, last: int) -> None:
    """Print for each class whether torch scripts it, a line at once: it may end the process."""
    import torch

    spec = importlib.util.spec_from_file_location("programs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["programs"] = module
    spec.loader.exec_module(module)
    warnings.simplefilter("ignore")
    for number in range(first, last):
        try:
            torch.jit.script(getattr(module, f"C{number}")())
            why = ""
        except Exception as error:
            why = " ".join(str(error).split())[:120] or type(error).__name__
        print(json.dumps([number, why]), flush=True)


def torch_says(path: Path, count: int) -> dict[int, str | None]:
    """What torch says against each class, "" where it takes it, None where it ended its process."""
    said: dict[int, str | None] = {}
    while len(said) < count:
        command = [sys.executable, __file__, "--ask", str(path), str(len(said)), str(count)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        said.update(json.loads(line) for line in done.stdout.splitlines())
        if len(said) < count:
            said[len(said)] = None
    return said


def tsguard_says(path: Path) -> dict[int, str]:
    """The verdict on each class."""
    options = ["--isolated", "--no-cache", "--exit-zero", "--output-format", "json"]
    command = [sys.executable, "-m", "tsguard", "lint", *options, str(path)]
    report = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout)
    found = {target["qualname"]: target["script"]["verdict"] for target in report["targets"]}
    return {int(name[1:]): verdict for name, verdict in found.items() if name[1:].isdigit()}


def main() -> None:
    """Draw, ask both, and print where they disagree."""
    if sys.argv[1:2] == ["--ask"]:
        ask_torch(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", nargs="?", choices=["expressions", "attributes"], default="expressions")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    given = parser.parse_args()
    drawn = Expressions(given.seed).programs(given.count) if given.kind == "expressions" else attributes()
    programs = list(drawn)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "programs.py")
        classes = [f"\n\nclass C{number}(nn.Module):\n{body}" for number, body in enumerate(programs)]
        path.write_text(HEAD + "".join(classes))
        torch, ours = torch_says(path, len(programs)), tsguard_says(path)
    outcomes: Counter[tuple[str, str]] = Counter()
    for number, body in enumerate(programs):
        why, verdict = torch[number], ours[number]
        if why is None:
            continue
        said = "refuses" if why else "takes"
        outcomes[verdict, said] += 1
        if (verdict == "blocked") is not bool(why):
            print(f"{verdict}, torch {said} it: {why}\n{body}")
    for (verdict, said), times in sorted(outcomes.items()):
        print(f"{times:6} {verdict}, torch {said}")


if __name__ == "__main__":
    main()
