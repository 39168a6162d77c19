"""What torch.export and torch.compile make of modules: for which sizes, kept in which file, with which breaks."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.runtime.conftest import QUICK, Attempting, subject_in
from tsguard.runtime.attempts import Bounds, attempt_target
from tsguard.runtime.launcher import Launcher
from tsguard.runtime.plan import AttemptSpec, Settings
from tsguard.runtime.task import Limits

STATIC, OPEN, COMPILE = AttemptSpec("export"), AttemptSpec("export_dynamic"), AttemptSpec("compile")
AHEAD = AttemptSpec("aot_inductor")
HEAD = "import torch\nfrom torch import nn\n\n"


def net(body: str, signature: str = "x") -> str:
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    return f"{HEAD}class Net(nn.Module):\n    def forward(self, {signature}):\n{lines}\n"


def dynamic(*sizes: str) -> Bounds:
    return replace(QUICK, settings=replace(QUICK.settings, dynamic=sizes))


# body, static, with the batch open
BATCHES = {
    "any": ("return x * 2", "ok", "ok"),
    "of the example": ("return x.view(2, -1) if x.shape[0] == 2 else x", "ok", "diverged"),
    "counted": ("return torch.stack([row * 2 for row in x])", "ok", "diverged"),
    "values decide": ("if x.sum() > 0:\n    return x\nreturn -x", "failed", "failed"),
    "values are kept": ("return x * float(torch.rand(1).numpy()[0])", "failed", "failed"),
}


@pytest.mark.parametrize("name", BATCHES)
def test_whether_it_exports_and_whether_the_batch_may_vary(attempting: Attempting, name: str) -> None:
    body, static, open_batch = BATCHES[name]
    found = attempting(net(body), specs=(STATIC, OPEN), inputs=("torch.randn(2, 4)",))
    assert [found.attempts[spec].status for spec in (STATIC, OPEN)] == [static, open_batch]


def test_a_named_size_that_the_code_holds_is_told_in_torchs_words(attempting: Attempting) -> None:
    body = "return x * 2 if x.shape[0] == 2 else x"
    bounds = dynamic("x: {0: batch}")
    found = attempting(net(body), specs=(OPEN,), bounds=bounds, inputs=("torch.randn(2, 4)",))
    error = found.attempts[OPEN].error
    assert error is not None
    assert error.message.startswith(
        "You marked batch as dynamic but your code specialized it to be a constant (2)"
    )


def test_a_refusal_of_torch_export_is_at_the_users_line(attempting: Attempting) -> None:
    found = attempting(net("if x.sum() > 0:\n    return x\nreturn -x"), specs=(STATIC,))
    error = found.attempts[STATIC].error
    assert error is not None
    assert (error.path, error.line) == ("model.py", 6)


def test_a_batch_of_one_is_not_taken_for_always_one(attempting: Attempting) -> None:
    found = attempting(net("return x.sum(0)"), specs=(OPEN,), inputs=("torch.randn(1, 4)",))
    parity = found.attempts[OPEN].parity
    assert parity is not None
    assert parity.ok
    assert {"same inputs", "other batch size"} <= {variant.name for variant in parity.variants}


def test_only_the_sizes_that_are_open_are_varied(attempting: Attempting) -> None:
    body = "return x.view(x.shape[0], 4)"
    found = attempting(net(body), specs=(OPEN,), inputs=("torch.randn(2, 4)",))
    assert found.attempts[OPEN].status == "ok"
    found = attempting(net("return x * 2"), specs=(OPEN,), bounds=dynamic("x: {1: auto}"))
    names = {variant.name for variant in found.attempts[OPEN].parity.variants}  # type: ignore[union-attr]
    assert "other length" in names
    assert "other batch size" not in names


def test_a_size_that_is_named_and_cannot_vary_is_refused(attempting: Attempting) -> None:
    body = "return x.view(2, -1) if x.shape[0] == 2 else x"
    inputs = ("torch.randn(2, 4)",)
    found = attempting(net(body), specs=(OPEN,), bounds=dynamic("x: {0: batch}"), inputs=inputs)
    assert found.attempts[OPEN].status == "failed"
    assert "batch" in found.attempts[OPEN].error.message  # type: ignore[union-attr]


def test_sizes_of_one_name_go_together(attempting: Attempting) -> None:
    inputs = ("torch.randn(2, 4)", "torch.randn(2, 4)")
    both = dynamic("x: {0: batch}", "y: {0: batch}")
    found = attempting(net("return x + y", "x, y"), specs=(OPEN,), bounds=both, inputs=inputs)
    assert found.attempts[OPEN].status == "ok"
    found = attempting(
        net("return x + y", "x, y"), specs=(OPEN,), bounds=dynamic("x: {0: batch}"), inputs=inputs
    )
    assert found.attempts[OPEN].status == "failed"


def test_an_input_that_does_not_exist_is_named(attempting: Attempting) -> None:
    found = attempting(net("return x * 2"), specs=(OPEN,), bounds=dynamic("images: {0: batch}"))
    attempt = found.attempts[OPEN]
    assert (attempt.status, "images" in (attempt.note or "")) == ("skipped", True)


def test_sizes_inside_containers_and_keywords_are_open(attempting: Attempting) -> None:
    source = net('return batch["image"] + scale', "batch, *, scale")
    inputs = ("{'image': torch.randn(2, 4)}", "scale=torch.randn(2, 1)")
    found = attempting(source, specs=(OPEN,), inputs=inputs)
    assert found.attempts[OPEN].status == "ok"
    assert found.attempts[OPEN].note is None


def test_where_eager_takes_no_other_size_nothing_is_claimed(attempting: Attempting) -> None:
    body = "assert x.shape[0] == 2\nreturn x * 2"
    found = attempting(net(body), specs=(OPEN,), inputs=("torch.randn(2, 4)",))
    assert "none was tried" in (found.attempts[OPEN].note or "")


def test_functions_are_not_exported(attempting: Attempting) -> None:
    found = attempting(f"{HEAD}def twice(x):\n    return x + x\n", "twice", (STATIC, OPEN))
    assert {found.attempts[spec].status for spec in (STATIC, OPEN)} == {"skipped"}


def test_a_saved_program_works_without_the_code(launcher: Launcher, tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(
        "import torch\nfrom dataclasses import dataclass\n\n"
        "class Good(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.linear = torch.nn.Linear(4, 4)\n\n"
        "    def forward(self, x):\n        return {'y': self.linear(x), 'n': x.shape[0]}\n\n"
        "@dataclass\nclass Out:\n    y: torch.Tensor\n\n"
        "torch.export.register_dataclass(Out)\n\n"
        "class Bad(torch.nn.Module):\n    def forward(self, x):\n        return Out(x * 2)\n"
    )
    kept = tmp_path / "kept"
    bounds = Bounds(Limits(), Settings(timing_seconds=0, folder=str(tmp_path)), kept)
    good, bad = (
        attempt_target(
            launcher.run, subject_in(file, name, inputs=("torch.randn(2, 4)",)), (STATIC,), bounds
        ).attempts[STATIC]
        for name in ("Good()", "Bad()")
    )
    assert (good.status, good.saved) == ("ok", True)
    assert (bad.status, bad.saved) == ("ok", False)
    assert "Good.export.cpu.eval.pt2" in {path.name for path in kept.iterdir()}


needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler is installed")


@needs_compiler
def test_where_torch_compile_leaves_the_graph_is_told_and_it_works_all_the_same(
    attempting: Attempting,
) -> None:
    body = "print('first')\nx = x + 1\nif x.sum() > 0:\n    return x * 2\nreturn x"
    attempt = attempting(net(body), specs=(COMPILE,)).attempts[COMPILE]
    assert attempt.status == "ok"
    assert [(b.path, b.line) for b in attempt.breaks] == [("model.py", 6), ("model.py", 8)]
    assert "print" in attempt.breaks[0].message
    assert attempt.breaks[1].message == "a branch on the values in a tensor"


@needs_compiler
def test_a_whole_graph_has_no_breaks(attempting: Attempting) -> None:
    attempt = attempting(net("return x * 2"), specs=(COMPILE,)).attempts[COMPILE]
    assert (attempt.status, attempt.breaks) == ("ok", ())


@needs_compiler
def test_what_torch_compile_trains_has_the_gradients_of_eager(attempting: Attempting) -> None:
    layer = "class Net(nn.Linear):\n    def __init__(self):\n        super().__init__(4, 4)\n"
    spec = replace(COMPILE, mode="train")
    attempt = attempting(HEAD + layer, specs=(spec,), inputs=("torch.randn(2, 4)",)).attempts[spec]
    assert attempt.status == "ok"
    assert attempt.parity is not None
    assert attempt.parity.gradients


@needs_compiler
def test_aot_inductor_compiles_saves_and_loads(launcher: Launcher, tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(net("return x.relu() * 2"))
    bounds = Bounds(Limits(seconds=60), Settings(timing_seconds=1.0, folder=str(tmp_path)), tmp_path / "kept")
    subject = subject_in(file, "Net()", inputs=("torch.randn(2, 4)",))
    attempt = attempt_target(launcher.run, subject, (AHEAD,), bounds).attempts[AHEAD]
    assert (attempt.status, attempt.saved) == ("ok", True), attempt
    assert attempt.speedup is not None
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["Net.aot_inductor.cpu.eval.pt2"]


def test_without_a_compiler_it_is_said_and_nothing_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    file = tmp_path / "model.py"
    file.write_text(net("return x * 2"))
    with Launcher() as launcher:
        found = attempt_target(launcher.run, subject_in(file, "Net()"), (COMPILE, AHEAD), QUICK)
    for spec in (COMPILE, AHEAD):
        assert found.attempts[spec].status == "skipped"
        assert "no-such-compiler" in (found.attempts[spec].note or "")
