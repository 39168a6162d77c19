"""What is said of the ways of releases is so in the one that is installed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.torch_here import RELEASE
from tsguard.language.releases import ways

torch = pytest.importorskip("torch")
WAYS = ways(RELEASE)


def scripts(thing: Any) -> bool:
    try:
        torch.jit.script(thing)
    except Exception:
        return False
    return True


def exports(module: torch.nn.Module, *inputs: torch.Tensor) -> bool:
    try:
        torch.export.export(module, inputs)
    except Exception:
        return False
    return True


def sum_with_flag(x: torch.Tensor, flag: bool) -> torch.Tensor:
    return x.sum() * flag


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad * 2

    @staticmethod
    def helper(x: torch.Tensor) -> torch.Tensor:
        return x * 2


def doubled(x: torch.Tensor) -> torch.Tensor:
    return Doubled.apply(x)


def helped(x: torch.Tensor) -> torch.Tensor:
    return Doubled.helper(x)


def test_bools_are_numbers():
    assert scripts(sum_with_flag) is WAYS.bools_are_numbers


def test_whether_apply_of_an_autograd_function_is_taken():
    assert scripts(doubled) is not WAYS.refuses_apply


def test_properties_of_an_autograd_function_are_compiled():
    assert scripts(helped) is not WAYS.compiles_autograd_properties


class Cut(torch.nn.Module):
    def forward(self, x: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        return x[: ends[0]].sum()


def test_whether_torch_export_takes_a_slice_by_data():
    assert exports(Cut(), torch.arange(4.0), torch.tensor([1, 3])) is WAYS.slices_by_data


class Picked(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        return x[[n[0], n[1]]]


@pytest.mark.skipif(not WAYS.slices_by_data, reason="torch.export is judged from torch 2.13 on")
def test_whether_a_list_of_tensors_is_an_index_for_export():
    assert exports(Picked(), torch.ones(3, 4), torch.tensor([1, 2])) is WAYS.indexes_by_tensors


class Alike(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cosine_similarity(x[x.sum(1) > 0], (x * 2)[x.sum(1) > 0])


class Stepped(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.arange(0, 10, x.argmax().item())


class Attended(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        steps = x[x[:, 0] > 0].view(1, 1, -1, 4)
        return torch.nn.functional.scaled_dot_product_attention(steps, steps, steps)


@pytest.mark.skipif(not WAYS.slices_by_data, reason="torch.export is judged from torch 2.13 on")
@pytest.mark.parametrize(
    ("module", "expected"),
    [
        (Alike, WAYS.compares_counts_of_data),
        (Attended, WAYS.attends_over_counts_of_data),
        (Stepped, WAYS.steps_by_data),
    ],
)
def test_what_export_leaves_to_the_program_of_counts_that_data_tells(module, expected):
    assert exports(module(), torch.arange(12.0).view(3, 4)) is expected


class Noted(torch.nn.Module):
    never_set: int

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


def test_an_annotation_that_is_text_for_an_attribute_that_is_never_set():
    assert not hasattr(Noted, "never_set")
    assert scripts(Noted()) is WAYS.passes_over_text_annotations
