"""What code demands of its inputs: found by one run on stand-ins, so that the first try comes through."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.runtime.test_inputs import HEAD, net

torch = pytest.importorskip("torch", reason="inputs are searched where torch is")

CLASSES = """
from dataclasses import dataclass
from typing import NamedTuple

class Pair(NamedTuple):
    image: Tensor
    speed: Tensor

@dataclass
class State:
    place: Tensor
    speed: Tensor

"""
DEMANDS = {
    "two that are joined, divided by sizes of their names": (
        net("self.fc = nn.Linear(state_dim + act_dim, 3)", "state, action", "return self.fc(torch.cat([state, action], 1))",
            parameters=", state_dim=5, act_dim=2"),
        ["torch.randn(2, 5)", "torch.randn(2, 2)"],
    ),
    "two that are joined, without names": (
        net("self.fc = nn.Linear(10, 3)", "a, b", "return self.fc(torch.cat([a, b], -1))"),
        ["torch.randn(2, 5)", "torch.randn(2, 5)"],
    ),
    "three, of which two are joined again": (
        net("self.f = nn.Linear(12, 3); self.g = nn.Linear(8, 3)", "x, a, b",
            "return self.f(torch.cat([x, a, b], 1)) + self.g(torch.cat([x, a], 1)) + self.g(torch.cat([x, b], 1))"),
        ["torch.randn(2, 4)", "torch.randn(2, 4)", "torch.randn(2, 4)"],
    ),
    "a matrix that is flattened and joined": (
        net("self.fc = nn.Linear(16 + 9, 3)", "feats, turn",
            "d = self.fc(torch.cat([feats, turn.flatten(1)], -1))", "return turn @ d.unsqueeze(-1)", parameters=", feat_dim=16"),
        ["torch.randn(2, 16)", "torch.randn(2, 3, 3)"],
    ),
    "a layer of two inputs": (
        net("self.b = nn.Bilinear(4, 6, 3)", "left, right", "return self.b(left, right)"),
        ["torch.randn(2, 4)", "torch.randn(2, 6)"],
    ),
    "attention to something of another width": (
        net("self.a = nn.MultiheadAttention(8, 2, kdim=6, vdim=6, batch_first=True)", "x, other", "return self.a(x, other, other)[0]"),
        ["torch.randn(2, 16, 8)", "torch.randn(2, 16, 6)"],
    ),
    "a table of edges": (
        net("self.fc = nn.Linear(5, 3)", "x, edge_index", "row, col = edge_index",
            "return torch.zeros_like(x).index_add(0, col, x[row]) + self.fc(x).sum()"),
        ["torch.randn(16, 5)", "torch.randint(0, 16, (2, 20))"],
    ),
    "indices below the size of another input": (
        net("self.u = nn.Linear(5, 3); self.i = nn.Linear(7, 3)", "users, items, pairs",
            "return (self.u(users)[pairs[0]] * self.i(items)[pairs[1]]).sum(-1)"),
        ["torch.randn(16, 5)", "torch.randn(16, 7)", "torch.randint(0, 16, (2, 16))"],
    ),
    "bags with offsets": (
        net("self.e = nn.EmbeddingBag(9, 4)", "text, starts", "return self.e(text, starts)"),
        ["torch.randint(0, 9, (16,))", "torch.zeros((2,), dtype=torch.int64)"],
    ),
    "parts that have names": (
        net("", "normals, weights", "x, y, z = normals.unbind(-1)", "return torch.stack([x * y, y * z], -1) @ weights"),
        ["torch.randn(16, 3)", "torch.randn(2, 16)"],
    ),
    "a dictionary": (
        net("self.a = nn.Conv2d(3, 4, 3); self.b = nn.Linear(6, 4)", "obs",
            "return self.a(obs['image']).mean((2, 3)) + self.b(obs['speed'])"),
        ["{'speed': torch.randn(2, 6), 'image': torch.randn(2, 3, 64, 64)}"],
    ),
    "a dictionary that is read by keys of the module": (
        net("self.parts = nn.ModuleDict({'a': nn.Linear(3, 4), 'b': nn.Linear(5, 4)})", "obs: Dict[str, Tensor]",
            "return torch.cat([part(obs[key]) for key, part in self.parts.items()], -1)"),
        ["{'a': torch.randn(2, 3), 'b': torch.randn(2, 5)}"],
    ),
    "a named tuple": (
        net("self.a = nn.Conv2d(3, 4, 3); self.b = nn.Linear(6, 4)", "obs: Pair",
            "return self.a(obs.image).mean((2, 3)) + self.b(obs.speed)"),
        ["Pair(image=torch.randn(2, 3, 64, 64), speed=torch.randn(2, 6))"],
    ),
    "a dataclass": (
        net("self.fc = nn.Linear(6, 3)", "state: State", "return state.place + self.fc(torch.cat([state.place, state.speed], -1))"),
        ["State(place=torch.randn(2, 3), speed=torch.randn(2, 3))"],
    ),
    "a list with channels of their own": (
        net("self.m = nn.ModuleList([nn.Conv2d(3, 2, 1), nn.Conv2d(5, 2, 1)])", "maps",
            "return [m(maps[i]) for i, m in enumerate(self.m)]"),
        ["[torch.randn(2, 3, 64, 64), torch.randn(2, 5, 64, 64)]"],
    ),
    "complex numbers": (
        net("self.fc = nn.Linear(10, 10)", "field", "b, f, _ = torch.view_as_real(field).shape",
            "return self.fc(torch.view_as_real(field).reshape(b, f * 2))"),
        ["torch.randn(2, 5, dtype=torch.complex64)"],
    ),
    "a state of two": (
        net("self.r = nn.LSTM(5, 4, 2, batch_first=True)", "x, state", "y, state = self.r(x, state)", "return y, state"),
        ["torch.randn(2, 16, 5)", "(torch.randn(2, 2, 4), torch.randn(2, 2, 4))"],
    ),
    "classes, and a mask for them": (
        net("self.fc = nn.Linear(5, 3)", "x, labels, legal",
            "return F.cross_entropy(self.fc(x).masked_fill(~legal, -1e8), labels)"),
        ["torch.randn(2, 5)", "torch.randint(0, 3, (2,))", "torch.ones(2, 3, dtype=torch.bool)"],
    ),
    "what is added to scores": (
        net("self.fc = nn.Linear(5, 3)", "x, mask", "scores = self.fc(x) + mask", "return scores.softmax(-1)"),
        ["torch.randn(2, 5)", "torch.randn(2, 3)"],
    ),
    "targets that are values": (
        net("", "pred, target", "return F.binary_cross_entropy_with_logits(pred, target)"),
        ["torch.randn(2, 16, 64)", "torch.randn(2, 16, 64)"],
    ),
    "dimensions that are added behind": (
        net("self.c = nn.Conv2d(3, 4, 1); self.fc = nn.Linear(6, 4)", "x, style", "return self.c(x) * self.fc(style)[:, :, None, None]"),
        ["torch.randn(2, 3, 64, 64)", "torch.randn(2, 6)"],
    ),
    "places that are read one by one": (
        net("", "boxes, others", "return (boxes[:, 2] - boxes[:, 0]) * (others[:, 3] - others[:, 1])"),
        ["torch.randn(2, 3)", "torch.randn(2, 4)"],
    ),
    "maps of one size, joined by their channels": (
        net("self.g = nn.Conv2d(8, 1, 1); self.b = nn.Conv2d(5, 1, 1)", "a, b",
            "b = F.interpolate(b, size=a.shape[-2:])", "return self.g(torch.cat([a, b], 1)) + self.b(b)"),
        ["torch.randn(2, 3, 64, 64)", "torch.randn(2, 5, 64, 64)"],
    ),
    "numbers of repetitions": (
        net("", "x, times", "return torch.cat([torch.repeat_interleave(a, n, dim=0) for a, n in zip(x, times)])"),
        ["torch.randn(2, 2)", "torch.randint(0, 8, (2, 2))"],
    ),
    "numbers beside a first layer that takes indices": (
        net("self.e = nn.Embedding(9, 4); self.fc = nn.Linear(10, 3)", "tokens, places",
            "return self.fc(torch.cat([tokens[places], self.e(places)], -1))"),
        ["torch.randn(16, 6)", "torch.randint(0, 9, (16,))"],
    ),
    "as many rows as the values tell": (
        net("self.fc = nn.Linear(5, 3)", "x, batch",
            "return torch.zeros(int(batch.max()) + 1, 3).index_add_(0, batch, self.fc(x))"),
        ["torch.randn(2, 5)", "torch.randint(0, 8, (2,))"],
    ),
    "a text that is compared": (
        net("", "x, mode: str", "if mode == 'up':", "    return x * 2", "raise NotImplementedError(mode)"),
        ["torch.randn(2, 16, 64)", "'up'"],
    ),
}  # fmt: skip


def made(tmp_path: Path, source: str) -> tuple[object, ModuleType]:
    """The module of a source, and its file."""
    file = tmp_path / "demanding.py"
    file.write_text(source.replace(HEAD, HEAD + CLASSES))
    spec = importlib.util.spec_from_file_location("demanding", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["demanding"] = module
    spec.loader.exec_module(module)
    return module.Net().eval(), module


def calls(tmp_path: Path, source: str) -> tuple[object, list[tuple[str, ...]]]:
    """What is found, and the guesses of all calls that it took, those on stand-ins included."""
    from tsguard.runtime.worker.inputs import search

    callee, module = made(tmp_path, source)
    seen: list[tuple[str, ...]] = []
    found = search.find(callee, module, lambda guess: seen.append(guess.expressions()))
    return found, seen


@pytest.mark.parametrize("name", DEMANDS)
def test_what_is_demanded_is_what_is_tried(tmp_path: Path, name: str) -> None:
    from tsguard.runtime.worker.inputs.specs import Guess

    source, expected = DEMANDS[name]
    found, seen = calls(tmp_path, source)
    assert isinstance(found, Guess), found
    assert list(found.expressions()) == expected
    assert len(seen) <= 5, "few calls, and not a search"


def test_one_input_that_does_at_once_costs_one_call(tmp_path: Path) -> None:
    _, seen = calls(tmp_path, net("self.fc = nn.Linear(7, 3)", "x", "return self.fc(x)"))
    assert seen == [("torch.randn(2, 7)",)]


def test_a_name_that_misleads_is_left_aside(tmp_path: Path) -> None:
    body = "return self.fc(torch.cat([feats[i], feats[j], (pos[i] - pos[j]).pow(2).sum(1, keepdim=True)], 1)) + pos.sum()"
    found, _ = calls(tmp_path, net("self.fc = nn.Linear(11, 3)", "feats, pos, i, j", body))
    assert found.expressions()[0] == "torch.randn(16, 5)"  # type: ignore[attr-defined]


def test_what_runs_on_stand_ins_leaves_no_trace(tmp_path: Path) -> None:
    source = net(
        "self.register_buffer('seen', torch.zeros(3)); self.fc = nn.Linear(4, 3)",
        "x, y",
        "self.seen += 1",
        "self.last = self.fc(x)",
        "return self.last + self.fc(y)",
    )
    from tsguard.runtime.worker.inputs import search

    callee, module = made(tmp_path, source)
    search.find(callee, module)
    assert callee.seen.tolist() == [0.0, 0.0, 0.0]  # type: ignore[attr-defined]
    assert type(getattr(callee, "last", None)) in (type(None), torch.Tensor)


def test_no_guess_is_without_elements() -> None:
    from tsguard.runtime.worker.inputs.moves import resizes
    from tsguard.runtime.worker.inputs.specs import Argument, Guess, TensorSpec

    guess = Guess((Argument("x", TensorSpec((2, 64))),))
    assert all(0 not in found.tensors()["x"].shape for _, found in resizes(guess, ["x"], 64, 0))
