"""What an imported name means, as Python and type checkers resolve it, by sources alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges.script import judge_script
from tsguard.project import Project
from tsguard.project.project import Definition, Missing
from tsguard.project.targets import find_target

BLOCK = """\
from torch import nn

__all__ = ["Block"]


class Block(nn.Module):
    def forward(self, x):
        return [v for v in x if v]
"""
LAZY = """\
import importlib
from types import ModuleType


class LazyModule(ModuleType):
    def __init__(self, name, file, structure):
        super().__init__(name)
        self.places = {value: key for key, values in structure.items() for value in values}

    def __getattr__(self, name):
        return getattr(importlib.import_module("." + self.places[name], self.__name__), name)


def structure_of(file):
    return {}
"""
# Ways in which a package gives `Block` of its module `blocks`, by the files that do so.
WAYS = {
    "an import": {"__init__.py": "from .blocks import Block\n"},
    "an import under another name": {"__init__.py": "from . import blocks as _b\nBlock = _b.Block\n"},
    "a star import": {"__init__.py": "from .blocks import *\n"},
    "star imports through a package": {
        "__init__.py": "from .inner import *\n",
        "inner/__init__.py": "from ..blocks import *\n",
    },
    "a star import in a try": {
        "__init__.py": "try:\n    from .blocks import *\nexcept ImportError:\n    Block = None\n"
    },
    "the else of a try": {
        "__init__.py": (
            "try:\n    import torch\nexcept ImportError:\n    from .dummies import *\n"
            "else:\n    from .blocks import Block\n"
        ),
        "dummies.py": "class Block:\n    pass\n",
    },
    "an import for type checkers, and a module in its place": {
        "__init__.py": (
            "import sys\nfrom typing import TYPE_CHECKING\nfrom .lazy import LazyModule, structure_of\n"
            "if TYPE_CHECKING:\n    from .blocks import *\n"
            "else:\n    sys.modules[__name__] = LazyModule(__name__, __file__, structure_of(__file__))\n"
        ),
        "lazy.py": LAZY,
    },
    "a module in its place, by a table of names": {
        "__init__.py": (
            "import sys\nfrom .lazy import LazyModule\n"
            '_structure = {"lazy": ["LazyModule"]}\n'
            'if True:\n    _structure["blocks"] = ["Block"]\n'
            'sys.modules[__name__] = LazyModule(__name__, globals()["__file__"], _structure)\n'
        ),
        "lazy.py": LAZY,
    },
    "a table of names that grows": {
        "__init__.py": (
            'import sys\nfrom .lazy import LazyModule\n_structure = {"blocks": []}\n'
            'try:\n    import torch\nexcept ImportError:\n    pass\nelse:\n    _structure["blocks"].extend(["Block"])\n'
            "sys.modules[__name__] = LazyModule(__name__, None, _structure)\n"
        ),
        "lazy.py": LAZY,
    },
    "a module in its place that looks through its files for __all__": {
        "__init__.py": (
            "import sys\nfrom .lazy import LazyModule, structure_of\n_file = globals()['__file__']\n"
            "sys.modules[__name__] = LazyModule(__name__, _file, structure_of(_file))\n"
        ),
        "lazy.py": LAZY,
    },
    "a module in its place that looks through its files for a decorator": {
        "__init__.py": (
            "import sys\nfrom .lazy import LazyModule, structure_of\n"
            "sys.modules[__name__] = LazyModule(__name__, __file__, structure_of(__file__))\n"
        ),
        "lazy.py": f"{LAZY}\ndef export(cls):\n    return cls\n",
        "blocks.py": "from torch import nn\nfrom .lazy import export\n\n@export\n"
        + BLOCK.partition("\n\n\n")[2],
    },
    "hooks attached by submodule": {
        "__init__.py": (
            "import lazy_loader as lazy\n"
            '__getattr__, __dir__, __all__ = lazy.attach(__name__, submodules=["inner"], '
            'submod_attrs={"blocks": ["Block"]})\n'
        ),
    },
    "hooks attached by the stub beside": {
        "__init__.py": "import lazy_loader\n__getattr__, __dir__, __all__ = "
        "lazy_loader.attach_stub(__name__, __file__)\n",
        "__init__.pyi": "from .blocks import Block as Block\n",
    },
    "a hook over a table of modules": {
        "__init__.py": (
            'import importlib\n_PLACES = {"Block": ".blocks"}\n\n\ndef __getattr__(name):\n'
            "    if name in _PLACES:\n"
            "        return getattr(importlib.import_module(_PLACES[name], __name__), name)\n"
            "    raise AttributeError(name)\n"
        ),
    },
    "a hook over a table of modules and names": {
        "__init__.py": (
            'from importlib import import_module\n_PLACES = {"Block": (__spec__.parent, ".blocks")}\n\n\n'
            "def __getattr__(name):\n    package, module = _PLACES[name]\n"
            "    return getattr(import_module(module, package=package), name)\n"
        ),
    },
    "a hook over a table that is turned round": {
        "__init__.py": (
            'import importlib\n_NAMES = {"blocks": ["Block"]}\n'
            "_PLACES = {name: module for module, names in _NAMES.items() for name in names}\n\n\n"
            "def __getattr__(name):\n"
            '    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)\n'
        ),
    },
    "a hook that imports": {
        "__init__.py": (
            'def __getattr__(name):\n    if name == "Block":\n        from .blocks import Block\n'
            "        return Block\n    raise AttributeError(name)\n"
        ),
    },
    "a folder without __init__.py": {"other.py": ""},
}


def package(folder: Path, files: dict[str, str]) -> None:
    for name, text in {"blocks.py": BLOCK, **files}.items():
        path = folder / "pkg" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def class_named(project: Project, user: Path) -> str:
    """The class of the package that the first definition of a file derives from, where it is defined."""
    module = project.module(user)
    meaning = project.meaning(module, "Block")
    assert isinstance(meaning, Definition)
    while isinstance(meaning.node, ast.Assign):
        assert isinstance(meaning.node.value, ast.Attribute)
        owner = project.meaning(meaning.module, "_b")
        meaning = project.meaning(owner, meaning.node.value.attr)  # type: ignore[arg-type]
        assert isinstance(meaning, Definition)
    return f"{meaning.module.name}.{meaning.node.name}"  # type: ignore[attr-defined]


@pytest.mark.parametrize("way", WAYS)
def test_a_name_that_a_package_gives_leads_to_its_class(way: str, tmp_path: Path) -> None:
    package(tmp_path / "site", WAYS[way])
    user = tmp_path / "net.py"
    bare = "blocks" if "without" in way else ""
    user.write_text(
        f"from torch import nn\nfrom pkg{'.' + bare if bare else ''} import Block\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.block = Block()\n\n"
        "    def forward(self, x):\n        return self.block(x)\n"
    )
    project = Project((tmp_path / "site",))
    assert class_named(project, user).endswith("blocks.Block")
    outcome = judge_script(Program(project), find_target(project.module(user), "Net"))
    assert outcome.verdict == "blocked"


def test_a_name_under_type_checking_alone_is_not_bound(tmp_path: Path) -> None:
    package(
        tmp_path,
        {"__init__.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .blocks import *\n"},
    )
    user = tmp_path / "net.py"
    user.write_text("import pkg\n")
    project = Project(())
    module = project.module(user)
    assert isinstance(project.member(module, "pkg", "Block"), Missing)


def test_a_star_import_that_cannot_be_read_may_bind_any_name_but_pythons_own(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("from absent import *\n")
    project = Project()
    module = project.module(tmp_path / "net.py")
    assert project.meaning(module, "helper") == Missing("absent.helper")
    assert project.meaning(module, "len") is None


def test_a_file_with_relative_imports_lies_in_a_package(tmp_path: Path) -> None:
    folder = tmp_path / "outer" / "inner"
    folder.mkdir(parents=True)
    (folder / "net.py").write_text("from ..sizes import WIDTH\n")
    (folder / "plain.py").write_text("WIDTH = 3\n")
    (tmp_path / "outer" / "sizes.py").write_text("WIDTH = 3\n")
    project = Project()
    module = project.module(folder / "net.py")
    assert (module.name, module.root) == ("outer.inner.net", tmp_path)
    assert isinstance(project.meaning(module, "WIDTH"), Definition)
    assert project.module(folder / "plain.py").name == "plain"


@pytest.mark.parametrize(("name", "root"), [("torch", "."), ("logging", "company")])
def test_a_package_that_would_hide_torch_from_its_own_files_lies_in_a_namespace(
    name: str, root: str, tmp_path: Path
) -> None:
    package = tmp_path / "company" / name
    package.mkdir(parents=True)
    for file in ("__init__", "net"):
        (package / f"{file}.py").write_text("from torch import nn\n")
    module = Project(()).module(package / "net.py")
    inside = (package / "net").relative_to(tmp_path / root)
    assert (module.name, module.root) == (".".join(inside.parts), tmp_path / root)


def test_a_package_of_compiled_code_alone_is_missing_and_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "site" / "fast"
    folder.mkdir(parents=True)
    (folder / "__init__.cpython-311-x86_64-linux-gnu.so").write_bytes(b"")
    user = tmp_path / "net.py"
    user.write_text("from fast import Net\n")
    meaning = Project((tmp_path / "site",)).meaning(Project(()).module(user), "Net")
    assert meaning == Missing(
        "fast.Net", "only compiled code of it is installed (__init__.cpython-311-x86_64-linux-gnu.so)"
    )


def test_a_stub_tells_the_bases_and_no_more(tmp_path: Path) -> None:
    site = tmp_path / "site" / "quick"
    site.mkdir(parents=True)
    (site / "__init__.pyi").write_text(
        "from torch import Tensor, nn\n\nclass Layer(nn.Module):\n    def forward(self, x: Tensor) -> Tensor: ...\n"
    )
    user = tmp_path / "net.py"
    user.write_text(
        "from quick import Layer\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.layer = Layer()\n\n"
        "    def forward(self, x):\n        return self.layer(x)\n"
    )
    project = Project((tmp_path / "site",))
    module = project.module(user)
    meaning = project.meaning(module, "Layer")
    assert isinstance(meaning, Definition)
    assert meaning.module.is_stub


def test_an_editable_package_is_found_where_its_finder_says(tmp_path: Path) -> None:
    package(tmp_path / "work", {"__init__.py": "from .blocks import *\n"})
    site = tmp_path / "site"
    site.mkdir()
    (site / "__editable___pkg_1_0_finder.py").write_text(
        f"MAPPING: dict[str, str] = {{'pkg': {str(tmp_path / 'work' / 'pkg')!r}}}\nNAMESPACES = {{}}\n"
    )
    user = tmp_path / "net.py"
    user.write_text("from pkg import Block\n")
    assert class_named(Project((site,)), user) == "pkg.blocks.Block"


def test_modules_that_wait_for_each_other_give_neither_the_name(tmp_path: Path) -> None:
    text = "try:\n    from {other} import block\nexcept ImportError:\n    from gone import block\n"
    for name, other in (("first", "second"), ("second", "first")):
        (tmp_path / f"{name}.py").write_text(text.format(other=other), encoding="utf-8")
    project = Project((tmp_path,))
    assert isinstance(project.meaning(project.module(tmp_path / "first.py"), "block"), Missing)
