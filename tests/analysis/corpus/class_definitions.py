"""What classes and functions that constructors use are written with, for the expressions beside."""

import contextlib, functools, operator, types, typing, inspect, math, weakref, copy, collections
from abc import ABC, abstractmethod
from contextlib import contextmanager, suppress, ExitStack, nullcontext
from functools import cached_property, lru_cache, partialmethod, singledispatch, wraps, partial
from typing import NamedTuple, TypedDict, Optional, Any, ClassVar
from enum import Enum, IntFlag
from types import SimpleNamespace, MappingProxyType
from dataclasses import dataclass, field, InitVar, astuple


class A:
    count = 0
    items = []

    def __init__(self, n=1, *, tag="t"):
        self.n = n
        self._tag = tag
        A.count += 1

    @property
    def tag(self):
        return self._tag.upper()

    @tag.setter
    def tag(self, v):
        self._tag = v + "!"

    @tag.deleter
    def tag(self):
        self._tag = "gone"

    @classmethod
    def make(cls, *a, **k):
        return cls(*a, **k)

    @staticmethod
    def double(x):
        return 2 * x

    def f(self):
        return "A"

    def g(self):
        return self.f() + str(self.n)

    def __str__(self):
        return f"<A {self.n}>"

    def __repr__(self):
        return f"A({self.n!r})"

    def __format__(self, spec):
        return f"fmt[{spec}]{self.n}"

    def __lt__(self, o):
        return self.n < o.n

    def __getattr__(self, k):
        if k.startswith("dyn_"):
            return k[4:]
        raise AttributeError(k)


class B(A):
    def __init__(self, *args, extra=None, **kw):
        super().__init__(*args, **kw)
        self.extra = extra or {}

    def f(self):
        return "B" + super().f()

    @property
    def tag(self):
        return "b:" + super().tag


class M1:
    def f(self):
        return "M1" + super().f()


class C(M1, B):
    pass


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a, b=2):
        self.a, self.b = a, b


class Log:
    def __init__(self):
        self.out = []

    def __enter__(self):
        self.out.append("in")
        return self

    def __exit__(self, t, v, tb):
        self.out.append("out" if t is None else t.__name__)
        return t is ValueError


class Desc:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, o, t=None):
        return self if o is None else getattr(o, self.name, 0) + 1

    def __set__(self, o, v):
        setattr(o, self.name, v * 10)


class HasDesc:
    d = Desc()

    def __init__(self):
        self.d = 2


