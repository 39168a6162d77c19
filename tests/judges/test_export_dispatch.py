"""The export judge: code that goes by types, tables, trees and objects, and what of it the source does not tell."""

from __future__ import annotations

import textwrap

import pytest

from tests.torch_here import RELEASE
from tsguard.rules import holds


def judged(exported, source):
    return exported(textwrap.dedent(source))


REGISTRY = """
_KERNELS = {}

def register(function, kind):
    kernels = _KERNELS.setdefault(function, {})

    def decorate(kernel):
        kernels[kind] = kernel
        return kernel

    return decorate

def flip(x):
    for cls in type(x).__mro__:
        if cls in _KERNELS[flip]:
            return _KERNELS[flip][cls](x)
    raise TypeError

class Marked(torch.Tensor):
    pass

@register(flip, Marked)
def _flip_marked(x):
    return x.as_subclass(torch.Tensor).flip(-1)

@register(flip, torch.Tensor)
def _flip_tensor(x):
    return RESULT

def f(x):
    return flip(x)
"""


@pytest.mark.parametrize(
    ("kernel", "verdict"), [("x.flip(-1)", "exports"), ("x if x.sum() > 0 else -x", "refused")]
)
def test_a_table_by_functions_and_types_has_the_kernel_of_tensors(exported, kernel, verdict):
    assert judged(exported, REGISTRY.replace("RESULT", kernel)).verdict == verdict


@pytest.mark.parametrize("tree", ["x", "(x, [x])", "{'a': x, 'b': (x,)}"])
@pytest.mark.parametrize(("each", "verdict"), [("y + 1", "exports"), ("y * y.max().item()", "exports")])
def test_a_tree_comes_back_as_it_was(exported, tree, each, verdict):
    source = f"""
    from torch.utils._pytree import tree_flatten, tree_unflatten

    def f(x):
        leaves, spec = tree_flatten({tree})
        return tree_unflatten([{each} for y in leaves], spec)
    """
    assert judged(exported, source).verdict == verdict


def test_the_leaves_of_a_tree_are_those_that_it_holds(exported):
    source = """
    from torch.utils._pytree import tree_map

    def check(y):
        if y.sum() > 0:
            return y
        return -y

    def f(x):
        return tree_map(check, {"a": (x,)})
    """
    assert judged(exported, source).verdict == "refused"


@pytest.mark.parametrize(("way", "verdict"), [("plain", "exports"), ("asking", "refused")])
def test_a_forward_that_the_constructor_chooses_is_followed(exported, way, verdict):
    source = f"""
    class f(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.forward = self.{way}

        def plain(self, x):
            return x + 1

        def asking(self, x):
            return x if x.sum() > 0 else -x
    """
    assert judged(exported, source).verdict == verdict


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("if x.dim() > 2:\n        return x + 1\n    return x if x.sum() > 0 else -x", "unknown"),
        ("if x.dim() > 2:\n        x = x.sum(0)\n    return x if x.sum() > 0 else -x", "refused"),
        ("if not x.is_floating_point():\n        return x if x.sum() > 0 else -x\n    return x", "unknown"),
        (
            "for y in (x,) if not x.is_floating_point() else ():\n        x = y if y.sum() > 0 else -y\n    return x",
            "unknown",
        ),
        (
            "if not x.is_floating_point():\n        x = x if x.sum() > 0 else -x\n"
            "    if x.is_floating_point():\n        x = x if x.sum() > 1 else -x\n    return x",
            "refused",
        ),
    ],
)
def test_what_hangs_on_the_rank_or_the_dtype_of_an_input_is_unknown(exported, body, verdict):
    assert exported(f"def f(x):\n    {body}").verdict == verdict


@pytest.mark.parametrize(
    ("check", "dynamic"),
    [
        ("assert isinstance(x.shape[0], int)", "refused"),
        ("if not isinstance(x.shape[0], int):\n        raise TypeError", "refused"),
        ("assert isinstance(x.shape[0], (int, torch.SymInt))", "exports"),
        ("assert isinstance(x.shape[1], int)", "exports"),
    ],
)
def test_a_size_that_is_open_is_no_int(exported, check, dynamic):
    found = exported(f"def f(x):\n    {check}\n    return x + 1")
    assert (found.verdict, found.dynamic) == ("exports", dynamic)


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        ("torch.distributions.Normal(0.0, 1.0).sample((4,)) + x", "exports"),
        ("torch.distributions.Normal(0.0, 1.0).icdf(x.sigmoid())", "exports"),
        ("torch.distributions.Normal(0.0, 1.0).log_prob(x)", "refused"),
        ("torch.distributions.Normal(0.0, 1.0, validate_args=False).log_prob(x)", "exports"),
        ("torch.distributions.Normal(x, 1.0).sample()", "refused"),
        ("torch.distributions.Beta(1.0, 2.0).sample() + x", "refused"),
    ],
)
def test_a_distribution_of_numbers_is_known_to_be_right_and_its_values_are_not(exported, made, verdict):
    is_checked = holds("data-call/distribution", RELEASE)  # by what it holds, in this release
    wanted = verdict if is_checked else "exports"
    assert exported(f"def f(x):\n    return {made}").verdict == wanted


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("y = x - self.c\n            self.c.data = x.mean(0)\n            return y", "specialised"),
        ("self.c.data = x.mean(0)\n            return x - self.c", "refused"),
        ("y = x * 2\n            y.data = x\n            return y", "specialised"),
    ],
)
def test_the_data_of_state_is_lost_to_who_reads_it_again(exported, body, verdict):
    source = f"""
    class f(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("c", torch.zeros(4))

        def forward(self, x):
            {body}
    """
    assert judged(exported, source).verdict == verdict


def test_either_of_two_objects_is_one_that_export_does_not_know(exported):
    source = """
    class One:
        pass

    class Other:
        pass

    def f(x):
        return One() if x.shape[-1] > 3 else Other()
    """
    assert judged(exported, source).verdict == "refused"


def test_an_error_text_that_may_be_none_raises_nothing(exported):
    source = """
    def problem(x):
        if x.dim() < 2:
            return "too few dimensions"

    def f(x):
        found = problem(x)
        if found is not None:
            raise ValueError(found)
        return x + 1
    """
    assert judged(exported, source).verdict == "exports"


def test_a_class_that_fails_to_say_whether_it_is_true_stops_no_constructor(exported):
    source = """
    class Available:
        def __bool__(self):
            if unheard_of(self):
                raise ImportError
            raise ValueError

    AVAILABLE = Available()

    class f(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = 2 if AVAILABLE else 1

        def forward(self, x):
            return x * self.scale
    """
    assert judged(exported, source).verdict == "exports"


def test_a_case_of_a_class_is_a_question_of_type(exported):
    source = """
    def f(x):
        match x:
            case int():
                return x
            case torch.Tensor():
                return x + 1
            case _:
                raise TypeError
    """
    assert judged(exported, source).verdict == "exports"


@pytest.mark.parametrize("rows", ["x.view(-1)", "x.reshape(-1, 2)", "x.flatten()"])
def test_the_rows_of_all_elements_are_as_many_as_the_batch_makes_them(exported, rows):
    found = exported(f"def f(x):\n    return x.sum() / len({rows})")
    assert (found.verdict, found.dynamic) == ("exports", "specialised")
