"""Verdicts of what rests on code that was not read: never the good ones, and the cause is named once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges import Judgement, judge
from tsguard.project import Project
from tsguard.project.targets import find_target

HEAD = "import foolib\nimport torch\nfrom barlib import Block, Net as Base, act, registry\nfrom torch import nn\n\n\n"
NET = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {made}

    def forward(self, x):
        return {returned}
"""


def judged(folder: Path, source: str) -> Judgement:
    path = folder / "net.py"
    path.write_text(HEAD + source, encoding="utf-8")
    project = Project(())
    return judge(Program(project), find_target(project.module(path), "Net"))


@pytest.mark.parametrize(
    ("made", "returned"),
    [
        ("self.part = foolib.Part(3)", "self.part(x)"),
        ("self.part = foolib.Part(3)", "x"),
        ("self.part = nn.Sequential(Block(3), nn.ReLU())", "self.part(x)"),
        ("self.part = nn.Sequential(Block(3), nn.ReLU())", "x"),
        ("self.parts = nn.ModuleList([Block(i) for i in range(3)])", "self.parts[0](x)"),
        ("self.part = registry.build('block')", "self.part(x)"),
        ("self.part = registry['block'](3).eval()", "self.part(x)"),
        ("self.size = 3", "act(x)"),
        ("self.size = 3", "foolib.functional.act(x)"),
        ("self.scale = foolib.SCALE", "x * self.scale"),
        ("self.size = 3", "x * foolib.SCALE"),
        ("self.parts = [foolib.Part(i) for i in range(2)]", "x"),
    ],
)
def test_what_was_not_read_is_not_ok(tmp_path: Path, made: str, returned: str):
    found = judged(tmp_path, NET.format(made=made, returned=returned))
    assert found.script == "unknown"
    assert len(found.unknown) == 1
    (cause,) = found.unknown
    package = "foolib" if "foolib" in made + returned else "barlib"
    assert cause.why == f'the source of package "{package}" cannot be found'
    assert (cause.path, cause.line) == (str(tmp_path / "net.py"), 1 if package == "foolib" else 3)
    assert "environment" in (cause.help or "")


def test_what_a_trace_or_a_mode_runs_unread_is_not_safe(tmp_path: Path):
    found = judged(tmp_path, NET.format(made="self.part = foolib.Part(3)", returned="self.part(x)"))
    assert (found.trace, found.mode) == ("unknown", "unknown")
    assert [gap.line for gap in (*found.trace_unknown, *found.mode_unknown)] == [1, 1]


def test_an_unread_decorator_may_make_anything_of_forward(tmp_path: Path):
    found = judged(
        tmp_path, "class Net(nn.Module):\n    @foolib.wrap\n    def forward(self, x):\n        return x\n"
    )
    assert found.script == "unknown"


@pytest.mark.parametrize("decorator", ["foolib.register", "foolib.MODELS.register_module(name='net')"])
def test_an_unread_decorator_may_make_anything_of_a_class(tmp_path: Path, decorator: str):
    source = f"@{decorator}\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n"
    found = judged(tmp_path, source)
    assert (found.script, found.trace, found.mode) == ("unknown", "unknown", "unknown")
    assert [gap.line for gap in (*found.unknown, *found.trace_unknown, *found.mode_unknown)] == [1, 1, 1]


def test_an_unread_annotation_may_mean_anything(tmp_path: Path):
    source = "class Net(nn.Module):\n    def forward(self, x: foolib.Data):\n        return x.size(0)\n"
    assert judged(tmp_path, source).script == "unknown"


def test_what_was_read_decides_where_it_is_refused(tmp_path: Path):
    source = NET.format(made="self.part = foolib.Part(3)", returned="self.part(lambda: x)")
    assert judged(tmp_path, source).script == "blocked"


def test_an_argument_that_is_called_may_be_anything(tmp_path: Path):
    source = NET.replace("(self)", "(self, part)", 1).format(made="self.part = part", returned="self.part(x)")
    assert judged(tmp_path, source).script == "unknown"


CONFIG = """\
from dataclasses import dataclass
from typing import NamedTuple


@dataclass
class Settings:
    flag: bool = True


class Fields(NamedTuple):
    flag: bool


class Refused(nn.Module):
    def forward(self, x):
        return eval("x")


class Net(nn.Module):
    def __init__(self, config{annotation}):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        {kept}

    def forward(self, x):
        if {asked}:
            return self.layer(x)
        return x
"""


