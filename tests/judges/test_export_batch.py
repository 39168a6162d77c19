"""Which dimension of a tensor on the way is the open batch, and what holds it."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("counted", "dynamic"),
    [
        ("len(x @ x.t())", "specialised"),
        ("len(torch.mm(x, x.t()))", "specialised"),
        ("len(x.mean(1))", "specialised"),
        ("len(x.mean(0))", "exports"),
        ("x.sum(0).tolist()[0]", "exports"),
        ("x[:, 0].tolist()[0]", "specialised"),
        ("len(x.flatten())", "specialised"),
        ("len(x.transpose(0, 1))", "exports"),
        ("len(x.transpose(1, 2))", "specialised"),
        ("len(list(x.transpose(0, 1).size(1) * [0]))", "specialised"),
        ("int(x.transpose(1, 0).shape[1])", "specialised"),
        ("int(x.transpose(0, 2).shape[2])", "specialised"),
        ("int(x.transpose(0, 2).shape[1])", "exports"),
        ("len(x.unsqueeze(1))", "specialised"),
        ("len(x.unsqueeze(0))", "exports"),
        ("len(x.transpose(1, 2) * x.transpose(1, 2).exp())", "specialised"),
    ],
)
def test_the_first_dimension_is_followed_though_nothing_tells_how_many_there_are(exported, counted, dynamic):
    assert exported(f"def f(x):\n    return x * {counted}").dynamic == dynamic


@pytest.mark.parametrize(
    ("made", "dynamic"),
    [
        ("x.tensor_split(3)", "specialised"),
        ("torch.tensor_split(x, 3, dim=1)", "exports"),
        ("torch.tensor_split(x, (1, 3))", "exports"),
        ("torch.take_along_dim(x, x.argsort(1), 1)", "specialised"),
        ("torch.linalg.pinv(x)", "specialised"),
        ("torch.linalg.pinv(x[None])", "exports"),
        ("torch.linalg.matrix_rank(x)", "specialised"),
        ("torch.linalg.norm(x, 2)", "specialised"),
        ("torch.linalg.norm(x, 2, dim=1)", "exports"),
        ("torch.linalg.matrix_norm(x, -2)", "specialised"),
        ("torch.linalg.matrix_norm(x)", "exports"),
        ("x.norm(2)", "exports"),
        ("torch.nn.functional.max_pool1d(x.t(), 2)", "specialised"),
        ("torch.nn.functional.max_pool1d(x, 2)", "exports"),
        ("torch.fft.fft(x, dim=0)", "specialised"),
        ("torch.fft.fft(x)", "exports"),
        ("torch.fft.fft(x, n=7, dim=0)", "specialised"),
        ("torch.fft.fft(x, n=x.shape[0])", "specialised"),
        ("torch.fft.fft2(x)", "exports"),
        ("torch.fft.irfft2(x)", "specialised"),
        ("torch.fft.fftn(torch.stack([x, x], 1), dim=(0, 1))", "specialised"),
        ("torch.fft.fftn(torch.stack([x, x], 1), dim=(1, 2))", "exports"),
        ("x[np.random.permutation(x.shape[0])]", "refused"),
        ("x[:, np.random.permutation(x.shape[1])]", "specialised"),
    ],
)
def test_functions_that_hold_or_compare_sizes_of_their_tensor(exported, made, dynamic):
    examples = "def example_inputs():\n    return (torch.ones(4, 8),)\n"
    source = f"import numpy as np\nimport torch\ndef f(x):\n    return {made}\n{examples}"
    assert exported(source).dynamic == dynamic


def test_the_batch_goes_through_layers_that_take_it_transposed(exported):
    source = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Conv1d(4, 4, 3)
            def forward(self, x):
                x = self.layer(x.transpose(1, 2))
                return x * len(torch.ones(x.shape[0], device=x.device) * x.shape[-1])
    """
    assert exported(source).dynamic == "specialised"


@pytest.mark.parametrize(
    ("result", "dynamic"),
    [
        ("(x @ x.t()).fill_diagonal_(0.0)", "specialised"),
        ("torch.kron(x, x)", "specialised"),
        ("torch.linalg.multi_dot([x, x.t(), x])", "specialised"),
        ("x * x.shape.numel()", "specialised"),
        ("x * x.numel()", "exports"),
        ("x * torch.as_tensor(x.shape[0])", "specialised"),
        ("x * torch.tensor(x.shape[0])", "exports"),
        ("x + x.new_tensor([x.shape[0]])", "specialised"),
        ("x.split(x.shape[0] // 2)", "specialised"),
        ("x.split(x.shape[1] // 2, 1)", "exports"),
    ],
)
def test_some_operations_need_the_sizes_of_their_tensors_as_numbers(exported, result, dynamic):
    judged = exported(f"def f(x):\n    return {result}")
    assert (judged.verdict, judged.dynamic) == ("exports", dynamic)


def test_distinct_elements_are_no_rows_of_the_input(exported):
    judged = exported("def f(x):\n    return x * torch.unique(x, dim=None).shape[0]")
    assert (judged.verdict, judged.dynamic) == ("exports", "exports")


@pytest.mark.parametrize("is_scalar", ["x.dim() == 0", "len(x.shape) == 0", "not x.ndim != 0"])
def test_a_way_for_scalars_opens_no_dimension_of_the_others(exported, is_scalar):
    source = f"def f(x):\n    if {is_scalar}:\n        return x.cos()\n    return torch.stack([row.cos() for row in x])"
    assert exported(source).dynamic == "specialised"


@pytest.mark.parametrize(
    "result",
    [
        "x * {1: 1.0}.get(x.size(0), 3.0)",
        "x * len({x.size(0), 5})",
        "x * (hash(x.size(0)) % 2)",
        "x * 2 if x.size(0) in {4: 1} else x",
    ],
)
def test_a_size_that_is_a_symbol_is_no_key(exported, result):
    assert exported(f"def f(x):\n    return {result}").dynamic == "refused"
    assert exported(f"def f(x):\n    return {result.replace('size(0)', 'size(1)')}").dynamic == "exports"


@pytest.mark.parametrize("step", ["n - 1", "n // 2"])
def test_a_loop_that_counts_to_a_size_runs_as_often_as_for_the_example(exported, step):
    source = f"def f(x):\n    n = x.size(0)\n    while n > 2:\n        x, n = x + 1, {step}\n    return x"
    assert exported(source).dynamic == "specialised"
    assert exported(source.replace("size(0)", "size(1)")).dynamic == "exports"
