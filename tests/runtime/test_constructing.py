"""Constructor arguments by what the code does with them, whatever they are called."""

from __future__ import annotations

import pytest

from tests.runtime.conftest import Attempting
from tests.runtime.test_inputs import HEAD, SCRIPT, net
from tsguard.runtime.plan import AttemptSpec

LINEAR = "return self.fc(x)"
MODELS = {
    "an object whose attributes are read": net(
        "self.fc = nn.Linear(zork.hidden_size, zork.heads * 2)", "x", LINEAR, parameters=", zork"
    ),
    "objects in an object": net(
        "inner = zork.encoder; self.fc = nn.Linear(inner.width, zork.decoder.width); self.p = inner.dropout",
        "x",
        LINEAR,
        parameters=", zork",
    ),
    "an object that is kept": net(
        "self.zork = zork; self.fc = nn.Linear(zork.width, zork.width)",
        "x",
        "return self.fc(x) * self.zork.scale",
        parameters=", zork",
    ),
    "an object that is passed on": net(
        "self.fc = make(zork)", "x", LINEAR, parameters=", zork"
    ).replace("class Net", "def make(options):\n    return nn.Linear(options.first, options.second)\n\nclass Net"),
    "an attribute that only the error tells": net(
        "name = 'wid' + 'th'; self.fc = nn.Linear(getattr(zork, name), zork.out)", "x", LINEAR, parameters=", zork"
    ),
    "an object that only the error tells": net(
        "f = lambda o: getattr(o, 'wid' + 'th'); self.fc = nn.Linear(f(zork), 3)", "x", LINEAR, parameters=", zork"
    ),
    "a mapping": net("self.fc = nn.Linear(zork['a'], zork['b']['c'])", "x", LINEAR, parameters=", zork"),
    "a sequence that is iterated": net(
        "self.fcs = nn.ModuleList(nn.Linear(z, z) for z in zork)",
        "x",
        "for fc in self.fcs:",
        "    x = fc(x)",
        "return x",
        parameters=", zork",
    ),
    "a sequence that is measured": net(
        "self.n = len(zork); self.fc = nn.Linear(self.n, zork[-1])", "x", LINEAR, parameters=", zork"
    ),
    "a sequence of four": net(
        "a, b, c, d = zork; self.fc = nn.Linear(a, b + c + d)", "x", LINEAR, parameters=", zork"
    ),
    "a sequence with a fifth": net("self.fc = nn.Linear(zork[0], zork[4])", "x", LINEAR, parameters=", zork"),
    "a module class": net("self.fc = zork(6)", "x", LINEAR, parameters=", zork"),
    "a class without arguments": net("self.fc = zork()", "x", LINEAR, parameters=", zork"),
    "a module": net("self.zork = zork", "x: Tensor", "return self.zork(x)", parameters=", zork"),
    "a text": net(
        "assert zork in ('one', 'two'); self.fc = nn.Linear(3, 3)", "x", LINEAR, parameters=", zork"
    ),
    "the key of a table": net(
        "self.fc = {'in': nn.Linear(3, 3), 'out': nn.Linear(3, 4)}[zork]", "x", LINEAR, parameters=", zork"
    ),
    "a list of modules": net(
        "self.parts = nn.ModuleList(zork)",
        "x: Tensor",
        "for part in self.parts:",
        "    x = part(x)",
        "return x",
        parameters=", zork",
    ),
    "a model with an attribute": net(
        "self.zork = zork; self.fc = nn.Linear(zork.width, 3)", "x: Tensor", "return self.fc(self.zork(x))", parameters=", zork"
    ).replace(
        "class Net",
        "class Part(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.width = 7\n"
        "        self.fc = nn.Linear(5, 7)\n    def forward(self, x):\n        return self.fc(x)\n\nclass Net",
    ),
    "a model that takes the call": net(
        "self.zork = zork", "x: Tensor", "return self.zork(x, x, factor=2.0)", parameters=", zork"
    ).replace(
        "class Net",
        "class Wrong(nn.Module):\n    def forward(self, x):\n        return x\n\n"
        "class Part(nn.Module):\n    def forward(self, a, b, factor: float = 1.0):\n        return (a + b) * factor\n\n"
        "class Net",
    ),
    "one of four that must be None": net(
        "assert (a is None) ^ (b is None or c is None); self.fc = nn.Linear(3, 3)", "x", LINEAR, parameters=", a, b, c"
    ),
    "a class that a method makes": net(
        "self.fc = self.made(zork)", "x", LINEAR, parameters=", zork"
    ) + "\n    def made(self, kind):\n        return kind(3, 4)\n",
    "a text that only forward refuses": net(
        "assert zork in ('one', 'two', 'three'); self.zork = zork; self.fc = nn.Linear(3, 3)",
        "x",
        "if self.zork != 'three':",
        "    raise NotImplementedError(f'{self.zork} is yet to be done')",
        LINEAR,
        parameters=", zork",
    ),
    "a width that must be odd": net(
        "self.fc = nn.Conv1d(3, 3, zork, padding=zork // 2)", "x", "return x + self.fc(x)", parameters=", zork"
    ),
    "a module of torch that takes the call": net(
        "self.zork = zork", "x, mask=None", "y, _ = self.zork(x, x, x, attn_mask=mask)", "return x + y", parameters=", zork"
    ),
    "modules that take the call, in a list": net(
        "self.zork = nn.ModuleList(zork)",
        "x, mask=None",
        "for z in self.zork:",
        "    x, _ = z(x, mask=mask)",
        "return x",
        parameters=", zork",
    ).replace(
        "class Net",
        "class Part(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
        "        self.fc = nn.Linear(width, width)\n"
        "    def forward(self, x, mask=None):\n        return self.fc(x), mask\n\nclass Net",
    ),
    "a list that another is joined to": net(
        "self.n = [0] + zork + [9]; self.fc = nn.Linear(len(self.n), 3)", "x", LINEAR, parameters=", zork"
    ),
    "a text that only the error tells": net(
        "f = lambda o: o.startswith('a'); self.fc = nn.Linear(3, 4 if f(zork) else 5)", "x", LINEAR, parameters=", zork"
    ),
    "a tensor that only the error tells": net(
        "f = lambda o: o.detach(); self.register_buffer('w', f(zork))", "x", "return x @ self.w.T", parameters=", zork"
    ),
    "a number of repetitions": net(
        "self.fcs = nn.ModuleList(nn.Conv1d(3, 3, 3, padding=2**i, dilation=2**i) for i in range(zork))",
        "x: Tensor",
        "for fc in self.fcs:",
        "    x = x + fc(x)",
        "return x",
        parameters=", zork",
    ),
    "a mapping that is spread over a call": net(
        "self.fc = make(3, **zork)", "x", LINEAR, parameters=", zork"
    ).replace("class Net", "def make(first, second, bias=True):\n    return nn.Linear(first, second, bias)\n\nclass Net"),
    "a model that takes a number or a tuple": net(
        "self.zork = zork", "x: Tensor", "return self.zork.inner(x) + self.zork.count", parameters=", zork"
    ).replace(
        "class Net",
        "class Whole(nn.Module):\n    def __init__(self, size):\n        super().__init__()\n"
        "        size = size if isinstance(size, tuple) else (size, size)\n"
        "        self.count = size[0] % size[1]\n        self.inner = nn.Linear(size[0], 3)\n\nclass Net",
    ),
    "a model whose parts are used": net(
        "self.zork = zork; self.rows, self.width = zork.table.shape", "x: Tensor",
        "return self.zork.inner(x) + self.zork.table.sum()", parameters=", zork",
    ).replace(
        "class Net",
        "class Whole(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
        "        self.table = nn.Parameter(torch.ones(4, width))\n        self.inner = nn.Linear(width, 3)\n"
        "    def forward(self, x):\n        return self.inner(x)\n\nclass Net",
    ),
    "a probability": net("self.d = nn.Dropout(zork)", "x: Tensor", "return self.d(x)", parameters=", zork"),
}  # fmt: skip