class Attr(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class Meta(type):
    def __new__(m, name, bases, ns, **kw):
        cls = super().__new__(m, name, bases, ns)
        cls.registered = name.lower()
        return cls

    def __call__(cls, *a, **k):
        o = super().__call__(*a, **k)
        o.called = True
        return o

    def __len__(cls):
        return 42


class WithMeta(metaclass=Meta):
    pass


class Abs(ABC):
    @abstractmethod
    def go(self): ...


class Con(Abs):
    def go(self):
        return "went"


class Cached:
    calls = 0

    @cached_property
    def v(self):
        Cached.calls += 1
        return 7

    @lru_cache
    def w(self, k):
        return k * 2


class PM:
    def scale(self, k, x):
        return k * x

    twice = partialmethod(scale, 2)


class Single:
    _it = None

    def __new__(cls):
        if cls._it is None:
            cls._it = super().__new__(cls)
            cls._it.fresh = 0
        cls._it.fresh += 1
        return cls._it


class Iter:
    def __init__(self, n):
        self.n, self.i = n, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= self.n:
            raise StopIteration
        self.i += 1
        return self.i


class Tree:
    def __init__(self, v, *kids):
        self.v, self.kids = v, kids

    def __iter__(self):
        yield self.v
        for k in self.kids:
            yield from k


class Color(Enum):
    RED = ("r", 1)
    BLUE = ("b", 2)

    def __init__(self, short, num):
        self.short, self.num = short, num

    @property
    def both(self):
        return f"{self.short}{self.num}"

    @classmethod
    def of(cls, s):
        return next(c for c in cls if c.short == s)


class P(NamedTuple):
    x: int
    y: int = 5

    @property
    def s(self):
        return self.x + self.y

    def scaled(self, k):
        return P(self.x * k, self.y * k)


class TD(TypedDict, total=False):
    a: int


@dataclass
class DC:
    a: int
    b: int = 2
    scale: InitVar[int] = 3
    tags: ClassVar[list] = ["c"]
    c: int = field(init=False)

    def __post_init__(self, scale):
        self.c = self.a * scale


@dataclass
class DD(DC):
    d: Optional[str] = None


REG = {}


def register(name=None, **opts):
    def deco(f):
        REG[name or f.__name__] = (f, opts)
        return f

    return deco


@register("one", k=1)
def one(x):
    return x + 1


@register()
def two(x):
    return x + 2


@register()
class Three:
    def __init__(self, x):
        self.x = x


def logged(f):
    @wraps(f)
    def inner(*a, **k):
        inner.calls += 1
        return f(*a, **k)

    inner.calls = 0
    return inner


@logged
def hello(n="you"):
    return "hi " + n


@contextmanager
def ctx(l):
    l.append("enter")
    try:
        yield "v"
    finally:
        l.append("exit")


@singledispatch
def sd(x):
    return "obj"


@sd.register
def _(x: int):
    return "int"


@sd.register(list)
def _(x):
    return "list"


def t1():
    out = []
    try:
        out.append(1)
        raise KeyError("k")
    except (ValueError, TypeError):
        out.append("no")
    except KeyError as e:
        out.append(e.args[0])
    else:
        out.append("else")
    finally:
        out.append("fin")
    return out


def t2():
    try:
        return "try"
    finally:
        pass


def t3():
    out = []
    for i in range(5):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            out.append(i)
        finally:
            out.append("f")
    else:
        out.append("else")
    return out


def t4():
    try:
        try:
            raise ValueError("a")
        except ValueError as e:
            raise RuntimeError("b") from e
    except RuntimeError as e:
        return type(e.__cause__).__name__ + str(e)


def t5():
    l = Log()
    with l as m, suppress(KeyError):
        m.out.append("body")
        {}["x"]
    with l:
        raise ValueError
    return l.out


def t6():
    l = []
    with ctx(l) as v:
        l.append(v)
    return l


def t7():
    a, *b, c = range(5)
    (d, e), f = (1, 2), 3
    b[1:2] = [9, 9]
    del b[0]
    x = y = []
    x.append(1)
    b += [7]
    a -= 1
    d **= 2
    e //= 2
    f <<= 2
    return a, b, c, d, e, f, y


def t8():
    fs = []
    for i in range(3):

        def g(i=i):
            return i

        def h():
            return i

        fs += [g, h]
    return [f() for f in fs]


def t9():
    total = 0

    def add(k):
        nonlocal total
        total += k
        return add

    add(1)(2)(3)
    return total


COUNTER = 0


def t10():
    global COUNTER
    COUNTER += 5
    return COUNTER


def t11():
    d = {}
    for w in "the cat the dog".split():
        d[w] = d.get(w, 0) + 1
    d.setdefault("x", []).append(1)
    del d["cat"]
    return d


def t12(n=4):
    i, out = n, []
    while i:
        i -= 1
        if i == 2:
            continue
        out.append(i)
    else:
        out.append("done")
    return out


def t13():
    def gen():
        x = yield 1
        yield x

    g = gen()
    return next(g), g.send(5)


def t14():
    def gen():
        yield 1
        return "ret"

    def outer():
        r = yield from gen()
        yield r

    return list(outer())


def t15():
    it = iter([1, 2, 3])
    first = next(it)
    return first, list(it), next(it, None)


def t16(x=3):
    if x > 2 and (y := x * 2) > 5:
        return y
    return None


def t17():
    m = [[i * j for j in range(3)] for i in range(2)]
    return [list(r) for r in zip(*m)], [x for r in m for x in r if x]


def t18(*, a, b=2, **k):
    return {**k, "a": a, "b": b}


def t19(a, /, b, *, c):
    return a, b, c


def t20():
    a = [1, 2]
    b = a
    b = b + [3]
    c = a
    c += [4]
    return a, b


def t21():
    x = 5

    def f():
        return x

    x = 6
    return f()


def t22():
    try:
        int("q")
    except Exception as e:
        return e.__class__.__name__


def t23():
    assert True, "no"
    try:
        assert False, "msg"
    except AssertionError as e:
        return str(e)


def t24():
    s = SimpleNamespace(a=1)
    s.b = 2
    return s.a + s.b, vars(s)


def t25():
    d = {"a": {"b": 1}}
    d["a"]["c"] = d["a"].pop("b") + 1
    return d


def t26():
    xs = [3, 1, 2]
    ys = sorted(xs)
    xs.sort(key=lambda x: -x)
    xs, ys = ys, xs
    return xs, ys


def t27():
    l = [1, 2, 3, 4]
    for x in l[:]:
        if x % 2:
            l.remove(x)
    return l


def t28():
    class K:
        z = [i for i in range(3)]

        def m(self):
            return __class__.__name__

    return K.z, K().m(), K.__qualname__.split(".")[-1]


def t29():
    return [getattr(A(), n, "no") for n in ("n", "zz", "dyn_q")]


