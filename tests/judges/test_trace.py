"""The trace judge: what it reports of common code, what it keeps quiet about, its paths and advice."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tsguard.analysis.python import Program
from tsguard.judges import Judgement, judge
from tsguard.project import Project
from tsguard.project.targets import find_target

IMPORTS = """\
import math
import torch
import torch.nn.functional as F
from torch import nn
"""


@pytest.fixture
def judged(tmp_path: Path):
    """Judge the last class or function of a source; other files, by name, lie beside it."""

    def run(source: str, **others: str) -> Judgement:
        for name, text in others.items():
            (tmp_path / f"{name}.py").write_text(IMPORTS + textwrap.dedent(text), encoding="utf-8")
        path = tmp_path / "model.py"
        path.write_text(IMPORTS + textwrap.dedent(source), encoding="utf-8")
        project = Project((tmp_path,))
        target = "Net" if "class Net" in source else "f"
        return judge(Program(project), find_target(project.module(path), target))

    return run


def codes(judgement: Judgement) -> list[str]:
    """The codes of the family that are more than notes."""
    found = sorted(
        (f.line, f.code) for f in judgement.findings if f.family == "trace" and f.severity != "info"
    )
    return [code for _, code in found]


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("class Net(nn.Module):\n    forward = lambda self, x: x.dim() > 1", "TSG219"),
        (
            "class Net(nn.Module):\n    def forward(self, x):\n        return x.dim() > 1\n\n"
            "    __call__ = lambda self, x: super(Net, self).__call__(x)",
            "TSG219",
        ),
        ("def f(x):\n    return x * 2 if x.sum() > 0 else x", "TSG201"),
        ("def f(x):\n    return x * 2 if (x > 0).any() and x.size(0) else x", "TSG201"),
        ("def f(x, y):\n    return x if x.shape == y.shape else x + y", "TSG202"),
        ("def f(x):\n    pad = -x.size(1) % 4\n    return F.pad(x, (0, pad)) if pad else x", "TSG202"),
        ("def f(x):\n    while x.norm() > 1:\n        x = x / 2\n    return x", "TSG204"),
        ("def f(x):\n    return torch.stack([x[i] * i for i in range(len(x))])", "TSG208"),
        ("def f(x):\n    return torch.stack([x[i] * i for i in range(x.size(0))])", "TSG205"),
        ("def f(x):\n    return torch.stack([row.sum() for row in x.abs()])", "TSG205"),
        ("def f(x):\n    return x / math.sqrt(x.size(-1))", "TSG208"),
        ("def f(x):\n    return x * len(f'{x.size(0)}')", "TSG208"),
        ("def f(x):\n    return x / len(torch.unique(x))", "TSG208"),
        ("ALL = [1.0, 2.0, 3.0]\n\ndef f(x):\n    return x * sum(ALL[: x.size(0)])", "TSG208"),
        (
            "class Net(nn.Module):\n    calls = 0\n\n    def forward(self, x):\n        Net.calls += 1\n        return x * Net.calls",
            "TSG214",
        ),
        ("def f(x):\n    return nn.ConvTranspose2d(3, 3, 3, 2)(x, output_size=x.size())", "TSG211"),
        (
            "def rows(x):\n    for i in range(x.size(0)):\n        yield x[i]\n\ndef f(x):\n    return sum(rows(x))",
            "TSG205",
        ),
        ("def rows(x):\n    yield from x\n\ndef f(x):\n    return sum(r * 2 for r in rows(x))", "TSG205"),
        (
            "def halves(x):\n    if x.sum() > 0:\n        yield x\n    yield x / 2\n\ndef f(x):\n    return sum(halves(x))",
            "TSG201",
        ),
        ("def f(x):\n    yield x", "TSG219"),
        ("def f(x, *, scale):\n    return x * scale", "TSG218"),
    ],
)
def test_what_the_trace_bakes_is_found(judged, source: str, code: str):
    judgement = judged(source)
    assert judgement.trace == "hazardous"
    assert code in codes(judgement)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return x.view(x.size(0), -1) * x.shape[1] ** -0.5",
        "def f(x):\n    h = -(-x.size(1) // 2)\n    return x[:, :h]",
        "def f(x):\n    return x + torch.arange(x.size(1)) / x.numel()",
        "def f(x):\n    a, b = x.chunk(2, -1)\n    return a * b.sigmoid()",
        "def f(x):\n    return torch.unique(x, return_counts=True)[1].sum() * x",
        "def f(x):\n    print('shape', x.shape)\n    return x * 2",
        "def f(x, weight=None):\n    return x if weight is None else x * weight",
        "def f(x):\n    if x.dim() != 2:\n        raise ValueError(f'{x.dim()} dimensions')\n    return x * 2",
    ],
)
def test_what_stays_symbolic_or_is_given_is_not(judged, source: str):
    judgement = judged(source)
    assert codes(judgement) == []
    assert judgement.trace == "safe"


def test_a_finding_tells_the_way_from_the_input_through_calls_of_other_files(judged):
    judgement = judged(
        """
        from parts import limit

        class Net(nn.Module):
            def forward(self, x):
                scores = x.softmax(-1)
                return limit(scores)
        """,
        parts="""
        def limit(scores):
            top = scores.max()
            if top > 0.5:
                return scores / top
            return scores
        """,
    )
    [finding] = [f for f in judgement.findings if f.code == "TSG201"]
    assert finding.path.endswith("parts.py")
    assert finding.chain == ("Net.forward", "limit")
    assert "x -> x.softmax(-1) -> scores.max()" in finding.message


@pytest.mark.parametrize(
    ("source", "severity"),
    [
        ("@torch.jit.script\ndef f(x, n: int):\n    return x * n", "info"),
        ("def f(x, n: int):\n    return x * n\n\nscripted = torch.jit.script(f)", "info"),
        ("def f(x, n: int):\n    return x * n\n\ntraced = torch.jit.trace(torch.jit.script(f), ())", "error"),
        ("def f(x, n: int):\n    return x * n", "error"),
    ],
)
def test_what_is_only_ever_scripted_need_not_be_traceable(judged, source: str, severity: str):
    judgement = judged(source)
    assert judgement.trace == "hazardous"
    assert {f.severity for f in judgement.findings if f.code == "TSG218"} == {severity}


@pytest.mark.parametrize(
    "failing",
    [
        "@torch.jit.trace\ndef other(x):\n    return x",
        "def other(xs: List[int]):\n    return xs",
        "class Options:\n    sizes: List[int] = []",
    ],
)
def test_nothing_goes_well_in_a_file_that_cannot_be_imported(judged, failing: str):
    judgement = judged(f"{failing}\n\n@torch.jit.script\ndef f(x):\n    return x * 2")
    assert (judgement.script, judgement.trace) == ("unknown", "unknown")
    assert "cannot be imported" in judgement.unknown[0].why
    assert "cannot be imported" in judgement.trace_unknown[0].why


@pytest.mark.parametrize(
    "harmless",
    [
        "def lazily():\n    @torch.jit.trace\n    def other(x):\n        return x",
        "def other(xs):\n    sizes: List[int] = xs\n    return sizes",
        "if math.pi < 3:\n    @torch.jit.trace\n    def other(x):\n        return x",
    ],
)
def test_what_no_import_runs_keeps_nothing_from_going_well(judged, harmless: str):
    judgement = judged(f"{harmless}\n\n@torch.jit.script\ndef f(x):\n    return x * 2")
    assert (judgement.script, judgement.trace) == ("ok", "safe")


@pytest.mark.parametrize(
    "test",
    [
        "x.size(0) == y.size(0) and x.size(1) == 4",
        "not x.size(0) % 2",
        "1 < x.size(0) < 5",
        "x.sum() > 0 or x.dim() == 1",
    ],
)
def test_an_assertion_is_one_note(judged, test: str):
    judgement = judged(f"def f(x, y):\n    assert {test}\n    return x + y")
    asked = ("TSG201", "TSG202", "TSG203", "TSG237")
    found = {(f.line, f.column, f.code) for f in judgement.findings if f.code in asked}
    assert {code for *_, code in found} == {"TSG237"}
    assert len(found) == 1
    assert judgement.trace == "safe"


def test_what_an_inherited_forward_returns_is_found_in_its_own_file(judged):
    judgement = judged(
        """
        from parts import Base

        class Net(Base):
            pass
        """,
        parts="""
        class Base(nn.Module):
            def forward(self, x):
                return {"twice": x * 2}
        """,
    )
    [finding] = [f for f in judgement.findings if f.code == "TSG219"]
    assert finding.path.endswith("parts.py")


def test_modules_and_tensors_that_generators_yield_are_followed(judged):
    judgement = judged(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList(self.make())
                self.drop = nn.Dropout()

            def make(self):
                for _ in range(2):
                    yield nn.Linear(4, 4)

            def levels(self, x):
                for layer in self.layers:
                    yield self.drop(layer(x))

            def forward(self, x):
                low, high = self.levels(x)
                return low + high
        """
    )
    assert judgement.trace == "safe"
    assert [layer.attribute for layer in judgement.layers] == ["drop"]


