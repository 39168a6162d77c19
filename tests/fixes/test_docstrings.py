"""Types that docstrings tell, and what becomes of the parameters that have them."""

from __future__ import annotations

import ast

import pytest

from tsguard.fixes.docstrings import documented_type
from tsguard.repairing.fixing import fix
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan

GOOGLE = """
    Args:
        shapes (list[int]): what each level measures.
        pair (tuple of Tensor): something of no known length.
        size (int, optional): none by default.
        both (Tuple[Tensor, int]): one and the other.
        mask (torch.Tensor of shape (n, 3), optional): which count.
        features (List[:obj:`Tensor`]): of each level.
        named (dict[str, Tensor] or None): by name.
        other (Callable): of no type that there is.
"""
NUMPY = """
    Parameters
    ----------
    shapes : list of int
        What each level measures.
    pair : tuple
        Something.
    size : int, optional
        None by default.
    both : Tuple[Tensor, int]
        One and the other.
    mask : torch.Tensor of shape (n, 3)
        Which count.
    features : list of Tensors
        Of each level.
    named : dict[str, Tensor] or None
        By name.
"""
SPHINX = """
    :param list[int] shapes: what each level measures
    :param pair: something
    :type size: int
    :type both: Tuple[Tensor, int]
    :type mask: torch.Tensor
    :param list[Tensor] features: of each level
    :type named: Optional[Dict[str, Tensor]]
"""
WANTED = {
    "shapes": "List[int]",
    "pair": None,
    "size": "int",
    "both": "Tuple[Tensor, int]",
    "mask": "Tensor",
    "features": "List[Tensor]",
    "named": "Optional[Dict[str, Tensor]]",
    "other": None,
    "absent": None,
}


@pytest.mark.parametrize("style", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
@pytest.mark.parametrize("parameter", WANTED)
def test_a_docstring_tells_a_type(style, parameter):
    tree = ast.parse(f'def forward(self, {parameter}):\n    """What it does.\n{style}    """\n')
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    assert documented_type(function, None, parameter) == WANTED[parameter]


NET = '''\
import torch
from torch import nn


class Net(nn.Module):
    """Takes one of the levels.

    Args:
        levels (Dict[str, Tensor]): the levels.
    """

    def forward(self, levels):
        return levels["low"] + 1
'''


def test_a_container_has_the_type_that_the_docstring_tells(tmp_path):
    path = tmp_path / "net.py"
    path.write_text(NET)
    settings = Settings(root=tmp_path, jobs=1, cache=False)
    done = fix(plan([parse(f"{path}:Net", settings)], settings), settings, unsafe=True)
    assert "def forward(self, levels: Dict[str, torch.Tensor]):" in path.read_text()
    assert [f.message for f in done.report.findings if f.family == "script"] == []
