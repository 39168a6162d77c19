"""Values that double with each turn of a loop, by every means that Python has: judged in bounded time and memory.

No network does this on purpose, but a loop whose end the analysis cannot see may come to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.robustness.test_mutants import failures

resource = pytest.importorskip("resource")

_MOST_BYTES = 2_500_000_000
_START = "l = [1]; t = (1,); d = {}; e = {1}; s = 'ab'; u = f'{n}'; k = 3; b = b'ab'; g = abs; m = nn.Linear(2, 2); o = None"
STEPS = [
    # What the source does not tell, named by what it is made of.
    "n = n + n", "n = n | n | 3", "n = foo(n, n)", "n = n[n]", "n = max(n, n)", "n = n and n or n", "n = n.f(n)",
    "u = f'{u}{u}'", "n = (n, n)",
    # Texts and numbers.
    "s = s + s", "s = s * 3", "s = f'{s}{s}'", "s = '%s%s' % (s, s)", "s = '{}{}'.format(s, s)", "b = b + b",
    "s = s.join([s, s, s])", "s = s.replace('a', s + 'b')", "s = s.ljust(len(s) * 2)", "s = s.center(10**10)",
    "s = 'a' * 10**11", "s = '%10000000000d' % k", "s = f'{k:>10000000000}'", "s = '{:>10000000000}'.format(k)",
    "s = ('\\t' + s).expandtabs(10**9)", "k = k * k", "k = k << k", "k = k ** k", "k = pow(k, k)",
    "k = math.factorial(10**6)", "k = math.comb(10**6, 5 * 10**5)", "k = sum(range(10**9))",
    # Containers.
    "l = l + l", "l += l", "l.extend(l)", "l = [0] * 10**11", "l = [*l, *l]", "l = [a for a in l for b in l]",
    "l = list(range(10**9))", "l = list(zip(l, l))", "l = [l, l]", "l.append(l)", "l = [l, copy.deepcopy(l)]",
    "l = [str(l), str(l)]", "l = list(itertools.product(range(100), repeat=10))", "l = list(itertools.chain(l, l))",
    "t = t + t", "t = (*t, *t)", "t = (t, t)", "t = copy.deepcopy((t, t))", "t = (t, t); s = f'{t}'",
    "t = (t, t); d = {t: 1}", "d = {'a': d, 'b': d}", "d = {**d, str(k): d, 'z': d}; k += 1", "e = e | {k}; k += 1",
    # Functions, objects and modules.
    "g = (lambda h: lambda a: h(h(a)))(g)", "g = functools.partial(g, g)", "o = Pair(o, o)",
    "m = nn.Sequential(m, m)", "m = nn.ModuleList([m, m])", "m = nn.Sequential(m, copy.deepcopy(m))",
]  # fmt: skip
_HEAD = """\
import copy, functools, itertools, math

import torch
from torch import nn


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


"""
_IN_CONSTRUCTOR = """\
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        {start}
        for _ in range(60):
            {step}
        self.kept = (l, t, d, e, s, u, k, b, o, n)
        self.m = m
        if n:
            self.more = n

    def forward(self, x):
        return self.m(x) + self.kept[6]
"""
_IN_MODULE = """\
n = foo()
{start}
for _ in range(60):
    {step}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = (l, t, d, e, s, u, k, b, o, n)
        self.m = m

    def forward(self, x):
        return self.m(x) + k + n + len(l) + len(t)
"""
_IN_FORWARD = """\
class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n
        self.m = nn.Linear(2, 2)

    def forward(self, x):
        n = self.n
        {start}
        {steps}
        return x, n, k, l, t
"""


@pytest.fixture(autouse=True)
def limited_memory() -> Iterator[None]:
    """Raise MemoryError before the machine has none left, whatever the tests before have mapped."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_mapped() + _MOST_BYTES, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def _mapped() -> int:
    """Bytes of this process's address space, where the system tells."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[0]) * resource.getpagesize() if statm.exists() else 0


@pytest.mark.parametrize("step", STEPS)
class TestDoubling:
    def test_in_a_constructor(self, step):
        assert failures(_HEAD + _IN_CONSTRUCTOR.format(start=_START, step=step)) == []

    @pytest.mark.slow
    def test_in_a_module(self, step):
        assert failures(_HEAD + _IN_MODULE.format(start=_START, step=step)) == []

    @pytest.mark.slow
    def test_in_forward(self, step):
        steps = "\n        ".join([step] * 60)
        start = _START.replace("m = nn.Linear(2, 2)", "m = self.m")
        assert failures(_HEAD + _IN_FORWARD.format(start=start, steps=steps)) == []
