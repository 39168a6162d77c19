"""The migration pages are true: tsguard finds what they mark, and an exported program lacks what they say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.rules.pages import Example, examples, found, is_worded, names_in
from tests.torch_here import RELEASE
from tsguard import rules
from tsguard.language.releases import allows

torch = pytest.importorskip("torch", reason="the pages are run")

EXAMPLES = examples("migration")
NAMES = names_in("migration")


def every(kind: str, *, of_targets: bool) -> pytest.MarkDecorator:
    chosen = [e for e in EXAMPLES if e.kind == kind and (e.code != "TSG701") is of_targets]
    return pytest.mark.parametrize("example", chosen, ids=lambda example: example.id)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
def test_the_marked_lines_are_found_and_no_others(example: Example):
    own = [f for f in found(example, "migration", "migration") if f.code == example.code]
    assert {(f.code, f.line) for f in own} == example.marks
    assert bool(example.marks) == (example.kind == "bad")


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_example_shows_every_wording(name: str):
    assert is_worded(name, EXAMPLES, lambda e: found(e, "migration", "migration"))


def test_the_name_comes_first_in_what_is_said_of_a_use():
    assert all(w.message.startswith("{name} ") for w in rules.rule("TSG701").wordings.values())


@pytest.mark.filterwarnings("ignore")
@every("bad", of_targets=False)
def test_the_uses_of_torch_jit_run(example: Example, tmp_path: Path):
    imported(example, tmp_path)


@every("good", of_targets=False)
def test_what_takes_their_place_runs(example: Example, tmp_path: Path):
    imported(example, tmp_path)


needs_export = pytest.mark.skipif(not allows(">=2.8", RELEASE), reason="torch.export was another before 2.8")


@needs_export
@pytest.mark.filterwarnings("ignore")
@every("bad", of_targets=True)
def test_a_scripted_module_does_it_and_a_program_does_not(example: Example, tmp_path: Path):
    module = imported(example, tmp_path)
    scripted = torch.jit.script(getattr(module, example.target)().eval())
    assert does(example.code, scripted, module)
    assert not does(example.code, exported(example, module), module)


@needs_export
@pytest.mark.filterwarnings("ignore")
@every("good", of_targets=True)
def test_a_program_does_what_is_left(example: Example, tmp_path: Path):
    module = imported(example, tmp_path)
    program = exported(example, module)
    eager = getattr(module, example.target)().eval()
    inputs = getattr(module, "other_inputs", module.example_inputs)()
    assert program(*inputs).shape == eager(*inputs).shape


def does(code: str, callee: Any, module: ModuleType) -> bool:
    """Whether what the page says is lost can be done."""
    inputs = module.example_inputs()
    try:
        if code == "TSG702":
            callee.encode(*inputs)
        elif code == "TSG705":
            callee.train()
        else:
            callee(*module.other_inputs())
    except (AttributeError, NotImplementedError, AssertionError, RuntimeError, ValueError, TypeError):
        return False
    return True


def exported(example: Example, module: ModuleType) -> Any:
    target = getattr(module, example.target)().eval()
    return torch.export.export(target, module.example_inputs(), strict=False).module()


def imported(example: Example, folder: Path) -> ModuleType:
    file = example.write(folder)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
