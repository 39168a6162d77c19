"""Factories and registries: what a constructor gets from them is what Python would give it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges.script import judge_script
from tsguard.project import Project
from tsguard.project.targets import find_target

BLOCKS = """\
from typing import Optional, Tuple

from torch import nn


class Fine(nn.Module):
    def forward(self, x):
        return x


class Refused(nn.Module):
    def forward(self, x):
        return [v for v in x if v]
"""
# Ways in which a package makes a model by name: its files, what a user imports, and the call.
WAYS: dict[str, tuple[dict[str, str], str, str]] = {
    "a dict from names to classes": (
        {"__init__.py": "from .blocks import Fine, Refused\n\nMODELS = {'fine': Fine, 'refused': Refused}\n"},
        "from pkg import MODELS",
        "MODELS['{name}']()",
    ),
    "the classes of a module, looked through by name": (
        {
            "__init__.py": "from torch import nn\n\nfrom . import blocks\n\n\ndef make(query):\n"
            "    if set.difference({query}, {'fine', 'refused'}) or {query} & {'', None}:\n"
            "        raise ValueError(query)\n"
            "    classes = [c for c in vars(blocks).values() if isinstance(c, type) and issubclass(c, nn.Module)]\n"
            "    for cls in classes:\n        if cls.__name__.lower() == query:\n            return cls()\n"
            "    raise LookupError(query)\n",
        },
        "import pkg",
        "pkg.make('{name}')",
    ),
    "functions that a decorator registers in another module": (
        {
            "registry.py": "_makers = {}\n\n\ndef register(fn):\n    _makers[fn.__name__] = fn\n    return fn\n\n\n"
            "def make(name, **kwargs):\n    if name not in _makers:\n        raise RuntimeError(name)\n"
            "    return _makers[name](**kwargs)\n",
            "models.py": "from .blocks import Fine, Refused\nfrom .registry import register\n\n\n@register\n"
            "def fine(**kwargs):\n    return Fine(**kwargs)\n\n\n@register\ndef refused(**kwargs):\n"
            "    return Refused(**kwargs)\n",
            "__init__.py": "from .models import *\nfrom .registry import make\n",
        },
        "import pkg",
        "pkg.make('{name}')",
    ),
    "a decorator with a name, and a wrapper between": (
        {
            "registry.py": "TABLE = {}\n\n\ndef register(name=None):\n    def wrapper(fn):\n"
            "        key = name if name is not None else fn.__name__\n        if key in TABLE:\n"
            "            raise ValueError(key)\n        TABLE[key] = fn\n        return fn\n\n    return wrapper\n\n\n"
            "def get(name):\n    try:\n        return TABLE[name.lower()]\n    except KeyError:\n"
            "        raise ValueError(name)\n",
            "models.py": "import functools\n\nfrom .blocks import Fine, Refused\nfrom .registry import register\n\n\n"
            "def keyword(fn):\n    @functools.wraps(fn)\n    def inner(*args, **kwargs):\n"
            "        return fn(*args, **kwargs)\n\n    return inner\n\n\n@register()\n@keyword\ndef fine():\n"
            "    return Fine()\n\n\n@register(name='refused')\n@keyword\ndef other():\n    return Refused()\n",
            "__init__.py": "from . import models\nfrom .registry import get\n",
        },
        "from pkg import get",
        "get('{name}')()",
    ),
    "a table of functions that are wrapped in themselves": (
        {
            "registry.py": "import functools\n\nTABLE = {}\n\n\ndef register(fn):\n"
            "    again = functools.wraps(fn)(fn)\n    TABLE[again.__name__] = again\n    return again\n",
            "models.py": "from .blocks import Fine, Refused\nfrom .registry import register\n\n\n"
            "@register\ndef fine():\n    return Fine()\n\n\n@register\ndef refused():\n    return Refused()\n",
            "__init__.py": "from . import models\nfrom .registry import TABLE\n",
        },
        "from pkg import TABLE",
        "TABLE['{name}']()",
    ),
    "classes that a registry object registers": (
        {
            "registry.py": "class Registry:\n    def __init__(self):\n        self.known = {}\n\n"
            "    def register(self, name):\n        def add(cls):\n            self.known[name] = cls\n"
            "            return cls\n\n        return add\n\n    def build(self, name, **kwargs):\n"
            "        return self.known[name](**kwargs)\n\n\nMODELS = Registry()\n",
            "models.py": "from .blocks import Fine, Refused\nfrom .registry import MODELS\n\n\n@MODELS.register('fine')\n"
            "class A(Fine):\n    pass\n\n\n@MODELS.register('refused')\nclass B(Refused):\n    pass\n",
            "__init__.py": "from . import models\nfrom .registry import MODELS\n",
        },
        "from pkg import MODELS",
        "MODELS.build('{name}')",
    ),
    "a table in a class": (
        {
            "registry.py": "class Factory:\n    table = {}\n\n    @classmethod\n    def register(cls, name):\n"
            "        def add(made):\n            cls.table[name] = made\n            return made\n\n        return add\n\n"
            "    @classmethod\n    def create(cls, name):\n        return cls.table[name]()\n",
            "models.py": "from .blocks import Fine, Refused\nfrom .registry import Factory\n\n"
            "Factory.register('fine')(Fine)\n\n\n@Factory.register('refused')\nclass B(Refused):\n    pass\n",
            "__init__.py": "from . import models\nfrom .registry import Factory\n",
        },
        "from pkg import Factory",
        "Factory.create('{name}')",
    ),
    "a dict that makes an instance of what it holds": (
        {
            "__init__.py": "from collections import OrderedDict\n\nfrom .blocks import Fine, Refused\n\n\n"
            "class Making(OrderedDict):\n    def __getitem__(self, key):\n        content = super().__getitem__(key)\n"
            "        cls, kwargs = content if isinstance(content, tuple) else (content, {})\n"
            "        return cls(**kwargs)\n\n\nMODELS = Making({'fine': Fine, 'refused': (Refused, {})})\n",
        },
        "from pkg import MODELS",
        "MODELS['{name}']",
    ),
    "a class found by its config, in a module imported by name": (
        {
            "configs.py": "class FineConfig:\n    pass\n\n\nclass RefusedConfig:\n    pass\n",
            "auto.py": "import importlib\nimport types\nfrom collections import OrderedDict\n\n"
            "CLASSES = OrderedDict([('FineConfig', 'Fine'), ('RefusedConfig', 'Refused')])\n\n\n"
            "class Lazy(OrderedDict):\n    def __init__(self, names):\n        self._names = names\n"
            "        self._modules = {}\n\n    def __contains__(self, key):\n        return key.__name__ in self._names\n\n"
            "    def __getitem__(self, key):\n        if 'blocks' not in self._modules:\n"
            "            self._modules['blocks'] = importlib.import_module('.blocks', 'pkg')\n"
            "        return getattr(self._modules['blocks'], self._names[key.__name__])\n\n\n"
            "class _Auto:\n    _mapping = None\n\n    @classmethod\n    def from_config(cls, config):\n"
            "        if type(config) in cls._mapping:\n            return cls._mapping[type(config)]()\n"
            "        raise ValueError(config)\n\n\ndef copied(fn):\n"
            "    return types.FunctionType(fn.__code__, fn.__globals__, name=fn.__name__)\n\n\n"
            "class Auto(_Auto):\n    _mapping = Lazy(CLASSES)\n",
            "__init__.py": "from .auto import Auto\nfrom .configs import FineConfig, RefusedConfig\n",
        },
        "import pkg",
        "pkg.Auto.from_config(pkg.{Name}Config())",
    ),
    "a factory that gives names by __getattr__": (
        {
            "__init__.py": "from .blocks import Fine, Refused\n\n\nclass Store:\n    def __init__(self):\n"
            "        self.parts = {'FINE': Fine, 'REFUSED': Refused}\n\n    def __getattr__(self, key):\n"
            "        if key in self.parts:\n            return key\n        raise AttributeError(key)\n\n"
            "    def __getitem__(self, name):\n        return self.parts[name.upper()]\n\n\nSTORE = Store()\n",
        },
        "from pkg import STORE",
        "STORE[STORE.{NAME}]()",
    ),
    "the first that a generator finds": (
        {
            "__init__.py": "from .blocks import Fine, Refused\n\n\ndef make(name):\n"
            "    return next(cls for cls in (Fine, Refused) if cls.__name__.lower() == name)()\n"
        },
        "import pkg",
        "pkg.make('{name}')",
    ),
    "a name that is taken for an address": (
        {
            "__init__.py": "from urllib.parse import urlsplit\nimport os\nfrom .blocks import Fine, Refused\n\n\n"
            "TABLE = {'fine': Fine, 'refused': Refused}\n\n\ndef make(name):\n    parsed = urlsplit(name)\n"
            "    assert parsed.scheme in ('', 'hub')\n    return TABLE[os.path.split(parsed.path)[-1]]()\n"
        },
        "import pkg",
        "pkg.make('{name}')",
    ),
    "a decorator that adds to what a star import takes": (
        {
            "__init__.py": "from .made import *\n",
            "registry.py": "import sys\n\n\ndef register(function):\n"
            "    sys.modules[function.__module__].__all__.append(function.__name__)\n    return function\n",
            "made.py": "from .blocks import Fine, Refused\nfrom .registry import register\n\n__all__ = ['Fine']\n\n\n"
            "@register\ndef fine():\n    return Fine()\n\n\n@register\ndef refused():\n    return Refused()\n",
        },
        "import pkg",
        "pkg.{name}()",
    ),
}


def judged(folder: Path, way: str, name: str) -> tuple[str, Project]:
    """The verdict on a module that holds what a factory makes, and what was read for it."""
    files, imports, call = WAYS[way]
    for path, text in {"blocks.py": BLOCKS, **files}.items():
        (folder / "site" / "pkg").mkdir(parents=True, exist_ok=True)
        (folder / "site" / "pkg" / path).write_text(text)
    made = call.format(name=name, Name=name.title(), NAME=name.upper())
    user = folder / "net.py"
    user.write_text(
        f"from torch import nn\n{imports}\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        f"        super().__init__()\n        self.m = {made}\n\n    def forward(self, x):\n        return self.m(x)\n"
    )
    project = Project((folder / "site",))
    return judge_script(Program(project), find_target(project.module(user), "Net")).verdict, project


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "expected"), [("fine", "ok"), ("refused", "blocked")])
def test_what_a_factory_makes_is_judged(way: str, name: str, expected: str, tmp_path: Path) -> None:
    assert judged(tmp_path, way, name)[0] == expected


@pytest.mark.parametrize("way", ["functions that a decorator registers in another module"])
def test_of_a_package_only_what_names_a_registrar_is_kept(way: str, tmp_path: Path) -> None:
    (tmp_path / "site" / "pkg").mkdir(parents=True)
    (tmp_path / "site" / "pkg" / "another.py").write_text("WIDTH = 4\n")
    project = judged(tmp_path, way, "refused")[1]
    names = {path.name for path in project.finder.files_read}
    assert ("models.py" in names, "another.py" in names) == (True, False)


def test_a_name_that_only_run_time_knows_leaves_the_verdict_open(tmp_path: Path) -> None:
    files, imports, _ = WAYS["functions that a decorator registers in another module"]
    for path, text in {"blocks.py": BLOCKS, **files}.items():
        (tmp_path / "pkg").mkdir(exist_ok=True)
        (tmp_path / "pkg" / path).write_text(text)
    user = tmp_path / "net.py"
    user.write_text(
        f"import os\n\nfrom torch import nn\n{imports}\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.m = pkg.make(open('model.txt').read())\n\n"
        "    def forward(self, x):\n        return self.m(x)\n"
    )
    project = Project((tmp_path,))
    assert judge_script(Program(project), find_target(project.module(user), "Net")).verdict == "unknown"


LOSS = """\
from enum import Enum

