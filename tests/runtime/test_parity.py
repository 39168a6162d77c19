"""What tracing freezes is found by varying the inputs; what generalises raises no alarm."""

from __future__ import annotations

import pytest

from tests.runtime.conftest import Attempting
from tsguard.report import Parity
from tsguard.runtime.plan import AttemptSpec

TRACE = AttemptSpec("trace")
HEAD = "import math, random\nimport numpy as np\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"


def net(body: str, init: str = "pass", default: str = "torch.rand(2, 4, 6)") -> dict[str, object]:
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    setup = "\n".join(f"        {line}" for line in init.splitlines())
    source = (
        f"{HEAD}class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n{setup}\n"
        f"    def forward(self, x):\n{lines}\n"
    )
    return {"source": source, "inputs": (default,), "specs": (TRACE,)}


HAZARDS = {
    "branch on values": net("if x.mean() > 0.5:\n    return x * 2\nreturn x"),
    "number from a tensor": net("return x * x.sum().item()"),
    "list from a tensor": net("return x * x.sum(0).tolist()[0][0]"),
    "through numpy": net("return x + torch.from_numpy(np.sort(x.detach().numpy(), axis=0))"),
    "loop until converged": net("while x.abs().max() > 0.1:\n    x = x / 2\nreturn x"),
    "comprehension over values": net(
        "return torch.stack([row * 2 for row in x if row.sum() > 12] or [x[0]])"
    ),
    "size as int": net("return x.sum() / int(x.shape[0])"),
    "branch on size": net("return x * 2 if x.shape[0] > 2 else x"),
    "loop over the batch": net(
        "total = x[0] * 0\nfor i in range(x.shape[0]):\n    total = total + x[i]\nreturn total"
    ),
    "iteration over a tensor": net("return sum(row for row in x)"),
    "list of parts": net("return torch.stack(x.unbind(1)).sum(0) * len(x.unbind(1))"),
    "random module": net("return x * random.random()"),
    "python counter": net("self.n += 1\nreturn x * self.n", "self.n = 0"),
    "cache of the first call": net(
        "if self.seen is None:\n    self.seen = x.mean()\nreturn x - self.seen", "self.seen = None"
    ),
    "math on a size": net("return x / math.sqrt(x.shape[-1])"),
}
HARMLESS = {
    "view by size": net("return x.view(x.shape[0], -1)"),
    "mean over a size": net("return x.sum(0) / x.shape[0]"),
    "mask by comparison": net("return torch.where(x > 0.5, x, -x)"),
    "buffer update": net(
        "self.total += x.mean()\nreturn x + self.total", "self.register_buffer('total', torch.zeros(()))"
    ),
    "dropout": net("return F.dropout(x, 0.5, True)"),
    "rank check": net("assert x.dim() == 3\nreturn x * 2"),
    "constant loop": net("for i in range(3):\n    x = x + i\nreturn x"),
    "positions": net("return x + torch.arange(x.shape[1])[:, None]"),
    "batch norm": net("return self.norm(x)", "self.norm = nn.BatchNorm1d(4)"),
}


def parity_of(attempting: Attempting, case: dict[str, object]) -> Parity:
    parity = attempting(**case).attempts[TRACE].parity
    assert parity is not None
    return parity


@pytest.mark.parametrize("name", HAZARDS)
def test_a_hazard_diverges(attempting: Attempting, name: str) -> None:
    parity = parity_of(attempting, HAZARDS[name])
    assert not parity.ok
    shown = next(v for v in parity.variants if not v.equal)
    assert shown.name


@pytest.mark.parametrize("name", HARMLESS)
def test_the_harmless_is_equal(attempting: Attempting, name: str) -> None:
    parity = parity_of(attempting, HARMLESS[name])
    assert [v.name for v in parity.variants if not v.equal] == []
    assert parity.ok


@pytest.mark.parametrize(
    ("name", "is_tried"), [("buffer update", True), ("batch norm", False), ("positions", False)]
)
def test_a_second_call_is_tried_where_the_first_leaves_something(
    attempting: Attempting, name: str, is_tried: bool
) -> None:
    parity = parity_of(attempting, HARMLESS[name])
    assert ("a second call" in [variant.name for variant in parity.variants]) is is_tried


KEEPS = "the trace keeps the mode it was made in: {}()"


