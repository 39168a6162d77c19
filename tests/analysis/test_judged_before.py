"""What is found out of a target, and the steps that it may take, hang on nothing that was judged before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.subjects import build, built
from tsguard.analysis.values import ModuleValue
from tsguard.project import Project
from tsguard.project.targets import find_target

PARTS = """\
import functools
from torch import nn

TABLE = {str(number): [number] for number in range(30)}


def doubled(items):
    return [item * 2 for item in items]


WIDTHS = doubled(range(40))


@functools.lru_cache
def settings(name):
    return {"name": name, "sizes": [len(name) for letter in name]}


class Part(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.widths = [w for w in WIDTHS if w < width]
        self.sizes = settings("small")["sizes"]


class Pair(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.one = Part(width)
        self.two = Part(width)
        self.other = Part(2 * width)


class First(nn.Module):
    def __init__(self):
        super().__init__()
        self.pair = Pair(8)
        self.part = Part(8)
        self.table = TABLE


class Second(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part(16)
        self.pair = Pair(8)
        self.again = Pair(8)
        self.sizes = settings("small")["sizes"]
"""
NAMES = ["Part(8)", "Pair(8)", "First", "Second"]


def steps(program: Program, file: Path, name: str) -> int:
    interp = PythonInterpreter(program)
    assert isinstance(build(interp, find_target(program.project.module(file), name)), ModuleValue)
    return interp.world.spent


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("before", NAMES)
def test_a_target_takes_the_same_steps_after_any_other(folder, before, name):
    file = folder / "parts.py"
    file.write_text(PARTS)
    alone = steps(Program(Project((folder,))), file, name)
    program = Program(Project((folder,)))
    steps(program, file, before)
    assert steps(program, file, name) == alone


def test_what_is_made_again_takes_fewer_steps_within_a_target(folder):
    file = folder / "parts.py"
    twice = "\n\nclass Twice(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.one = Pair(8)\n"
    file.write_text(PARTS + twice + "        self.two = Pair(8)\n" + twice.replace("Twice", "Once"))
    program = Program(Project((folder,)))
    once, both = (steps(program, file, name) for name in ("Once", "Twice"))
    assert both - once < once / 4


def test_what_a_target_does_with_a_cached_result_is_seen_by_no_other(lint, folder):
    (folder / "net.py").write_text(
        "import functools\n"
        "from torch import nn\n\n\n"
        "@functools.lru_cache\n"
        "def settings(name):\n"
        "    return {'name': name}\n\n\n"
        "class First(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        settings('a').pop('name')\n\n"
        "    def forward(self, x):\n"
        "        return x\n\n\n"
        "class Second(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        if 'name' in settings('a'):\n"
        "            self.name = 'a'\n\n"
        "    def forward(self, x):\n"
        "        return x, self.name\n"
    )
    found = {t["qualname"]: t["script"]["verdict"] for t in lint("net.py").report["targets"]}
    assert found == {"First": "ok", "Second": "ok"}


GRIDS = """\
class Grid:
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.total = total(size)


def total(size):
    count = 0
    for row in range(60):
        for column in range(60):
            for part in range(60):
                count = count + row * column * part * size
                if size == 1:
                    return count
    return count
"""
LAYERS = """\
from torch import nn
from grids import Grid


class Layer(Grid, nn.Module):
    def forward(self, x):
        return x + self.total
"""
NETS = """\
from torch import nn
from layers import Layer


class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer({size})

    def forward(self, x):
        return self.layer(x)
"""


TABLES = """\
def is_plain(kind):
    if kind.first > 1:
        return False
    return len([1]) > 1


def checked(table):
    if not is_plain(table.kind):
        raise TypeError("of another kind")
    return table


def sized(table):
    if len([1]) == 1:
        raise TypeError("of one size")
    return table
"""
READER = """\
import torch
from torch import nn
from tables import checked, sized


class Reader(nn.Module):
    def __init__(self, table):
        super().__init__()
        {given}
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x * {used}
"""


class TestTooLarge:
    """A constructor of a package that is not about torch, which takes more steps than it is followed for."""

    @pytest.fixture
    def judged(self, lint, folder, monkeypatch):
        site = folder / ".venv" / "lib" / "python3.11" / "site-packages"
        site.mkdir(parents=True)
        (folder / ".venv" / "pyvenv.cfg").write_text("")
        (site / "grids.py").write_text(GRIDS)
        (site / "layers.py").write_text(LAYERS)
        (folder / "large.py").write_text(NETS.format(name="Large", size=2))
        (folder / "small.py").write_text(NETS.format(name="Small", size=1))

        def run(*files: str) -> dict[str, str]:
            report = lint("--no-cache", "--jobs", "1", *files).report
            assert not report["findings"]
            return {t["qualname"]: t["script"]["verdict"] for t in report["targets"]}

        return run

    def test_it_is_unknown_and_what_is_small_is_read(self, judged):
        assert judged("large.py") == {"Large": "unknown"}
        assert judged("small.py") == {"Small": "ok"}

    def test_so_it_is_after_the_other(self, judged):
        assert judged("large.py", "small.py") == {"Large": "unknown", "Small": "ok"}

    def test_the_reason_is_said(self, judged, lint):
        said = [gap["why"] for gap in lint("large.py").report["targets"][0]["script"]["unknown"]]
        assert said == ["Grid.__init__ is too large to be analysed completely"]


class TestRaising:
    """A package's function that raises for all that is guessed of what it is given."""

    @pytest.fixture
    def judged(self, lint, folder):
        site = folder / ".venv" / "lib" / "python3.11" / "site-packages"
        site.mkdir(parents=True)
        (folder / ".venv" / "pyvenv.cfg").write_text("")
        (site / "tables.py").write_text(TABLES)

        def run(given: str, used: str) -> dict[str, object]:
            (folder / "net.py").write_text(READER.format(given=given, used=used))
            (target,) = lint("net.py").report["targets"]
            return target

        return run

    def test_its_result_is_unknown(self, judged):
        target = judged("self.rows = checked(table)", "self.rows.width")
        assert target["script"]["verdict"] == "unknown"
        assert [gap["why"] for gap in target["script"]["unknown"]] == [
            "checked could not be analysed completely"
        ]

    def test_what_does_not_use_it_is_judged(self, judged):
        target = judged("checked(table)", "1")
        assert (target["script"]["verdict"], target["trace"]["verdict"]) == ("ok", "safe")

    def test_an_error_that_nothing_guessed_decides_ends_the_constructor(self, judged):
        target = judged("sized(table)", "1")
        assert (target["script"]["verdict"], target["trace"]["verdict"]) == ("unknown", "unknown")
        assert [gap["why"] for gap in target["script"]["unknown"]] == [
            "every path through its constructor that was analysed raises"
        ]


SHARED = """\
from torch import nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self._width = 2

    @property
    def width(self):
        return self._width

    @width.setter
    def width(self, width):
        if isinstance(width, int):
            width = [width]
        self._width = width

    def forward(self, x):
        return x * self.width
"""
USER = """

class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()

    def forward(self, x):
        return self.layer(x)
"""


def test_what_is_wrong_with_a_property_is_found_whoever_compiled_its_reader_before(lint, folder):
    (folder / "shared.py").write_text(SHARED + USER.format(name="Two"))
    (folder / "one.py").write_text(
        "from torch import nn\nfrom shared import Layer\n" + USER.format(name="One")
    )

    def rules(*files: str) -> dict[str, list[str]]:
        report = lint("--no-cache", "--jobs", "1", *files).report
        found = [finding["code"] for finding in report["findings"]]
        return {t["qualname"]: [found[i] for i in t["script"]["findings"]] for t in report["targets"]}

    assert rules("one.py")["One"]
    assert rules("one.py", "shared.py") == rules("one.py") | rules("shared.py")


STATE = """\
from torch import nn

KNOWN = {}
ORDER = []
last = None


def made(name):
    global last
    if name not in KNOWN and last is None:
        KNOWN[name] = nn.Linear(2, 2)
        ORDER.append(name)
        last = name
        return nn.Linear(2, 2)
    return nn.LSTMCell(2, 2)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = made("a")
        self.count = len(ORDER)

    def forward(self, x):
        return self.layer(x)


class Core:
    def __init__(self):
        self.sinks = {}


class Log:
    def __init__(self):
        self.core = Core()


log = Log()


class Logged(nn.Module):
    def __init__(self):
        super().__init__()
        log.core.sinks[len(log.core.sinks)] = "out"
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in log.core.sinks])

    def forward(self, x):
        return self.layers[0](x)


class Counted(nn.Module):
    count = 0

    def __init__(self):
        super().__init__()
        Counted.count += 1
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(Counted.count)])

    def forward(self, x):
        return self.layers[0](x)
"""


@pytest.mark.parametrize(
    ("name", "before"), [("Net", "Net"), ("Net", "Counted"), ("Counted", "Counted"), ("Logged", "Logged")]
)
def test_what_a_target_changes_of_what_modules_define_is_seen_by_no_other(folder, name, before):
    file = folder / "state.py"
    file.write_text(STATE)

    def made(program: Program, name: str) -> ModuleValue:
        value = built(PythonInterpreter(program), find_target(program.project.module(file), name))
        assert isinstance(value, ModuleValue)
        return value

    def shape(module: ModuleValue) -> list[str]:
        parts = [part for part in module.children.values() if isinstance(part, ModuleValue)]
        return [f"{part.cls} of {len(part.children)}" for part in parts]

    alone = shape(made(Program(Project((folder,))), name))
    program = Program(Project((folder,)))
    made(program, before)
    assert shape(made(program, name)) == alone


HOLDER = """\
from torch import nn


class Holder(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)
"""
GIVEN = """\
from torch import nn
from holder import Holder


class {name}(nn.Module):
    def __init__(self, {argument}):
        super().__init__()
        self.part = Holder({argument})

    def forward(self, x):
        return self.part(x)
"""


def test_a_gap_names_the_target_s_own_argument(lint, folder):
    (folder / "holder.py").write_text(HOLDER)
    for name, argument in (("One", "first"), ("Two", "second")):
        (folder / f"{name.lower()}.py").write_text(GIVEN.format(name=name, argument=argument))
    report = lint("--no-cache", "--jobs", "1", "one.py", "two.py").report
    said = {t["qualname"]: [gap["why"] for gap in t["script"]["unknown"]] for t in report["targets"]}
    assert said == {
        "One": ["first is an argument of the constructor of unknown type"],
        "Two": ["second is an argument of the constructor of unknown type"],
    }