from torch.nn.modules.loss import _Loss


class Reduction(Enum):
    MEAN = "mean"
    SUM = "sum"


class Loss(_Loss):
    def __init__(self, reduction="mean"):
        super().__init__(reduction=Reduction(reduction).value)

    def forward(self, x):
        if self.reduction == "sum":
            return x.sum()
        return x.mean()
"""


@pytest.mark.parametrize("call", ["Loss()", "Loss('sum')"])
def test_what_a_loss_keeps_of_its_reduction_is_known(call: str, tmp_path: Path) -> None:
    user = tmp_path / "loss.py"
    user.write_text(LOSS)
    project = Project(())
    assert judge_script(Program(project), find_target(project.module(user), call)).verdict == "ok"


STAGES = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, widths):
        super().__init__()
        for i, width in enumerate(widths):
            self.add_module(f"s{i + 1}", nn.Linear(width, width))

    def forward(self, x):
        return self.s2(self.s1(x))
"""


def test_modules_that_an_uncounted_loop_adds_are_not_said_to_be_missing(tmp_path: Path) -> None:
    user = tmp_path / "stages.py"
    user.write_text(STAGES)
    project = Project(())
    assert judge_script(Program(project), find_target(project.module(user), "Net")).verdict != "blocked"


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("SimpleNamespace(rate=0.5, width=4)", "blocked"),
        ("SimpleNamespace(rate=1, width=4)", "ok"),
        ("argparse.Namespace(rate=0.5)", "blocked"),
        ("SimpleNamespace(**settings)", "ok"),
    ],
)
def test_what_a_namespace_was_given_is_known(made: str, expected: str, tmp_path: Path) -> None:
    source = f"""\
import argparse
from types import SimpleNamespace
from torch import nn


class Net(nn.Module):
    def __init__(self, settings: dict):
        super().__init__()
        self.rate = {made}.rate

    def forward(self, x):
        return x * (self.rate if self.training else 0)
"""
    file = tmp_path / "net.py"
    file.write_text(source, encoding="utf-8")
    project = Project()
    outcome = judge_script(Program(project), find_target(project.module(file), "Net"))
    assert outcome.verdict == expected
