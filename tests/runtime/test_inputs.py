"""Inputs and constructor arguments found without being told, and shown so that they can be kept."""

from __future__ import annotations

import pytest

from tests.runtime.conftest import SCRIPT_AND_TRACE, Attempting
from tsguard.runtime.needs import needs
from tsguard.runtime.plan import AttemptSpec

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import Tensor, nn\nfrom typing import Dict, List, Optional, Tuple\n\n"
SCRIPT = (AttemptSpec("script"),)


def net(init: str, signature: str, *body: str, parameters: str = "") -> str:
    setup = "".join(f"        {line}\n" for line in init.split("; ")) if init else ""
    lines = "".join(f"        {line}\n" for line in body)
    return (
        f"{HEAD}class Net(nn.Module):\n    def __init__(self{parameters}):\n        super().__init__()\n{setup}\n"
        f"    def forward(self, {signature}):\n{lines}"
    )


MODELS = {
    "linear first": net("self.fc = nn.Linear(7, 3)", "x", "return self.fc(x)"),
    "convolution first": net("self.c = nn.Conv2d(5, 3, 3)", "x", "return self.c(x)"),
    "convolution in three dimensions": net("self.c = nn.Conv3d(2, 3, 3)", "x", "return self.c(x)"),
    "flatten to a fixed size": net(
        "self.c = nn.Conv2d(1, 4, 3); self.fc = nn.Linear(4 * 26 * 26, 10)", "x", "return self.fc(self.c(x).flatten(1))"
    ),
    "a length that is flattened": net(
        "self.c = nn.Conv1d(7, 4, 3); self.fc = nn.Linear(4 * 4, 10)", "x", "return self.fc(self.c(x.transpose(1, 2)).flatten(1))"
    ),
    "a length under strides beside a row": net(
        "self.c = nn.Conv1d(1, 4, 5, stride=2); self.fc = nn.Linear(4 * 9 + 3, 10)",
        "x, row",
        "return self.fc(torch.cat([self.c(x.unsqueeze(1)).flatten(1), row[:, :3]], 1))",
    ),
    "embedding": net("self.e = nn.Embedding(11, 6)", "ids", "return self.e(ids)"),
    "embedding under an odd name": net("self.e = nn.Embedding(11, 6)", "z", "return self.e(z)"),
    "learned positions": net(
        "self.e = nn.Embedding(50, 8); self.p = nn.Parameter(torch.zeros(1, 12, 8))", "ids", "return self.e(ids) + self.p"
    ),
    "recurrent": net("self.r = nn.LSTM(9, 4, batch_first=True)", "x", "return self.r(x)[0]"),
    "recurrent state": net(
        "self.r = nn.GRUCell(9, 4)", "x: Tensor, h: Tensor", "return self.r(x, h)"
    ),
    "state as a tuple": net(
        "self.r = nn.LSTMCell(9, 4)", "x: Tensor, state: Tuple[Tensor, Tensor]", "return self.r(x, state)"
    ),
    "two states without a type": net(
        "self.r = nn.LSTM(9, 4, 2)", "x, hidden", "y, hidden = self.r(x, hidden)", "return y"
    ),
    "a dimension that is added": net(
        "self.c = nn.Conv1d(1, 4, 3)", "x", "x = x.unsqueeze(1) if x.dim() > 1 else x", "return self.c(x)"
    ),
    "a tensor that is a condition": net("", "x: Tensor, train: Tensor", "return x * 2 if train else x"),
    "attention over two sequences": net(
        "self.a = nn.MultiheadAttention(8, 2, batch_first=True)", "query, context", "return self.a(query, context, context)[0]"
    ),
    "rank from unpacking": net("", "x", "b, c, h, w = x.shape", "return x.reshape(b, c, h * w)"),
    "channels by hand": net("self.w = nn.Parameter(torch.ones(6, 1, 1))", "x", "b, c, h, w = x.shape", "return x * self.w"),
    "asserted size": net(
        "self.size = 48; self.c = nn.Conv2d(3, 4, 1)", "x", "assert x.shape[-1] == self.size, 'wrong size'", "return self.c(x)"
    ),
    "checked size": net(
        "self.limit = 9; self.fc = nn.Linear(4, 4)",
        "x",
        "if x.shape[1] != self.limit:",
        "    raise ValueError('bad length')",
        "return self.fc(x)",
    ),
    "asserted sizes after the batch": net(
        "self.size = torch.Size((5, 7)); self.fc = nn.Linear(35, 3)",
        "x",
        "if x.shape[1:] != self.size:",
        "    raise ValueError('other sizes')",
        "return self.fc(x.flatten(1))",
    ),
    "divisible size": net("self.c = nn.Conv2d(3, 4, 1)", "x", "assert x.size(2) % 7 == 0", "return self.c(x)"),
    "patches": net(
        "self.c = nn.Conv2d(3, 8, 16, 16); self.p = nn.Parameter(torch.zeros(1, 196, 8))",
        "img",
        "return self.c(img).flatten(2).transpose(1, 2) + self.p",
    ),
    "mask": net("", "x: Tensor, mask: Tensor", "return x.masked_fill(~mask[..., None], 0.0).sum(1)"),
    "list of dicts": net(
        "pass", "batch: List[Dict[str, Tensor]]", "return torch.stack([i['image'] * i['mask'] for i in batch])"
    ),
    "dict of features": net("self.fc = nn.Linear(5, 2)", "batch: Dict[str, Tensor]", "return self.fc(batch['feats'])"),
    "list of tensors": net("self.fc = nn.Linear(5, 2)", "xs: List[Tensor]", "return self.fc(torch.stack(xs)).sum()"),
    "time step": net("self.fc = nn.Linear(4, 4)", "x, t", "return self.fc(x) * t[:, None]"),
    "number": net("", "x: Tensor, n: int, p: float", "return x.repeat(n, 1, 1) * p"),
    "indices": net("", "x: Tensor, index: Tensor", "return x[index]"),
    "lengths": net("", "x: Tensor, lengths: Tensor", "return x.cumsum(1)[torch.arange(x.size(0)), lengths]"),
    "optional that is needed": net("self.fc = nn.Linear(4, 4)", "x, context: Optional[Tensor] = None", "return self.fc(x) + context.sum()"),
    "sizes of their own in a dictionary": net(
        "self.a = nn.Linear(5, 3); self.b = nn.Linear(7, 3)", "batch", "return self.a(batch['left']) + self.b(batch['right'])"
    ),
    "sizes of their own in an object": net(
        "self.a = nn.Linear(5, 3); self.b = nn.Conv2d(4, 3, 1)", "data", "return self.a(data.x), self.b(data.image)"
    ),
    "sizes of their own in a tuple": net(
        "self.a = nn.Linear(5, 3); self.b = nn.Linear(7, 3)", "pair: Tuple[Tensor, Tensor]", "return self.a(pair[0]) + self.b(pair[1])"
    ),
    "keyword only": net("self.fc = nn.Linear(4, 4)", "x, *, scale: float", "return self.fc(x) * scale"),
    "loss": net("self.fc = nn.Linear(4, 3)", "x, labels", "return F.cross_entropy(self.fc(x), labels)"),
    "shapes that must be one": net(
        "self.fc = nn.Linear(4, 3)", "x, wanted", "return F.binary_cross_entropy_with_logits(self.fc(x), wanted)"
    ),
    "constructor of sizes": net(
        "self.fc = nn.Linear(in_features, hidden_dim)", "x", "return self.fc(x)", parameters=", in_features, hidden_dim, dropout=0.1"
    ),
    "constructor with a check": net(
        "assert dim % heads == 0; assert mode in ('sum', 'max'); self.mode = mode; self.fc = nn.Linear(dim, heads)",
        "x",
        "return self.fc(x)",
        parameters=", dim, heads, mode",
    ),
    "constructor with a module": net("self.block = block", "x: Tensor", "return self.block(x)", parameters=", block: nn.Module"),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_a_model_needs_no_configuration(attempting: Attempting, name: str) -> None:
    found = attempting(MODELS[name], specs=SCRIPT)
    assert found.stop is None, found.stop
    assert found.attempts[AttemptSpec("eager")].status == "ok"
    assert found.guessed


@pytest.mark.parametrize("name", ["patches", "state as a tuple", "constructor with a check", "keyword only"])
def test_what_was_found_can_be_given(attempting: Attempting, name: str) -> None:
    found = attempting(MODELS[name], specs=SCRIPT)
    again = attempting(MODELS[name], found.constructor or "Net", specs=SCRIPT, inputs=found.inputs)
    assert again.source == "given"
    assert again.attempts[AttemptSpec("eager")].status == "ok"


def test_calls_in_the_same_file_are_taken(attempting: Attempting) -> None:
    source = (
        MODELS["constructor of sizes"] + "\nif __name__ == '__main__':\n    model = Net(21, hidden_dim=5)\n"
    )
    found = attempting(source, specs=SCRIPT)
    assert (found.constructor, found.inputs) == ("Net(21, hidden_dim=5)", ("torch.randn(2, 21)",))


def test_get_module_and_example_inputs_are_taken(attempting: Attempting) -> None:
    base = MODELS["linear first"]
    found = attempting(
        base + "\ndef get_module():\n    return Net(), {'x': torch.ones(1, 7)}\n", specs=SCRIPT
    )
    assert (found.source, found.inputs) == ("get_module()", None)
    found = attempting(base + "\ndef example_inputs():\n    return torch.ones(4, 7)\n", specs=SCRIPT)
    assert (found.source, found.attempts[AttemptSpec("script")].status) == ("example_inputs()", "ok")


def test_a_part_borrows_from_the_whole(launcher, tmp_path) -> None:  # type: ignore[no-untyped-def]
    from tests.runtime.conftest import QUICK, subject_in
    from tsguard.runtime.attempts import Assignment
    from tsguard.runtime.pool import attempt_all
    from tsguard.runtime.progress import Progress
    from tsguard.runtime.site import LocalSite

    file = tmp_path / "model.py"
    file.write_text(
        HEAD
        + "class Part(nn.Module):\n    def __init__(self, config):\n        super().__init__()\n"
        + "        self.fc = nn.Linear(config['width']['in'], 3)\n    def forward(self, x, table: Dict[str, int]):\n"
        + "        return self.fc(x) * table['a']['b'] if isinstance(table['a'], dict) else self.fc(x)\n\n"
        + "class Whole(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        + "        config = {'width': {'in': 6}}\n        self.part = Part(config)\n        self.fc = nn.Linear(4, 6)\n"
        + "    def forward(self, x):\n        return self.part(self.fc(x), {'a': 1})\n"
    )
    assignments = [Assignment(subject_in(file, name), SCRIPT) for name in ("Part", "Whole")]
    part, whole = attempt_all(LocalSite(launcher, [], 2), assignments, QUICK, Progress())
    assert whole.callable
    assert part.constructor == "Whole().get_submodule('part')"
    assert part.inputs == ("torch.randn(2, 6)", "{'a': 1}")
    assert part.attempts[AttemptSpec("eager")].status == "ok"


def test_what_training_asks_for_besides_is_guessed_too(attempting: Attempting) -> None:
    source = net(
        "self.fc = nn.Linear(3, 3)",
        "x, targets: Optional[Dict[str, Tensor]] = None",
        "if self.training and targets is None:",
        "    raise ValueError('targets should be passed in training')",
        "return self.fc(x) if targets is None else self.fc(x).mean() - targets['wanted'].sum()",
    )
    specs = tuple(
        AttemptSpec(backend, mode=mode) for mode in ("eval", "train") for backend in ("script", "trace")
    )
    found = attempting(source, specs=specs)
    assert found.inputs == ("torch.randn(2, 3)",)
    in_training = found.attempts[AttemptSpec("eager", mode="train")]
    assert in_training.status == "ok"
    assert "targets={'wanted': torch." in (in_training.note or "")
    assert found.attempts[AttemptSpec("script", mode="train")].status == "ok"


def test_a_guess_is_tried_with_the_chance_that_it_is_run_with(attempting: Attempting) -> None:
    from tsguard.runtime.worker.running import SEED

    source = net(
        "",
        "x",
        f"wanted = torch.rand((), generator=torch.Generator().manual_seed({SEED}))",
        "if torch.rand(()) != wanted:",
        "    raise ValueError('another draw')",
        "return x * 2",
    )
    found = attempting(source, specs=SCRIPT)
    assert found.attempts[AttemptSpec("eager")].status == "ok"


IMAGES = "[torch.randn(3, 64, 64), torch.randn(3, 64, 80)]"
PAIR = "from typing import NamedTuple\n\nclass Pair(NamedTuple):\n    left: Tensor\n    right: Tensor\n\n"
TYPED = {
    "images": ("List[Tensor]", "return torch.stack([i.mean() for i in images])", IMAGES),
    "features": ("Dict[str, Tensor]", "return features['a'].sum()", "{'a': torch.randn(2, 16, 16, 16)}"),
    "pair": ("Tuple[Tensor, int]", "return pair[0] * pair[1]", "(torch.randn(2, 16, 64), 4)"),
    "x": ("int", "return torch.ones(x)", "4"),
    "kind": ("str", "return torch.ones(len(kind) + 1)", "''"),
    "both": (
        "Pair",
        "return both.left + both.right",
        "Pair(left=torch.randn(2, 16, 64), right=torch.randn(2, 16, 64))",
    ),
}


@pytest.mark.parametrize("commented", [False, True], ids=["annotation", "type comment"])
@pytest.mark.parametrize("name", TYPED)
def test_declared_types_decide(attempting: Attempting, name: str, commented: bool) -> None:
    kind, body, expected = TYPED[name]
    if commented:
        source = net(
            "", f"{name}, rest=None", f"# type: ({kind}, Optional[List[Dict[str, Tensor]]]) -> Tensor", body
        )
    else:
        source = net("", f"{name}: {kind}, rest: Optional[List[Dict[str, Tensor]]] = None", body)
    found = attempting(source.replace("class Net", PAIR + "class Net"), specs=SCRIPT)
    assert found.inputs == (expected,)
    assert found.attempts[AttemptSpec("script")].status == "ok"


def test_inputs_that_the_compiled_module_refuses_are_guessed_again(attempting: Attempting) -> None:
    found = attempting(net("", "x, n_times", "return x * n_times"), specs=SCRIPT_AND_TRACE)
    assert found.inputs is not None
    assert found.inputs[1].startswith("torch.")
    assert {attempt.status for attempt in found.attempts.values()} == {"ok"}


def test_a_guess_that_the_compiled_module_refuses_is_no_failure(attempting: Attempting) -> None:
    body = "return x * n if torch.jit.is_scripting() else x * int(n.pop())"
    script = attempting(net("", "x, n", body), specs=SCRIPT).attempts[AttemptSpec("script")]
    assert script.status != "failed" or "Expected a value of type" not in str(script.error)


def test_constructor_arguments_that_cannot_be_found_are_asked_for(attempting: Attempting) -> None:
    source = net(
        "self.fc = nn.Linear(int(open(table).read()), 2)",
        "x",
        "return self.fc(x)",
        parameters=", table, kind",
    )
    need = needs(attempting(source, specs=SCRIPT))
    assert need is not None
    assert need.what == "constructor arguments"
    assert "'model.py:Net(table=..., kind=...)'" in need.help


def test_inputs_that_cannot_be_found_are_asked_for(attempting: Attempting) -> None:
    found = attempting(net("", "x", "return x.secret(7).value"), specs=SCRIPT)
    need = needs(found)
    assert need is not None
    assert need.what == "example inputs"
    assert "--input 'SimpleNamespace(secret=torch." in need.help
    # Whether it compiles does not depend on inputs.
    assert found.attempts[AttemptSpec("script")].status == "failed"


UNMET = {
    # An operation that refuses some inputs, and a branch that some inputs reach, are no fault of the module.
    "an operation": ("return F.interpolate(x[..., None, None, None, None], scale_factor=2.0, mode='linear')", True),
    "a branch": ("if x.dim() < 99:\n            raise NotImplementedError('of this kind')\n        return x", True),
    "not written yet": ("raise NotImplementedError('yet to be done')", False),
}  # fmt: skip


@pytest.mark.parametrize("name", UNMET)
def test_what_inputs_lead_to_is_no_fault_of_the_module(attempting: Attempting, name: str) -> None:
    body, asked_for = UNMET[name]
    assert (needs(attempting(net("", "x", body), specs=SCRIPT)) is not None) == asked_for


def test_where_time_is_short_lists_get_shorter_and_batches_smaller() -> None:
    pytest.importorskip("torch", reason="inputs are guessed where torch is")
    from tsguard.runtime.worker.inputs.moves import single
    from tsguard.runtime.worker.inputs.specs import Argument, Guess, SequenceSpec, TensorSpec

    picture, batch = TensorSpec((3, 64, 64)), TensorSpec((2, 5))
    guess = Guess((Argument("images", SequenceSpec((picture, picture))), Argument("x", batch)))
    assert single(guess).expressions() == ("[torch.randn(3, 64, 64)]", "torch.randn(1, 5)")
