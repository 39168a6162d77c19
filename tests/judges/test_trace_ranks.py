"""A trace is of one example, which has one rank: what goes wrong only in no rank at all is no hazard."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judges.test_trace_consequences import verdict
from tests.test_lint_linear import calls

SAFE = {
    "a shape that is asked whether it has any size": """
        def f(x):
            if x.shape == ():
                return x * 2
            return x + 1 if tuple(x.shape) != () else x
    """,
    "a star that is followed by what is no size": """
        def f(x):
            h, w, device = *x.shape[1:], x.device
            if device.type == 'cuda':
                x = x.float()
            return x.reshape(-1, h, w)
    """,
    "a number that only the way of another rank uses": """
        def f(x):
            if x.ndim == 4:
                b, h, w, c = x.shape
            else:
                assert x.ndim == 3
                b, n, c = x.shape
                h = w = math.sqrt(n)
            x = x * 2
            return x.view(b, h * w, c) if x.ndim == 4 else x
    """,
    "shapes that are alike in each rank": """
        def f(x):
            if len(x.shape) == 2:
                x = x[None]
            if len(x.shape) == 3:
                x = x[None]
            if len(x.shape) != 4:
                raise ValueError(x.shape)
            y = torch.flip(x, [-1])
            return x + y if x.shape == y.shape else y
    """,
    "a rank that is one of several, or refused": """
        def f(x):
            if x.dim() not in (2, 3):
                raise ValueError(x.dim())
            x = x if x.dim() == 3 else x.unsqueeze(0)
            y = x.relu()
            return y + 1 if y.shape[1:] != x.shape[1:] else y
    """,
    "a rank that a check asks for": """
        def f(x, y):
            assert x.dim() == 2 and y.dim() == 2
            z = x.view(-1, 4, 8)
            n = min(z.size(0), z.size(0))
            return x * len(x.shape) + n
    """,
    "a shape of any rank that a layer leaves as it is": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 8)

            def forward(self, x):
                y = self.layer(x)
                return y + x if y.shape == x.shape else y
    """,
    "shapes of which a layer makes another in any rank": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(8, 4)

            def forward(self, x):
                y = self.layer(x)
                return y + x if y.shape == x.shape else y
    """,
    "shapes of one rank and of the next": """
        def f(x):
            y = x.sum(-1)
            return y + x if y.shape == x.shape else y
    """,
}

HAZARDOUS = {
    "shapes that are alike in some sizes": """
        def f(x):
            y = x[..., :4]
            return y + x if y.shape == x.shape else y
    """,
    "the number is used in one rank": """
        def f(x):
            if x.ndim == 4:
                x = x.flatten(1, 2)
            else:
                x = x.view(x.shape[0], int(math.sqrt(x.shape[1])), -1)
            return x
    """,
    "shapes that differ in one rank": """
        def f(x):
            if x.dim() == 3:
                x = x[None, :, ::2]
            y = x[:, :, 1:]
            return x if 2 * x.shape[2] > 3 * y.shape[2] else x + 1
    """,
}


@pytest.mark.parametrize("case", SAFE)
def test_what_goes_wrong_in_no_rank_is_no_hazard(tmp_path: Path, case: str) -> None:
    assert verdict(tmp_path, SAFE[case]) == "safe"


@pytest.mark.parametrize("case", HAZARDOUS)
def test_what_goes_wrong_in_one_rank_is_one(tmp_path: Path, case: str) -> None:
    assert verdict(tmp_path, HAZARDOUS[case]) == "hazardous"


def test_whether_shapes_are_alike_that_the_walk_has_lost_is_open(tmp_path: Path) -> None:
    source = """
        def f(x):
            y = torch.masked_select(x, x > 0).reshape_as(x) if x.sum() is None else torch.special.spherical_bessel_j0(x).reshape(list(x.shape))
            return x if x.shape == y[..., y.argmax(-1)].shape else y
    """
    assert verdict(tmp_path, source) == "unknown"


# In each rank there is a hazard, so that each is looked at.
ASKING = """
    def f(x):
        {asked}
        y = x * 2
        for i in range(40):
            y = y + (x * i).relu()
        return y if y.sum() > 0 else -y
"""


def test_a_rank_is_followed_once(tmp_path: Path) -> None:
    """Asked for two ranks, a forward is followed as it is, with each of them, and with none of them."""
    verdict(tmp_path, ASKING.format(asked="pass"))  # what is imported and read once
    once, with_ranks = (
        calls(lambda asked=asked: verdict(tmp_path, ASKING.format(asked=asked)))
        for asked in ("pass", "x = x[None] if x.dim() < 3 else x")
    )
    assert with_ranks < 5 * once