def test_conditions_on_weights_are_noted_and_those_on_their_shape_are_not(judged):
    module = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(4))

            def forward(self, x):
                if self.scale.{what}:
                    x = x * self.scale
                return x
    """
    on_weights, on_shape = (judged(module.format(what=what)) for what in ("sum() > 0", "shape[0] == 4"))
    assert [f.code for f in on_weights.findings if f.family == "trace"] == ["TSG238"]
    assert [f.code for f in on_shape.findings if f.family == "trace"] == []
    assert on_weights.trace == on_shape.trace == "safe"


LAZY = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.shape = None

        def forward(self, x):
            if self.shape != x.shape:
                self.offsets = {value}
                self.shape = x.shape
            return x + self.offsets
"""


def test_attributes_filled_under_a_guard_are_state_unless_they_are_constants(judged):
    assert "TSG214" in codes(judged(LAZY.format(value="x.mean()")))
    assert codes(judged(LAZY.format(value="1.0"))) == []


REGISTERED = """
    SEEN = set()

    def register(kind, x):
        if kind in SEEN:
            return{early}
        print("new", kind)
        SEEN.add(kind){late}

    class Net(nn.Module):
        def forward(self, x):
            kept = register(type(x), x)
            return x if kept is None else kept
"""


def test_what_a_function_does_once_and_gives_nothing_back_of_is_no_state(judged):
    assert codes(judged(REGISTERED.format(early="", late=""))) == []
    assert codes(judged(REGISTERED.format(early=" x * 2", late=""))) == ["TSG214"]
    assert codes(judged(REGISTERED.format(early="", late="; return x * 2"))) == ["TSG214"]