@pytest.mark.parametrize(
    ("annotation", "kept", "asked", "verdict"),
    [
        ("", "self.config = config", "self.config.flag", "depends"),
        ("", "self.config = config; print(config.size)", "self.config is not None", "depends"),
        (": foolib.Config", "self.config = config", "self.config.flag", "depends"),
        (": Settings", "self.config = config", "self.config.flag", "blocked"),
        (": 'Settings | None'", "self.config = config", "self.config.flag", "depends"),
        (": Fields", "self.config = config", "self.config[0]", "ok"),
        (": Settings", "self.config = config; self.flag = config.flag", "self.flag", "ok"),
        ("", "self.config = config; self.flag = config.flag", "self.flag", "ok"),
        ("", "self.size = config", "x.size(0) > self.size", "ok"),
        (": tuple[int, int]", "self.size = config", "x.size(0) > self.size[0]", "ok"),
        (": list[int]", "self.size = config", "self.size.copy()[0] > 1", "ok"),
        (": nn.Module", "self.part = config", "self.part.out_features > 1", "unknown"),
        (": nn.Module", "self.part = nn.Sequential(config)", "x.size(0) > 1", "unknown"),
        ("", "self.part = config; self.size = config.size", "self.part(x).sum() > self.size", "unknown"),
        ("", "self.part = getattr(nn, config)()", "self.part(x).sum() > 1", "unknown"),
        ("", "self.parts = nn.ModuleList(config)", "x.size(0) > len(self.parts)", "unknown"),
        ("", "self.part = {'a': nn.ReLU, 'b': nn.GELU}[config]()", "self.part(x).sum() > 1", "ok"),
        ("", "self.part = {'a': nn.ReLU, 'b': Refused}[config]()", "self.part(x).sum() > 1", "depends"),
        ("", "self.config = config", "self.config['flag']", "depends"),
        (": type[nn.ReLU]", "self.part = config()", "self.part(x).sum() > 1", "unknown"),
        (": type[Refused]", "self.part = config()", "self.part(x).sum() > 1", "blocked"),
    ],
)
def test_an_argument_of_unknown_type_counts_where_compiled_code_uses_it(
    tmp_path: Path, annotation: str, kept: str, asked: str, verdict: str
):
    found = judged(tmp_path, CONFIG.format(annotation=annotation, kept=kept, asked=asked))
    assert found.script == verdict


def test_the_condition_on_an_object_is_said_in_words(tmp_path: Path):
    source = CONFIG.format(annotation="", kept="self.config = config", asked="self.config.flag")
    (finding,) = [f for f in judged(tmp_path, source).findings if f.family == "script"]
    assert finding.when == "unless config is an object of a class that TorchScript compiles"


def test_an_argument_that_may_be_anything_is_named_with_its_place_and_the_remedy(tmp_path: Path):
    source = CONFIG.format(
        annotation=": nn.Module", kept="self.part = config", asked="self.part(x).sum() > 0"
    )
    (cause,) = judged(tmp_path, source).unknown
    assert cause.why == "config is an argument of the constructor of unknown type"
    assert cause.line == HEAD.count("\n") + source[: source.index("def __init__")].count("\n") + 1
    assert (cause.help or "").endswith("net.py:Net(config=...)'")


def test_what_forward_is_given_is_no_argument_of_the_constructor(tmp_path: Path):
    source = NET.format(made="self.size = 3", returned="key.missing(x)").replace(
        "(self, x)", "(self, x, key)"
    )
    call = "\n    __call__ = lambda self, *x, **y: super(Net, self).__call__(*x, **y)\n"
    causes = judged(tmp_path, source + call).trace_unknown
    assert causes
    assert not any("argument of the constructor" in cause.why for cause in causes)


RETURNING = "class Net(nn.Module):\n    def forward(self, x):\n        {body}\n"


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("return torch.utils._pytree.tree_flatten(x)", "torch.utils._pytree.tree_flatten"),
        (
            "with torch.autograd.graph.save_on_cpu():\n            return x + 1",
            "torch.autograd.graph.save_on_cpu",
        ),
        ("return torch._C._VariableFunctions.relu(x)", "torch._C._VariableFunctions"),
    ],
)
def test_a_name_of_torch_that_no_table_describes_is_not_ok(tmp_path: Path, body: str, name: str):
    """torch refuses all three."""
    found = judged(tmp_path, RETURNING.format(body=body))
    assert found.script == "unknown"
    assert [cause.why for cause in found.unknown] == [f"what torch.jit.script makes of {name} is not known"]


@pytest.mark.parametrize(
    "function", ["_nn.gelu", "_fft.fft_fft", "_linalg.linalg_det", "_special.special_erf"]
)
def test_functions_of_torchs_own_extension_modules_are_operators(tmp_path: Path, function: str):
    assert judged(tmp_path, RETURNING.format(body=f"return torch._C.{function}(x)")).script == "ok"


ASKING = """\
from foolib import Sparse
from typing import Union
from torch import Tensor

class Net(nn.Module):
    def forward(self, x: Tensor, e: {type}){result}:
        {body}
"""


@pytest.mark.parametrize("type_", ["Sparse", "Union[Tensor, Sparse]"])
@pytest.mark.parametrize(
    ("result", "body"),
    [
        (" -> Tensor", "if isinstance(e, Tensor):\n            return x\n        elif isinstance(e, Sparse):\n            return -x"),
        ("", "if isinstance(e, Tensor):\n            return x\n        else:\n            return x, x"),
        ("", "if isinstance(e, Tensor):\n            return x, x\n        return x"),
        ("", "if not isinstance(e, Tensor):\n            y = x\n        return y"),
        ("", "if isinstance(e, Tensor) and x.dim() > 2:\n            y = x\n        else:\n            y = 2\n        return x * y"),
        ("", "y = x if isinstance(e, Tensor) else 2\n        return x * y"),
    ],
)  # fmt: skip
def test_what_torch_compiles_after_a_test_of_an_unread_class_is_not_told(
    tmp_path: Path, type_: str, result: str, body: str
):
    """torch knows whether the test is true, and compiles the branch that is taken alone."""
    assert judged(tmp_path, ASKING.format(type=type_, result=result, body=body)).script == "unknown"


def test_what_both_branches_of_such_a_test_leave_is_known(tmp_path: Path):
    body = "if isinstance(e, Tensor):\n            y = 1\n        else:\n            y = 2\n        return y.relu()"
    assert judged(tmp_path, ASKING.format(type="Sparse", result="", body=body)).script == "blocked"
