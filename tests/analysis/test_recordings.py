"""What a compiled function reports is kept for whoever reaches it next, and nothing else with it."""

from __future__ import annotations

from pathlib import Path

from tsguard.analysis.observer import Observer
from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.script import compile_target
from tsguard.analysis.subjects import built
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
from torch import nn


def shape(x):
    y = x.no_such_method()
    return y[None:"a"]


class Net(nn.Module):
    def forward(self, x):
        return shape(x)


class Other(nn.Module):
    def forward(self, x):
        return shape(x + 1)
"""


def test_no_frames_are_kept(tmp_path: Path):
    file = tmp_path / "net.py"
    file.write_text(NET)
    program = Program(Project((tmp_path,)))
    events = {}
    for name in ("Net", "Other"):
        interp, target = PythonInterpreter(program), find_target(program.project.module(file), name)
        events[name] = compile_target(interp, target, built(interp, target)).events
    recorded = [
        report.refusal
        for compiled in (value for known in program.kept.values() for value in known.values())
        for report in getattr(getattr(compiled, "recording", None), "reports", ())
    ]
    assert recorded
    assert {event.key for event in events["Net"]} == {event.key for event in events["Other"]}
    assert all(refusal.__traceback__ is None and refusal.__context__ is None for refusal in recorded)


BOXES = """\
import torch
from torch import nn


class Box:
    def __init__(self, size: int):
        self.size = size

    def area(self) -> int:
        return self.size.no_such_method()

    @property
    def half(self) -> int:
        return self.size + "1"


class Pair:
    def __init__(self, box: Box):
        self.box = box

    def area(self) -> int:
        return self.box.area()


class Net(nn.Module):
    def forward(self, x):
        return x + Pair(Box(1)).area()


class Other(nn.Module):
    def forward(self, x):
        box = Box(2)
        return x * Pair(box).area() + box.half
"""


def compiled(program: Program, file: Path, name: str) -> set[tuple[object, ...]]:
    """What compiling a class of a file reports."""
    interp, target = PythonInterpreter(program), find_target(program.project.module(file), name)
    return {event.key[1:] for event in compile_target(interp, target, built(interp, target)).events}


def test_classes_are_compiled_by_the_first_target_alone_and_report_to_all(tmp_path: Path):
    file = tmp_path / "net.py"
    file.write_text(BOXES)
    alone = {name: compiled(Program(Project((tmp_path,))), file, name) for name in ("Net", "Other")}
    program = Program(Project((tmp_path,)))
    module = program.project.module(file)
    line = BOXES[: BOXES.index("self.size.no")].count("\n") + 1
    program.observer = first = Observer(module, line)
    assert compiled(program, file, "Net") == alone["Net"]
    program.observer = second = Observer(module, line)
    assert compiled(program, file, "Other") == alone["Other"]
    assert first.types
    assert not second.types


def test_a_property_that_only_another_target_reads_is_compiled_for_it(tmp_path: Path):
    file = tmp_path / "net.py"
    file.write_text(BOXES)
    program = Program(Project((tmp_path,)))
    line = BOXES[: BOXES.index("self.size +")].count("\n") + 1
    program.observer = observer = Observer(program.project.module(file), line)
    for name in ("Net", "Other"):
        compiled(program, file, name)
    assert observer.types


TRIED = """\
from torch import nn


class Config:
    def __init__(self):
        self.size = 1

    def first(self):
        return self.no_such_method()

{more}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.config = Config()

    def forward(self, x):
        return x
"""
METHOD = """\
    def {name}(self, x: int) -> int:
        return x + self.size

"""


def test_the_class_of_an_attribute_is_compiled_as_far_as_its_first_refusal(tmp_path: Path):
    spent = []
    for count in (1, 20):
        file = tmp_path / f"with_{count}.py"
        file.write_text(TRIED.format(more="".join(METHOD.format(name=f"m{i}") for i in range(count))))
        interp = PythonInterpreter(Program(Project((tmp_path,))))
        target = find_target(interp.program.project.module(file), "Net")
        module = built(interp, target)
        constructed = interp.world.spent
        assert not compile_target(interp, target, module).events
        spent.append(interp.world.spent - constructed)
    assert spent[0] == spent[1]


CIRCULAR = """\
from torch import nn


class Part:
    def __init__(self):
        self.size = 1

    def area(self) -> int:
        return self.size

    def broken(self) -> int:
        return self.size.no_such_method()


class Whole:
    def __init__(self):
        self.part = Part()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.whole = Whole()

    def forward(self, x):
        return x + Part().area()
"""


def test_what_a_try_has_begun_is_compiled_whole_where_it_is_used(tmp_path: Path):
    file = tmp_path / "net.py"
    file.write_text(CIRCULAR)
    reported = compiled(Program(Project((tmp_path,))), file, "Net")
    assert any("no_such_method" in str(key) for key in reported)


PARTS = """\
import torch
from torch import nn


class Part(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.flag = config.flag

    def halved(self, x):
        return x.no_such_method()

    def asked(self, x):
        return x if self.flag else -x

    def told(self, x):
        return x * self.config.scale

    def forward(self, x):
        return self.halved(x) + self.asked(x) + self.told(x)


class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.part = Part(config)

    def forward(self, x):
        return self.part(x)


class Other(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.part = Part(options)

    def forward(self, x):
        return self.part(x)
"""


def test_a_method_is_compiled_for_all_unless_it_reads_an_argument(tmp_path: Path):
    file = tmp_path / "net.py"
    file.write_text(PARTS)
    program = Program(Project((tmp_path,)))
    found = [compiled(program, file, name) for name in ("Net", "Other")]
    kept = {
        key[1]
        for known in program.kept.values()
        for key, value in known.items()
        if hasattr(value, "recording") and isinstance(key, tuple) and len(key) == 3
    }
    assert "halved" in kept
    assert kept.isdisjoint({"asked", "told", "forward"})
    assert [compiled(Program(Project((tmp_path,))), file, name) for name in ("Net", "Other")] == found
