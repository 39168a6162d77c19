"""What Python makes of plain values in a forward decides what is traced: each claim here is true in Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.judges.test_trace_consequences import verdict
from tsguard.runtime.worker.comparison import compare

SIZES = "rows, columns = x.shape\ny = self.layer(x)"
CLAIMS = {
    "numbers in order": ("", "sorted([3, 1, 2]) == [1, 2, 3]"),
    "numbers in the order of a key": ("", "sorted([3, 1, 2], key=lambda n: -n)[0] == 3"),
    "keys in order": ("", "sorted({'b': 1, 'a': 2}) == ['a', 'b']"),
    "sizes in order": (SIZES, "sorted([y.shape[1], 2]) == [2, 5]"),
    "a list of sizes that is sorted": (f"{SIZES}\nfound = [y.shape[1], 2]\nfound.sort()", "found[0] == 2"),
    "the largest size of a list": (SIZES, "max([y.shape[1]] + [2]) == 5"),
    "a size without its sign": (SIZES, "abs(-y.shape[1]) == 5"),
    "a size turned round": (SIZES, "~y.shape[1] == -6"),
    "a dict in another order": ("d = dict(a=1, b=2)\nd = OrderedDict(d)\nd.move_to_end('a')", "list(d) == ['b', 'a']"),
    "a dict that is emptied": ("d = dict(a=1)\nd.clear()", "len(d) == 0"),
    "the last of a dict": ("d = dict(a=1, b=2)\npair = d.popitem()", "pair == ('b', 2) and len(d) == 1"),
    "the first of an ordered dict": ("d = OrderedDict(a=1, b=2)\npair = d.popitem(last=False)", "pair == ('a', 1)"),
    "an ordered dict of keys": ("d = OrderedDict.fromkeys('ab', value=0)", "d['a'] == 0"),
    "a dict of keys": ("d = dict.fromkeys('ab', 0)", "d == {'a': 0, 'b': 0}"),
    "parameters by name": ("", "[n for n, _ in self.layer.named_parameters()] == ['weight', 'bias']"),
    "a parameter": ("", "isinstance(self.layer.weight, nn.Parameter)"),
    "the name of a class": ("try:\n    raise KeyError\nexcept KeyError as e:\n    name = type(e).__name__", "name == 'KeyError'"),
    "numbers that are close": ("", "math.isclose(math.pi, 3.14, rel_tol=0.1)"),
    "a tensor without a gradient": ("", "x.grad is None"),
    "gradients that are off": ("with torch.no_grad():\n    on = torch.is_grad_enabled()", "not on"),
    "a default of a function": ("def add(found=[]):\n    found.append(1)\n    return len(found)\nadd()", "add() == 2"),
    "the dtype of a cast": ("", "x.half().dtype == torch.float16"),
    "the very dtype of a cast": ("", "x.to(torch.float64).dtype is torch.float64"),
    "whole numbers": ("", "not x.long().is_floating_point() and x.bool().element_size() == 1"),
    "the end of a loop": ("n = 0\nwhile n < 3:\n    n += 1\nelse:\n    n = 10", "n == 10"),
    "an error of a class of one's own": (
        "class Own(ValueError):\n    pass\ntry:\n    raise Own\nexcept ValueError:\n    n = 2\nexcept Exception:\n    n = 3",
        "n == 2",
    ),
    "a default that is read with its function": (
        "fs = []\nfor i in range(3):\n    fs.append(lambda i=i: i)",
        "fs[0]() == 0 and fs[2]() == 2",
    ),
    "what an iterator has left": ("it = iter([1, 2, 3])\nfirst = next(it)", "first == 1 and list(it) == [2, 3]"),
    "what a generator has left": ("it = (i for i in range(3))\nnext(it)", "list(it) == [1, 2]"),
    "operators as functions": ("", "functools.reduce(operator.mul, [2, 3]) == 6"),
    "the dtype of a comparison": ("", "(x > 0).dtype == torch.bool"),
}  # fmt: skip
# What each makes of a number that Python has taken of a size, a trace holds as it was for the example.
HELD = {
    "the first of an iterator": "next(iter([n]))",
    "what a function of operator picks": "operator.itemgetter(0)([n])",
    "what a partial call makes": "functools.partial(operator.add, n)(1)",
    "what a recursion ends with": "deepened(n)",
    "an attribute of a namespace": "types.SimpleNamespace(n=n).n",
    "an attribute by name": "getattr(types.SimpleNamespace(n=n), 'n')",
    "the largest of a set": "max({n, 0})",
    "the length of a set": "len(set([n, 2]))",
    "chained items": "list(itertools.chain([n], [1]))[0]",
    "how often something is repeated": "list(itertools.repeat(1, n)).count(1)",
    "running sums": "list(itertools.accumulate([n, 1]))[-1]",
    "some of a list": "list(itertools.islice([1, 2, 3, 4, 5], n))[-1]",
    "a letter": "ord(chr(n + 65))",
    "a hash": "hash(n)",
    "the hash of a shape": "hash(x.shape)",
    "what a context gives": "entered(n)",
    "a method of a type": "int.__add__(n, 1)",
    "a part of a number": "n.numerator",
    "a list of lists in one": "sum([[n], [1]], [])[0]",
    "the length of what a tensor holds": "len(x.tolist())",
    "how often something is repeated by a size": "list(itertools.repeat(1, x.shape[0])).count(1)",
    "the length of a text of a size": "len('a' * x.shape[0])",
    "the length of a set of sizes": "len({x.shape[0], 2, 3})",
    "a copy of sizes": "copy.deepcopy({'n': x.shape[0]})['n']",
    "some of a list up to a size": "list(itertools.islice([1, 2, 3, 4], x.shape[0]))[-1]",
    "the bytes of a tensor": "x.nbytes",
    "the elements of an array": "np.asarray(x).size",
    "whether a size is among others": "3 in x.shape",
    "whether the truth of a size is one": "(bool(x.shape[0] - 3) is False)",
    "pieces that may be fewer": "len(list(x.chunk(2, 0)))",
}
HEAD = "import functools\nimport math\nimport operator\nfrom collections import OrderedDict\nimport torch\nfrom torch import nn\n"
HELPERS = """
import contextlib, copy, functools, itertools, operator, types
import numpy as np

