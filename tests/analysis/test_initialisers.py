"""Functions that only set what tensors hold are not followed, whatever they are called; all others are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program, PythonInterpreter
from tsguard.analysis.subjects import build
from tsguard.analysis.values import Const, ListValue, ModuleValue, TensorValue
from tsguard.project import Project
from tsguard.project.targets import find_target

NET = """\
import math
import torch
from functools import partial
from torch import nn

SEEN = []

{functions}

class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.scale = nn.Parameter(torch.zeros(2))

{methods}

class Net(nn.Module):
    def __init__(self, kind="a"):
        super().__init__()
        self.parts = nn.ModuleList([Part() for i in range(8)])
        {call}
"""
EACH = """\
def each(init, module, name=""):
    for child, inner in module.named_children():
        each(init, inner, ".".join((name, child)))
    init(module, name)
    return module


def filled(module, name="", std=0.02):
    if isinstance(module, nn.Linear):
        bound = math.sqrt(6.0 / module.weight.shape[0])
        nn.init.uniform_(module.weight, -bound, bound)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    elif hasattr(module, "init_weights"):
        module.init_weights()


def chosen(kind):
    if kind == "a":
        return partial(filled, std=0.01)
    return filled


def set_all(model, init=None):
    init = init or filled
    for name, module in walked(model):
        init(module, name)


def walked(module, name=""):
    yield name, module
    for child, inner in module.named_children():
        yield from walked(inner, name + child)
"""
RESETS = """\
    def init_weights(self):
        with torch.no_grad():
            self.scale.data.copy_(torch.ones(2))
            self.linear.weight.data[:1] = 0
"""


def made(folder: Path, call: str, functions: str = EACH, methods: str = RESETS) -> tuple[ModuleValue, int]:
    file = folder / "net.py"
    file.write_text(NET.format(functions=functions, methods=methods, call=call))
    interp = PythonInterpreter(Program(Project((folder,))))
    module = build(interp, find_target(interp.program.project.module(file), "Net"))
    assert isinstance(module, ModuleValue)
    return module, interp.world.spent


@pytest.mark.parametrize(
    "call",
    [
        "each(filled, self)",
        "each(partial(filled, std=0.1), module=self)",
        "each(chosen(kind), self)",
        "set_all(self)",
        "set_all(self, filled)",
        "self.apply(filled)",
        "each(lambda module, name: filled(module), self)",
    ],
)
def test_initialisers_are_not_followed(tmp_path, call):
    assert made(tmp_path, call)[1] - made(tmp_path, "pass")[1] < 40


CHANGING = """\
    def init_weights(self):
        self.is_ready = True
"""
REGISTERING = """\
    def init_weights(self):
        self.register_buffer("mask", torch.ones(2))
