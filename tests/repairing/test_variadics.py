"""``*args`` of helpers get names by what eager passes them, and the body has them as before."""

from __future__ import annotations

import ast

from tsguard.fixes.applying import applied
from tsguard.fixes.variadics import variadics_seen
from tsguard.project import Project

TEXT = '''import torch
from torch import nn


class Fusion(nn.Module):
    def forward(self, *xs):
        """What it does."""
        y = xs[0]
        if len(xs) == 2:
            y = y + xs[1]
        return y
'''


WRAPPER = """from torch import nn


class Before(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x, **kwargs):
        # passed on
        return self.fn(x, **kwargs)
"""


def mended(tmp_path, *counts: str, text: str = TEXT) -> str:
    return changed(tmp_path, text, 6, {"*xs": counts})


def changed(tmp_path, text: str, line: int, seen: dict[str, tuple[str, ...]]) -> str:
    path = tmp_path / "net.py"
    path.write_text(text)
    module = Project((tmp_path,)).module(path, shown="net.py")
    fixes = variadics_seen(module, line, "forward", seen)
    result, _ = applied(module.file, fixes)
    ast.parse(result)
    return result


def test_of_two_numbers_the_more_may_be_none(tmp_path):
    text = mended(tmp_path, "2", "1")
    assert "def forward(self, x0, x1: Optional[torch.Tensor] = None):" in text
    assert (
        '"""What it does."""\n        xs = [x0]\n        if x1 is not None:\n            xs.append(x1)\n'
        in text
    )


def test_of_one_number_they_are_a_tuple(tmp_path):
    text = mended(tmp_path, "2")
    assert "def forward(self, x0, x1):" in text
    assert "        xs = (x0, x1)\n" in text


def test_a_list_where_the_index_is_computed(tmp_path):
    text = mended(tmp_path, "2", text=TEXT.replace("xs[0]", "xs[len(xs) - 1]"))
    assert "        xs = [x0, x1]\n" in text


def test_names_that_are_taken_are_left_alone(tmp_path):
    taken = TEXT.replace("y = xs[0]", "x1 = y = xs[0]")
    assert mended(tmp_path, "2", text=taken) == taken


def test_keywords_that_only_some_modules_take_are_passed_under_a_flag(tmp_path):
    text = changed(tmp_path, WRAPPER, 9, {"**kwargs": ("mask, scale", "")})
    assert "    fn_takes_mask: Final[bool]\n" in text
    assert '        self.fn_takes_mask = "mask" in inspect.signature(self.fn.forward).parameters\n' in text
    assert (
        "    def forward(self, x, mask=None, scale=None):\n"
        "        # passed on\n"
        "        if self.fn_takes_mask:\n"
        "            return self.fn(x, mask=mask, scale=scale)\n"
        "        else:\n"
        "            return self.fn(x)\n"
    ) in text


def test_keywords_that_differ_from_call_to_call_are_left_alone(tmp_path):
    assert changed(tmp_path, WRAPPER, 9, {"**kwargs": ("mask", "scale")}) == WRAPPER