SIDES = """
    def f(x):
        if torch.jit.is_tracing():
            n = {traced}
        else:
            n = {eager}
        return x[:n]
"""


def test_another_side_for_tracing_is_a_hazard_only_where_that_of_eager_can_be_traced(judged):
    rounded = judged(SIDES.format(traced="-(-x.size(0) // 2)", eager="math.ceil(x.size(0) / 2)"))
    assert (rounded.trace, codes(rounded)) == ("safe", [])
    other = judged(SIDES.format(traced="x.size(0) // 2", eager="x.size(0) // 3"))
    assert (other.trace, codes(other)) == ("hazardous", ["TSG217"])
    alone = judged(SIDES.format(traced="0", eager="x.size(0) // 3"))
    assert (alone.trace, codes(alone)) == ("hazardous", ["TSG217"])


ASKED = """
    import torch.fx

    def is_traced(x):
        traced = torch.jit.is_tracing() or torch.compiler.is_compiling()
        traced |= isinstance(x, torch.fx.Proxy)
        return traced

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.flag = True

        def forward(self, x, mask):
            n, told = x.shape[0] // 2, False
            if {test}:
                return {value}
            return x * mask
"""


@pytest.mark.parametrize(
    ("test", "value", "verdict"),
    [
        ("not is_traced(mask) and (mask == 1).all()", "x", "unknown"),
        ("not is_traced(mask) and self.flag", "x", "hazardous"),
        ("is_traced(mask)", "x", "hazardous"),
        ("torch.jit.is_tracing() and isinstance(mask, torch.Tensor)", "x", "hazardous"),
        ("torch.jit.is_tracing() and isinstance(n, torch.Tensor)", "x * mask", "safe"),
        ("torch.jit.is_tracing() and isinstance(told, torch.Tensor)", "x", "safe"),
    ],
)
def test_what_eager_does_for_some_inputs_only_may_be_the_same(judged, test, value, verdict):
    assert judged(ASKED.format(test=test, value=value)).trace == verdict