@pytest.mark.parametrize(
    ("layer", "in_eval", "in_train"),
    [
        ("nn.Linear(6, 6)", None, None),
        ("nn.Dropout(0.5)", KEEPS.format("eval"), KEEPS.format("train")),
        ("nn.BatchNorm1d(4)", KEEPS.format("eval"), KEEPS.format("train")),
        ("torch.jit.script(nn.Dropout(0.5))", None, None),
    ],
)
def test_a_trace_keeps_its_mode_where_that_means_something(
    attempting: Attempting, layer: str, in_eval: str | None, in_train: str | None
) -> None:
    case = net("return self.layer(x)", f"self.layer = {layer}")
    train = AttemptSpec("trace", mode="train")
    attempts = attempting(**{**case, "specs": (TRACE, train)}).attempts
    assert (attempts[TRACE].note, attempts[train].note) == (in_eval, in_train)


@pytest.mark.parametrize(
    ("body", "note"),
    [
        ("return x * 2", None),
        ("return x + torch.rand(1)", None),
        (
            "self.calls.count += 1\nreturn x + self.calls.count",
            "the result differs from call to call with the same inputs, seed and state",
        ),
    ],
)
def test_it_is_said_of_eager_that_it_does_not_repeat_itself(
    attempting: Attempting, body: str, note: str | None
) -> None:
    found = attempting(**net(body, "import types\nself.calls = types.SimpleNamespace(count=0)"))
    assert found.attempts[AttemptSpec("eager")].note == note


@pytest.mark.parametrize("calls", range(3, 9))
def test_what_raises_at_a_later_call_differs_from_call_to_call(attempting: Attempting, calls: int) -> None:
    body = f"self.calls.count += 1\nif self.calls.count > {calls}:\n    raise RuntimeError('enough')\n"
    counting = net(
        f"{body}return x + self.calls.count", "import types\nself.calls = types.SimpleNamespace(count=0)"
    )
    eager = attempting(**counting).attempts[AttemptSpec("eager")]
    assert eager.status == "ok"
    assert eager.note == "the result differs from call to call with the same inputs, seed and state"


def test_what_there_was_no_time_for_is_told_apart_from_what_eager_refuses() -> None:
    torch = pytest.importorskip("torch")
    from tsguard.runtime.worker.parity import Eager
    from tsguard.runtime.worker.running import Call

    call = Call((torch.randn(2, 4),), {})
    hurried = Eager(torch.nn.Linear(4, 4), call, backward=False, seconds=-1.0)
    patient = Eager(torch.nn.Linear(4, 4), call, backward=False)
    assert len(hurried.answers) == 1
    assert hurried.unasked >= {variant.name for variant, _ in patient.answers[1:]}
    assert patient.unasked == set()


def test_gradients_that_cancel_out_are_rounding() -> None:
    torch = pytest.importorskip("torch")
    from tsguard.runtime.worker.comparison import compare_gradients

    left, right = {"w": torch.tensor([3e-8, 0.0])}, {"w": torch.tensor([-2e-8, 1e-8])}
    outputs = torch.ones(4)
    assert not compare_gradients(left, right, dict).equal
    assert compare_gradients(left, right, dict, outputs).equal
    assert not compare_gradients({"w": left["w"] * 1e3}, right, dict, outputs).equal


REORDERED = f"""{HEAD}class Part(nn.Module):
    def __init__(self, size, width):
        super().__init__()
        self.weight, self.width = nn.Parameter(torch.rand(size, width)), width
        self.a = nn.Parameter(torch.rand(2 * width, 1))
    def forward(self, x, near):
        h = torch.mm(x, self.weight)
        e = F.leaky_relu(h @ self.a[: self.width] + (h @ self.a[self.width :]).T)
        e = torch.where(near > 0, e, -9e15 * torch.ones_like(e))
        return F.elu(F.dropout(F.softmax(e, dim=1), 0.6, self.training) @ h)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList([Part(8, 8), Part(8, 8)])
        self.last = Part(16, 3)
    def forward(self, x, near):
        x = F.dropout(x, 0.6, self.training)
        x = torch.cat([part(x, near) for part in self.parts], 1)
        return self.last(x, near)
"""


def test_numbers_drawn_in_another_order_are_no_difference(attempting: Attempting) -> None:
    train = AttemptSpec("trace", mode="train")
    inputs = ("torch.randn(2, 8)", "torch.randn(2, 2)")
    attempt = attempting(source=REORDERED, inputs=inputs, specs=(train,)).attempts[train]
    assert attempt.status == "ok", attempt.error
    assert (attempt.note or "").startswith("torch's optimiser draws random numbers in another order")


def test_gradients_are_of_the_inputs_that_were_given(attempting: Attempting) -> None:
    train = AttemptSpec("trace", mode="train")
    source = (
        f"{HEAD}class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer = nn.Linear(6, 6)\n"
        "    def forward(self, x):\n        x[0] = self.layer(x[0])\n        return x[0]\n"
    )
    attempt = attempting(source=source, inputs=("[torch.rand(2, 6)]",), specs=(train,)).attempts[train]
    assert attempt.status == "ok", attempt.error
