"""What constructors are written with, for the expressions beside."""

import copy
import enum
import functools
import importlib.metadata
import itertools
import math
import operator
import os
import re
import string
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial, reduce
from itertools import (
    accumulate,
    chain,
    combinations,
    count,
    cycle,
    groupby,
    islice,
    pairwise,
    product,
    repeat,
    zip_longest,
)
from typing import NamedTuple

from packaging.version import Version, parse


class Kind(enum.Enum):
    A = 1
    B = "b"


class Num(enum.IntEnum):
    ONE = 1
    TWO = 2


class Flag(enum.Flag):
    X = 1
    Y = 2


@dataclass
class Cfg:
    a: int = 1
    b: list = field(default_factory=list)
    c: str = "x"

    def total(self):
        return self.a + len(self.b)


@dataclass(frozen=True, order=True)
class Pt:
    x: int
    y: int = 2


class NT(NamedTuple):
    p: int
    q: str = "q"


Old = namedtuple("Old", ["u", "v"])


class Vec:
    def __init__(self, *xs):
        self.xs = xs

    def __len__(self):
        return len(self.xs)

    def __getitem__(self, i):
        return self.xs[i]

    def __add__(self, o):
        return Vec(*(a + b for a, b in zip(self.xs, o.xs)))

    def __mul__(self, k):
        return Vec(*[x * k for x in self.xs])

    __rmul__ = __mul__

    def __eq__(self, o):
        return isinstance(o, Vec) and self.xs == o.xs

    def __hash__(self):
        return hash(self.xs)

    def __iter__(self):
        return iter(self.xs)

    def __call__(self, n):
        return self.xs[0] + n

    def __contains__(self, k):
        return k in self.xs

    def __bool__(self):
        return bool(self.xs)

    def __neg__(self):
        return Vec(*(-x for x in self.xs))

    @property
    def first(self):
        return self.xs[0]

    @classmethod
    def of(cls, n):
        return cls(*range(n))

    @staticmethod
    def two():
        return 2


class Base:
    tags = ["base"]

    def __init_subclass__(cls, **kw):
        super().__init_subclass__()
        cls.made = kw

    def name(self):
        return "base"

    def who(self):
        return self.name() + "!"


class Derived(Base, key=3):
    tags = Base.tags + ["derived"]

    def name(self):
        return "derived:" + super().name()


def gen(n):
    for i in range(n):
        if i == 2:
            continue
        yield i
    yield "end"


def numbered(start):
    count = start
    seen = []

    def numbers():
        nonlocal count
        base = count * 10
        while True:
            count += 1
            yield base + count
            seen.append(count)

    first, second = numbers(), numbers()
    return [next(first), next(first), next(second), next(first), count, list(seen)]


def numbered_from(start):
    n = start
    while True:
        yield n
        n += 1


def make_divisible(v, divisor=8, min_value=None, round_limit=0.9):
    min_value = min_value or divisor
    new_v = max(min_value, int(v + divisor / 2) // divisor * divisor)
    if new_v < round_limit * v:
        new_v += divisor
    return new_v


def opt(*args, sep="-", **kw):
    return sep.join(map(str, args)) + sep + ",".join(f"{k}={v}" for k, v in kw.items())


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def swap(d):
    out = {}
    for k, v in d.items():
        out[v] = k
    return out


def trial(f, *a):
    try:
        return f(*a)
    except (ValueError, KeyError) as e:
        return type(e).__name__
    finally:
        pass


def outer():
    n = 0

    def inc(k=1):
        nonlocal n
        n += k
        return n

    inc()
    inc(5)
    return n


def loop():
    out = []
    i = 0
    while True:
        i += 1
        if i % 2:
            continue
        if i > 9:
            break
        out.append(i)
    else:
        out.append("never")
    for j in range(3):
        pass
    else:
        out.append(j)
    return out


def star(a, *b, c=3, **d):
    return (a, b, c, d)


def mm(x):
    match x:
        case 0:
            return "zero"
        case int(n) if n > 5:
            return "big"
        case [a, *rest]:
            return rest
        case {"k": v}:
            return v
        case str() | float():
            return "text"
        case _:
            return None


def walrus(xs):
    return [y for x in xs if (y := x * 2) > 2]


L = [3, 1, 2]
D = {"a": 1, "b": 2}
S = "Hello, World"


@dataclass
class Big(Cfg):
    d: float = 0.5
    e: int = field(default=3, init=False)

    def __post_init__(self):
        self.f = self.a * self.e


@dataclass(kw_only=True)
class Kw:
    x: int
    y: int = field(default=2, repr=False)


@dataclass
class Nest:
    cfg: Cfg = field(default_factory=lambda: Cfg(9))
    pts: list = field(default_factory=list)


def patt(p):
    match p:
        case Pt(x=1):
            return "one"
        case Pt(2, y):
            return y
        case NT(p=q):
            return q
        case Vec(first=f):
            return f
        case (1, [a, _], *_):
            return a
        case {"a": 1, **rest}:
            return rest
        case Kind.A:
            return "A"
        case "x" | "y" as s:
            return s
        case True:
            return "true"
        case None:
            return "none"
        case str():
            return "s"
        case float(f):
            return f
        case _:
            return "else"


class View(Sequence):
    def __len__(self):
        return 3

    def __getitem__(self, i):
        if not 0 <= i < 3:
            raise IndexError(i)
        return i * 2


class Few:
    def __getitem__(self, i):
        if i == 2:
            raise IndexError
        return "ab"[i]


class Broken:
    def __getitem__(self, i):
        raise ValueError(i)


def named(first, /, second, *rest, third=None, **others):
    fourth = 4
    return fourth


SIZES = re.compile(r"(?P<kind>[a-z]+)(\d+)?(?:x(?P<height>\d+))*", re.I)
MATCH = SIZES.match("Conv3x7 rest")
VERBOSE = re.compile(
    r"""
    (\d+)  # a number
""",
    re.VERBOSE,
)


def counting():
    total = 0

    def add(n):
        nonlocal total
        total += n

    return add


class Frozen(OrderedDict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for key, value in self.items():
            setattr(self, key, value)
        self.__frozen = True

    def __setattr__(self, name, value):
        if hasattr(self, "_Frozen__frozen") and self.__frozen:
            raise AttributeError(name)
        super().__setattr__(name, value)

    def __setitem__(self, name, value):
        if hasattr(self, "_Frozen__frozen") and self.__frozen:
            raise KeyError(name)
        super().__setitem__(name, value)


def refused(act):
    try:
        act()
    except (AttributeError, KeyError) as error:
        return type(error).__name__
    return ""


class Table(dict):
    def __missing__(self, key):
        return key * 2

    def total(self):
        return sum(self.values())


class Bunch(dict):
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__


class Owned:
    __kept = 3

    def __init__(self, size):
        self.__size = size
        self.__dunder__ = 1

    def __twice(self):
        return self.__size * 2

    def twice(self):
        return [one.__twice() for one in (self,)][0]

    def kept(self):
        return self.__kept

    def has(self):
        return hasattr(self, "__size"), hasattr(self, "_Owned__size")

    @property
    def __hidden(self):
        return self.__size + 1

    def hidden(self):
        return (lambda: self.__hidden)()


class Heir(Owned):
    def __init__(self):
        super().__init__(5)
        self.__size = "mine"

    def both(self):
        return self.__size, self._Owned__size

    def other(self, name="__size"):
        del self.__size
        return hasattr(self, "_Heir__size")