"""


@pytest.mark.parametrize("call", ["each(filled, self)", "set_all(self)", "self.apply(filled)"])
@pytest.mark.parametrize("methods", [CHANGING, REGISTERING])
def test_those_that_call_what_changes_more_are(tmp_path, call, methods):
    part = made(tmp_path, call, methods=methods)[0].children["parts"]
    assert isinstance(part, ModuleValue)
    for one in part.children.values():
        assert isinstance(one, ModuleValue)
        assert one.attributes.keys() | one.buffers.keys() >= (
            {"is_ready"} if methods is CHANGING else {"mask"}
        )


@pytest.mark.parametrize(
    "function",
    [
        "def init(module):\n    module.seen = True\n    module.weight.data.zero_()\n",
        "def init(module):\n    setattr(module, 'seen', True)\n",
        "def init(module):\n    put(module)\n\n\ndef put(module):\n    module.seen = True\n",
        "def init(module):\n    change = module.__setattr__\n    change('seen', True)\n",
        "def init(module):\n    run(put, module)\n\n\ndef run(what, module):\n    what(module)\n\n\ndef put(module):\n    module.seen = True\n",
        "def init(module):\n    what = made()\n    what(module)\n\n\ndef made():\n    return put\n\n\ndef put(module):\n    module.seen = True\n",
        "def init(module, what=None):\n    what = what or put\n    what(module)\n\n\ndef put(module):\n    module.seen = True\n",
        "def init(module, what=lambda module: setattr(module, 'seen', True)):\n    what(module)\n",
    ],
    ids=["itself", "setattr", "callee", "method", "handed on", "given by a call", "alias", "default"],
)
def test_so_are_those_that_change_a_module(tmp_path, function):
    module, _ = made(tmp_path, "init(self)", functions=function)
    seen = module.attributes["seen"]
    assert isinstance(seen, Const)
    assert seen.value is True


@pytest.mark.parametrize(
    "function",
    [
        "def init(module, found):\n    for name, part in module.named_children():\n        found[name] = part\n",
        "def init(module, found):\n    found['parts'] = module\n    nn.init.zeros_(module.weight)\n",
        "def init(module, found):\n    inner = found\n    inner['parts'] = module\n",
    ],
    ids=["each", "beside", "alias"],
)
def test_so_are_those_that_note_what_they_have_seen(tmp_path, function):
    call = "found = {}\n        init(self, found)\n        self.count = len(found)"
    count = made(tmp_path, call, functions=function)[0].attributes["count"]
    assert not isinstance(count, Const) or count.value == 1


@pytest.mark.parametrize(
    "body",
    [
        "    weight = module.weight\n    weight = weight.view(-1)\n    weight[0] = 1\n",
        "    one = other = module.weight\n    one = other\n    other = one\n    one[0] = 1\n",
        "    one = nn.init.zeros_\n    other = one\n    one = other\n    one(module.weight)\n",
    ],
)
def test_variables_may_be_bound_to_one_another(tmp_path, body):
    call = "init(self.parts[0].linear)"
    assert made(tmp_path, call, functions="def init(module):\n" + body)[0].children


def test_so_are_those_that_lengthen_a_list(tmp_path):
    call = "found = []\n        init(self, found)\n        self.found = found"
    function = "def init(module, found):\n    found += [1]\n"
    found = made(tmp_path, call, functions=function)[0].attributes["found"]
    assert isinstance(found, ListValue)
    assert len(found.items) == 1


NOTES = """\
class Notes:
    def __init__(self):
        self.last = None

    def note(self, module):
        self.last = module


NOTES = Notes()


def notes():
    return NOTES

"""


@pytest.mark.parametrize(
    "function",
    [
        "def init(module, notes):\n    notes.note(1)\n",
        "def init(module, given):\n    NOTES.note(1)\n",
        "def init(module, given):\n    found = notes()\n    found.note(1)\n",
        "def init(module, given):\n    module.notes.note(1)\n",
    ],
    ids=["given", "global", "got", "held"],
)
def test_so_are_those_that_tell_an_object(tmp_path, function):
    call = "self.notes = NOTES\n        init(self, NOTES)\n        self.last = NOTES.last"
    last = made(tmp_path, call, functions=NOTES + function)[0].attributes["last"]
    assert isinstance(last, Const)
    assert last.value == 1


def test_what_they_give_back_is_what_they_got(tmp_path):
    functions = (
        EACH
        + "\n\ndef ones_(tensor):\n    return fill(tensor, 1)\n\n\ndef fill(tensor, value):\n    tensor.fill_(value)\n    return tensor\n"
    )
    module, _ = made(tmp_path, "self.weight = ones_(nn.Parameter(torch.zeros(2)))", functions=functions)
    weight = module.parameters["weight"]
    assert isinstance(weight, TensorValue)
    assert weight.filling is None  # it holds no zeros any more


def test_a_check_that_raises_is_followed(tmp_path):
    functions = "def check(module, kind):\n    if kind == 'a':\n        raise ValueError(kind)\n    module.seen = True\n"
    call = "try:\n            check(self, 'a')\n        except ValueError:\n            self.is_caught = True"
    module, _ = made(tmp_path, call, functions=functions.replace("    module.seen = True\n", ""))
    assert "is_caught" in module.attributes
