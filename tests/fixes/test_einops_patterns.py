"""Patterns of einops as methods of a tensor: what they give is what the pattern says."""

from __future__ import annotations

import pytest

from tsguard.fixes.einops_patterns import einsum_letters, rearranged, reduced, repeated

torch = pytest.importorskip("torch")
X = torch.arange(2 * 6 * 4 * 5.0).reshape(2, 6, 4, 5)


@pytest.mark.parametrize(
    ("pattern", "sizes", "wanted"),
    [
        ("b h n d -> b n (h d)", {}, X.permute(0, 2, 1, 3).reshape(2, 4, 30)),
        ("b (h d) x y -> b h x y d", {"h": "3"}, X.reshape(2, 3, 2, 4, 5).permute(0, 1, 3, 4, 2)),
        ("b c (h p) (w q) -> b (h w) (p q c)", {"p": "2", "q": "5"}, None),
        ("b ... d -> b (...) d", {}, X.reshape(2, 24, 5)),
        ("b ... d -> b d ...", {}, X.permute(0, 3, 1, 2)),
        ("b c h w -> b c 1 (h w) 1", {}, X.reshape(2, 6, 1, 20, 1)),
        ("... h n d -> ... n (h d)", {}, X.permute(0, 2, 1, 3).reshape(2, 4, 30)),
    ],
)
def test_axes_are_split_moved_and_merged(pattern, sizes, wanted):
    if wanted is None:  # patches, each as one row
        rows = X.reshape(2, 6, 2, 2, 1, 5).permute(0, 2, 4, 3, 5, 1)
        wanted = rows.reshape(2, 2, 60)
    assert torch.equal(eval(f"X{rearranged(pattern, sizes)}"), wanted)


@pytest.mark.parametrize(
    ("pattern", "sizes", "shape"),
    [
        ("() n d -> b n d", {"b": "3"}, (1, 4, 5)),
        ("n d -> b n d", {"b": "3"}, (4, 5)),
        ("d -> b 1 d", {"b": "3"}, (5,)),
        ("n d -> n (d 2)", {}, (4, 5)),
    ],
)
def test_new_axes_repeat_the_rest(pattern, sizes, shape):
    x = torch.randn(shape)
    made = eval(f"x{repeated(pattern, sizes)}")
    if pattern.endswith("(d 2)"):
        assert torch.equal(made, x.repeat_interleave(2, dim=1))
    else:
        assert made.shape[0] == 3
        assert all(torch.equal(row.flatten(), x.flatten()) for row in made)


def test_what_is_not_on_the_right_is_reduced():
    assert torch.equal(eval(f"X{reduced('b c h w -> b c', 'max', {})}"), X.amax((2, 3)))
    assert torch.equal(eval(f"X{reduced('b c h w -> c b 1', 'sum', {})}"), X.sum((2, 3)).t().unsqueeze(2))


@pytest.mark.parametrize(
    "pattern",
    [
        "b (h w d) -> b h w d",
        "b n",
        "b n -> b m",
        "b n n -> b n",
        "(b ...) d -> b ... d",
        "b 3 -> b",
        "a - b -> a",
    ],
)
def test_a_pattern_that_tells_too_little_is_left_alone(pattern):
    assert rearranged(pattern, {}) is None


def test_axes_of_einsum_get_a_letter_each():
    written = einsum_letters("b heads query d, b heads key d -> b heads query key", 2)
    assert torch.equal(torch.einsum(written, X, X), X @ X.mT)
    assert einsum_letters("... i d, ... j d -> ... i j", 2) == "...id,...jd->...ij"
    assert einsum_letters("b i -> b", 2) is None
    assert einsum_letters("b (h d), b -> b", 2) is None