SETTLED = """
    def f(x):
        mask, none = torch.ones(x.shape[0]), None
        if {test}:
            return x * 2
        return x * mask[0]
"""


@pytest.mark.parametrize(
    ("test", "verdict"),
    [
        ("x.shape[0] > 3 and mask is None and x.shape[1] > 2", "safe"),
        ("x.shape[0] > 3 or mask is not None", "safe"),
        ("x.shape[0] > 3 and none is None", "hazardous"),
    ],
)
def test_an_operand_that_decides_settles_those_before_it(judged, test, verdict):
    assert judged(SETTLED.format(test=test)).trace == verdict


MEANS = """
    def f(x):
        if torch._C._get_tracing_state():
            return x.flatten(2).mean(2)
        {otherwise}return torch.nn.functional.avg_pool2d(x, x.shape[2:]).flatten(1)
"""


@pytest.mark.parametrize("otherwise", ["", "else:\n            "])
def test_two_ways_of_their_own_are_not_known_to_differ(judged, otherwise):
    judgement = judged(MEANS.format(otherwise=otherwise))
    assert (judgement.trace, codes(judgement), judgement.export.verdict) == ("unknown", [], "exports")


PARTS = """
    class Gate(nn.Module):
        def forward(self, x: torch.Tensor):
            if x.sum() > 0:
                return x * 2
            return x

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(3, 3), Gate())

        def forward(self, *xs):
            return {result}
"""


def test_advice_names_the_parts_to_script(judged):
    advice = [f for f in judged(PARTS.format(result="self.body(sum(xs))")).findings if f.code == "TSG236"]
    assert [f.message.partition(" and ")[0] for f in advice] == ['script "body.1"']


def test_there_is_no_such_advice_where_scripting_parts_is_not_enough(judged):
    judgement = judged(PARTS.format(result="self.body(xs[0]) if xs[0].sum() > 0 else xs[0]"))
    assert "TSG236" not in [f.code for f in judgement.findings]


REST = """
    class Mixer(nn.Module):
        def forward(self, {inputs}):
            mix = lambda *xs: torch.stack(xs).sum(0)
            return {mixed}

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(3, 3), Mixer())

        def forward(self, x):
            if x.sum() > 0:
                x = x * 2
            return {result}
"""


def test_advice_names_the_parts_to_trace(judged):
    judgement = judged(REST.format(inputs="x", mixed="mix(x, x)", result="self.body(x)"))
    advice = [f for f in judgement.findings if f.code == "TSG236"]
    assert [f.message.partition(" and ")[0] for f in advice] == ['trace "body.1"']


@pytest.mark.parametrize(
    ("inputs", "mixed", "result"),
    [
        ("x", "mix(x, x)", "self.body(x) if max([1, 2], key=lambda n: -n) else x"),
        ("x", "mix(x, x) if x.sum() > 0 else x", "self.body(x)"),
        ("x", "[mix(x, x)]", "self.body(x)[0]"),
        ("x, y", "mix(x, y)", "self.body[1](x, x)"),
    ],
)
def test_there_is_no_such_advice_where_tracing_parts_is_not_enough(judged, inputs, mixed, result):
    judgement = judged(REST.format(inputs=inputs, mixed=mixed, result=result))
    assert (judgement.script, judgement.trace) == ("blocked", "hazardous")
    assert not [f for f in judgement.findings if f.message.startswith("trace ")]


BUFFER = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("past", torch.zeros(3))

        def forward(self, x):
            y = x + self.past
            {update}
            return y