def deepened(n, steps=3):
    return n if steps == 0 else deepened(n + 1, steps - 1)

@contextlib.contextmanager
def managed(n):
    yield n

def entered(n):
    with managed(n) as found:
        return found
"""


def _source(name: str, *, is_true: bool) -> str:
    """A module whose trace is right if the claim is as it is said to be here, and wrong if not."""
    setup, claim = CLAIMS[name]
    body = [
        *setup.splitlines(),
        f"if {claim if is_true else f'not ({claim})'}:",
        "    return x * 2",
        "return x * len(x)",
    ]
    lines = "\n".join(f"        {line}" for line in body)
    made = "    def __init__(self):\n        super().__init__()\n        self.layer = nn.Linear(4, 5)\n"
    return f"class Net(nn.Module):\n{made}\n    def forward(self, x: torch.Tensor):\n{lines}\n"


@pytest.mark.parametrize("name", CLAIMS)
def test_the_judge_decides_as_python_does(tmp_path: Path, name: str) -> None:
    assert verdict(tmp_path, HEAD + _source(name, is_true=True)) == "safe"
    assert verdict(tmp_path, HEAD + _source(name, is_true=False)) == "hazardous"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CLAIMS)
def test_a_trace_goes_the_same_way(name: str) -> None:
    names: dict[str, object] = {}
    exec(HEAD + _source(name, is_true=True), names)
    make = names["Net"]
    assert callable(make)
    net: nn.Module = make()
    traced = torch.jit.trace(net, (torch.ones(2, 4),), check_trace=False)
    assert torch.equal(traced(torch.ones(3, 4)), net(torch.ones(3, 4)))


def _held(name: str) -> str:
    lines = ["def f(x: torch.Tensor):", "    n = len(x)", f"    return x * ({HELD[name]})"]
    return HELPERS + "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", HELD)
def test_what_is_made_of_a_number_that_python_took_is_held(tmp_path: Path, name: str) -> None:
    assert verdict(tmp_path, _held(name)) == "hazardous"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", HELD)
def test_a_trace_holds_what_is_made_of_a_number_that_python_took(name: str) -> None:
    names: dict[str, object] = {"__name__": "model"}
    exec(HEAD + _held(name), names)
    function = names["f"]
    assert callable(function)
    traced = torch.jit.trace(function, (torch.ones(2, 4),), check_trace=False)
    assert any(not _is_alike(traced, function, torch.ones(rows, 4)) for rows in (1, 3))


def _is_alike(traced: Callable[..., object], function: Callable[..., object], x: torch.Tensor) -> bool:
    try:
        return bool(torch.equal(torch.as_tensor(traced(x)), torch.as_tensor(function(x))))
    except RuntimeError:
        return False


def test_a_size_that_is_not_0_but_for_empty_inputs_is_true(tmp_path: Path) -> None:
    assert verdict(tmp_path, "def f(x: torch.Tensor):\n    return x * (x.shape[0] or 5)\n") == "safe"


def test_a_default_list_that_calls_fill_is_state(tmp_path: Path) -> None:
    source = "def f(x: torch.Tensor, found=[]):\n    found.append(x)\n    return torch.cat(found)\n"
    assert verdict(tmp_path, source) == "hazardous"


def test_what_eval_runs_is_not_followed(tmp_path: Path) -> None:
    assert (
        verdict(tmp_path, "def f(x: torch.Tensor):\n    n = len(x)\n    return x * eval('n')\n") == "unknown"
    )


def test_operators_as_functions_follow_sizes(tmp_path: Path) -> None:
    source = "import functools, operator\n\ndef f(x: torch.Tensor):\n    return x.view(functools.reduce(operator.mul, x.shape, 1))\n"
    assert verdict(tmp_path, source) == "safe"


def test_loops_of_many_turns_are_not_followed(tmp_path: Path) -> None:
    source = "def f(x: torch.Tensor):\n    n = 0\n    while n < 1000:\n        n += 1\n    return x * 2 if n else x * len(x)\n"
    assert verdict(tmp_path, source) == "unknown"


def test_what_a_loop_counts_that_is_not_counted_is_open(tmp_path: Path) -> None:
    source = "def f(x: torch.Tensor):\n    n = 0\n    for i in range(1000):\n        n += 1\n    return x * len(x) if n == 1000 else x\n"
    assert verdict(tmp_path, source) == "hazardous"


@pytest.mark.filterwarnings("ignore")
def test_a_size_that_is_returned_is_the_same_number_for_every_input(tmp_path: Path) -> None:
    source = "def f(x: torch.Tensor):\n    return x * 2, x.shape[0], x.shape\n"
    assert verdict(tmp_path, source) == "safe"
    names: dict[str, object] = {"__name__": "model"}
    exec(HEAD + source, names)
    function = names["f"]
    assert callable(function)
    traced, other = torch.jit.trace(function, (torch.ones(2, 4),)), torch.ones(3, 5)
    assert compare(function(other), traced(other), lambda: None).equal


def test_the_length_of_a_dict_does_not_rest_on_the_sizes_in_it(tmp_path: Path) -> None:
    """Which keys it has is not told, because the rank is not."""
    source = (
        "def f(x):\n    added = {i: x.shape[0] for i in range(x.dim()) if i > 3}\n"
        "    if len(added) > 0:\n        return x.unsqueeze(0)\n    return x"
    )
    assert verdict(tmp_path, source) == "safe"