DECLARED = {
    "a dataclass": (
        "@dataclasses.dataclass\nclass Zork:\n    width: int\n    rate: float = 0.1\n",
        "self.fc = nn.Linear(zork.width, 3)",
    ),
    "a named tuple": (
        "class Zork(NamedTuple):\n    width: int\n    heads: int\n",
        "self.fc = nn.Linear(zork.width, zork.heads)",
    ),
    "a class with a constructor": (
        "class Zork:\n    def __init__(self, width):\n        self.width = width\n",
        "self.fc = nn.Linear(zork.width, 3)",
    ),
}


def test_layers_without_elements_are_avoided(attempting: Attempting) -> None:
    source = net(
        "self.a = nn.Linear(channels, channels // 8); self.b = nn.Linear(channels // 8, channels)",
        "x",
        "return self.b(self.a(x))",
        parameters=", channels",
    )
    found = attempting(source, specs=(AttemptSpec("script"),))
    assert found.constructor is not None
    assert int(found.constructor.partition("=")[2].rstrip(")")) >= 8


@pytest.mark.parametrize("name", MODELS)
def test_a_parameter_is_guessed_by_its_use(attempting: Attempting, name: str) -> None:
    found = attempting(MODELS[name], specs=SCRIPT)
    assert found.stop is None, found.stop
    assert found.attempts[AttemptSpec("eager")].status == "ok"


@pytest.mark.parametrize("name", DECLARED)
def test_a_parameter_of_a_class_of_the_project_gets_an_instance(attempting: Attempting, name: str) -> None:
    declaration, init = DECLARED[name]
    source = net(init, "x", LINEAR, parameters=", zork: Zork")
    head = HEAD + "import dataclasses\nfrom typing import NamedTuple\n\n" + declaration + "\n"
    found = attempting(source.replace(HEAD, head), specs=SCRIPT)
    assert found.stop is None, found.stop
    assert (found.constructor or "").startswith("Net(zork=Zork(")


def test_the_expression_makes_the_same_again(attempting: Attempting) -> None:
    source = MODELS["objects in an object"]
    found = attempting(source, specs=SCRIPT)
    assert (found.constructor or "").startswith("Net(zork=SimpleNamespace(encoder=SimpleNamespace(")
    again = attempting(source, found.constructor or "", specs=SCRIPT, inputs=found.inputs)
    assert again.attempts[AttemptSpec("eager")].status == "ok"


def test_a_path_is_never_guessed(attempting: Attempting, tmp_path) -> None:  # type: ignore[no-untyped-def]
    source = net("open(zork, 'w').close()", "x", "return x", parameters=", zork")
    found = attempting(source, specs=SCRIPT)
    assert found.stop is not None
    assert found.stop.needed == ("zork",)
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["model.py"]