"""


@pytest.mark.parametrize(
    ("update", "is_lost"),
    [
        ("self.past = y.mean(0)", True),
        ("self.past = self.past + y.mean(0)", True),
        ("self.past.copy_(y.mean(0))", False),
        ("self.past += y.mean(0)", False),
        ("self.past[:] = y.mean(0)", False),
        ("self.past = self.past.add_(y.mean(0))", False),
        ("self.past = self.past.to(x.device)", False),
        ("self.past = y.mean(0).add_(1)", True),
    ],
)
def test_a_buffer_that_is_replaced_is_state_that_no_trace_keeps(judged, update: str, is_lost: bool):
    assert ("TSG214" in codes(judged(BUFFER.format(update=update)))) is is_lost


@pytest.mark.parametrize(
    ("told", "is_hazard"),
    [
        ("warnings.warn('one')", False),
        ("print('one', x.max().item())", False),
        ("log.warning('one of %s', len(x))", False),
        ("pass", False),
        ("x = x * 2", True),
        ("tell('one')", True),
        # What it is told may change something on the way.
        ("print(self.counted())", True),
        ("print('one', x.add_(1))", True),
    ],
)
def test_a_branch_that_only_tells_something_is_lost_without_harm(judged, told: str, is_hazard: bool):
    found = codes(
        judged(f"""
        import logging
        import warnings

        log = logging.getLogger(__name__)

        class Net(nn.Module):
            def forward(self, x, tell):
                if x.shape[0] == 1:
                    {told}
                return x
        """)
    )
    assert ("TSG202" in found) is is_hazard


HOOKED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.kept = {{}}
        self.layer.register_forward_{kind}(self.hook)

    def hook(self, module, args, *result):
        {body}

    def forward(self, x):
        {forward}
"""


@pytest.mark.parametrize(
    ("kind", "body", "forward", "verdict"),
    [
        ("hook", "return result[0] * 2", "return self.layer(x)", "safe"),
        ("hook", "return result[0] if args[0].sum() > 0 else None", "return self.layer(x)", "hazardous"),
        (
            "pre_hook",
            "return args[0] * (2 if args[0].sum() > 0 else 1)",
            "return self.layer(x)",
            "hazardous",
        ),
        ("pre_hook", "return args[0].sum(0)", "y = self.layer(x)\n        return x[: y.size(0)]", "safe"),
    ],
)
def test_hooks_that_are_methods_are_followed(judged, kind: str, body: str, forward: str, verdict: str):
    assert judged(HOOKED.format(kind=kind, body=body, forward=forward)).trace == verdict


@pytest.mark.parametrize(
    ("forward", "verdict"),
    [
        ("self.kept['a'] = x * 2\n        return self.kept['a'] + 1", "safe"),
        ("y = self.layer(x)\n        return y + self.kept['b']", "safe"),
        (
            "self.kept['a'] = x\n        y = getattr(self, 'kept').get('c', x)\n        self.kept['c'] = x\n        return y",
            "hazardous",
        ),
        ("y = self.kept.get('a', x)\n        self.kept['a'] = x\n        return y", "hazardous"),
        (
            "if x.size(0) > 2:\n            self.kept['a'] = x\n        return self.kept['a']",
            "hazardous",
        ),
    ],
)
def test_what_a_call_puts_into_a_dict_and_takes_out_is_no_state(judged, forward: str, verdict: str):
    source = HOOKED.format(kind="hook", body="self.kept['b'] = result[0]", forward=forward)
    assert judged(source).trace == verdict


@pytest.mark.parametrize(
    ("register", "hook", "verdict"),
    [
        ("forward_hook", "a, kw, o: o * 2", "safe"),
        ("forward_hook", "a, kw, o: o if o.sum() > 0 else -o", "hazardous"),
        ("forward_pre_hook", "a, kw: ((a[0] * 2,), kw)", "safe"),
        ("forward_pre_hook", "a, kw: ((a[0] if a[0].sum() > 0 else -a[0],), kw)", "hazardous"),
    ],
)
def test_hooks_with_keywords_are_followed(judged, register: str, hook: str, verdict: str):
    judgement = judged(f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)
                self.layer.register_{register}(lambda m, {hook}, with_kwargs=True)

            def forward(self, x):
                return self.layer(x)
    """)
    assert (judgement.trace, judgement.mode) == (verdict, "independent")


@pytest.mark.parametrize(
    ("then", "verdict"), [("", "hazardous"), ("handle.remove()", "safe"), ("self.fc = nn.ReLU()", "safe")]
)
def test_a_backward_hook_is_refused_where_it_is_registered_unless_it_is_removed(
    judged, then: str, verdict: str
):
    judgement = judged(
        f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(2, 2)
                handle = self.fc.register_full_backward_hook(lambda *given: None)
                {then}

            def forward(self, x):
                return self.fc(x)
        """
    )
    assert judgement.trace == verdict
    lines = [f.line for f in judgement.findings if f.code == "TSG221"]
    assert lines == ([10] if verdict == "hazardous" else [])
