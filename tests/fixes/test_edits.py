"""Fixes change what they are about and nothing else: layout, comments, line ends, names."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tsguard.repairing.fixing import fix
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan

HEAD = """\
import torch
from torch import Tensor, nn


"""


@pytest.fixture
def fixed(tmp_path: Path):
    """Fixes a file of this content, unsafe fixes included; what it holds then."""

    def fixed(content: str | bytes, *, unsafe: bool = True) -> str:
        path = tmp_path / "net.py"
        data = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(data)
        settings = Settings(root=tmp_path, jobs=1, cache=False)
        done = fix(plan([parse(str(path), settings)], settings), settings, unsafe=unsafe)
        assert not done.report.errors
        text = path.read_bytes().decode("utf-8-sig")
        ast.parse(text)
        return text

    return fixed


def method(signature: str, body: str = "return x") -> str:
    return f"{HEAD}class Net(nn.Module):\n    def forward({signature}):\n        {body}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("self, x, p=2.0", "self, x, p: float = 2.0"),
        ("self, x, p = 2.0", "self, x, p: float = 2.0"),
        ("self, x, p=(2.0)", "self, x, p: float = (2.0)"),
        ("self, x, p=-1, q=True", "self, x, p: int = -1, q: bool = True"),
        ("self, x, p='a=b'", "self, x, p: str = 'a=b'"),
        ("self, x,\n  p=1,  # one\n  q=2,\n", "self, x,\n  p: int = 1,  # one\n  q: int = 2,\n"),
        ("self, x, p=1, # ) :\n    q: 'int' = 2", "self, x, p: int = 1, # ) :\n    q: 'int' = 2"),
    ],
)
def test_annotations_keep_the_layout_of_a_signature(fixed, before, after):
    assert fixed(method(before)) == method(after)


@pytest.mark.parametrize(
    "body", ["# first\n        return x", '"""Words."""\n        return x', "\n\n        return x"]
)
def test_what_follows_a_signature_stays(fixed, body):
    assert fixed(method("self, x, p=1", body)) == method("self, x, p: int = 1", body)


def test_a_function_in_one_line(fixed):
    text = f"{HEAD}@torch.jit.script\ndef f(x, p=1): return x * p\n"
    assert fixed(text) == text.replace("p=1", "p: int = 1")


def test_a_body_that_begins_with_a_decorator(fixed):
    text = method("self, x, p=1", "@staticmethod\n        def g(): pass\n        return x")
    assert fixed(text) == text.replace("p=1", "p: int = 1")


def test_what_a_default_is_called_elsewhere_does_not_tell_its_type(fixed):
    text = f"{HEAD}P = 2\n\n\n{method('self, x, p=P').removeprefix(HEAD)}"
    assert fixed(text) == text


def test_a_branch_on_what_is_only_compared_with_numbers_is_no_choice_between_tensors(fixed):
    text = method("self, x, stage", "if stage == 2:\n            return x\n        return x + 1")
    assert fixed(text) == text.replace("stage)", "stage: int)")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_stay(tmp_path, fixed, newline, start):
    text = start + method(
        "self, x, mask=None", "if mask is not None:\n            x = x + mask\n        return x"
    )
    fixed(text.replace("\n", newline).encode())
    written = (tmp_path / "net.py").read_bytes().decode()
    expected = text.replace("mask=None", "mask: Optional[Tensor] = None")
    expected = start + "from typing import Optional\n\n" + expected.removeprefix(start)
    assert written == expected.replace("\n", newline)


def test_the_declared_encoding_stays(tmp_path, fixed):
    text = "# coding: latin-1\n" + method("self, x, p=1  # é\n    ")
    (tmp_path / "net.py").write_bytes(text.encode("latin-1"))
    settings = Settings(root=tmp_path, jobs=1, cache=False)
    fix(plan([parse(str(tmp_path / "net.py"), settings)], settings), settings)
    assert (tmp_path / "net.py").read_bytes() == text.replace("p=1", "p: int = 1").encode("latin-1")


OPTIONAL = "class Net(nn.Module):\n    def forward(self, x, n: int = None):\n        return x\n"


@pytest.mark.parametrize(
    ("head", "after"),
    [
        ("from torch import nn\n", "from typing import Optional\n\nfrom torch import nn\n"),
        (
            '"""Words."""\n\nfrom torch import nn\n',
            '"""Words."""\n\nfrom typing import Optional\n\nfrom torch import nn\n',
        ),
        (
            "import math\n\nfrom torch import nn\n",
            "import math\nfrom typing import Optional\n\nfrom torch import nn\n",
        ),
        (
            "from typing import Any, Tuple  # both\nfrom torch import nn\n",
            "from typing import Any, Optional, Tuple  # both\nfrom torch import nn\n",
        ),
        (
            "from typing import Tuple, Any\nfrom torch import nn\n",
            "from typing import Tuple, Any, Optional\nfrom torch import nn\n",
        ),
        (
            "from typing import (\n    Any,\n    Tuple,\n)\nfrom torch import nn\n",
            "from typing import (\n    Any,\n    Optional,\n    Tuple,\n)\nfrom torch import nn\n",
        ),
        (
            "from typing import (\n    Any,\n    List,  # those\n)\nfrom torch import nn\n",
            "from typing import (\n    Any,\n    List,\n    Optional,  # those\n)\nfrom torch import nn\n",
        ),
        ("from typing import *\nfrom torch import nn\n", "from typing import *\nfrom torch import nn\n"),
        (
            "from typing import TYPE_CHECKING\nfrom torch import nn\nif TYPE_CHECKING:\n    from typing import Optional\n",
            "from typing import TYPE_CHECKING, Optional\nfrom torch import nn\nif TYPE_CHECKING:\n"
            "    from typing import Optional\n",
        ),
    ],
)
def test_imports_are_added_where_they_belong(fixed, head, after):
    assert fixed(f"{head}\n\n{OPTIONAL}") == f"{after}\n\n{OPTIONAL.replace('n: int', 'n: Optional[int]')}"


def test_an_import_from_the_future_stays_first(fixed):
    assert fixed(f"from __future__ import annotations\nfrom torch import nn\n\n\n{OPTIONAL}").startswith(
        "from __future__ import annotations\nfrom typing import Optional\n\nfrom torch import nn\n"
    )


def test_a_name_that_means_something_else_is_no_fix(fixed):
    text = f"from torch import nn\nOptional = list\n\n\n{OPTIONAL}"
    assert fixed(text) == text


def test_tensors_are_called_as_the_file_can(fixed):
    body = "if m is not None:\n            x = x + m\n        return x"
    text = method("self, x, m=None", body)
    assert "m: Optional[Tensor] = None" in fixed(text)
    assert "m: Optional[torch.Tensor] = None" in fixed(
        text.replace("from torch import Tensor, nn", "from torch import nn")
    )
    alone = fixed(text.replace(HEAD, "from torch import nn\n\n\n"))
    assert "from torch import nn, Tensor" in alone or "from torch import Tensor, nn" in alone
    assert "m: Optional[Tensor] = None" in alone


def test_a_type_comment_is_left_to_its_author(fixed):
    text = method(
        "self, x, m=None", "# type: (Tensor, Tensor) -> Tensor\n        return x if m is None else x + m"
    )
    assert fixed(text) == text


@pytest.mark.parametrize("use", ["m(x)", "(x > m)", "x * (x != m)", "x * isinstance(m, int)"])
def test_what_can_be_no_tensor_is_not_called_one(fixed, use):
    text = method("self, x, m=None", f"if m is not None:\n            x = {use}\n        return x + m")
    assert fixed(text) == text
    assert "Optional[Tensor]" in fixed(text.replace(use, "x.masked_fill(m == 0, 0.0)"))


@pytest.mark.parametrize(
    "body",
    [
        "if x.dim() > 1:\n            s = []\n        else:\n            s = []\n        s.append(1)\n        return x * s[0]",
        "s = t = []\n        s.append(1)\n        return x * s[0]",
    ],
)
def test_a_variable_with_more_than_one_start_is_left_alone(fixed, body):
    assert fixed(method("self, x", body)) == method("self, x", body)


def test_a_type_that_is_not_known_to_the_end_is_not_written(fixed):
    body = "s = []\n        for i in range(2):\n            s.append((i, self.unknown()))\n        return s"
    assert fixed(method("self, x", body)) == method("self, x", body)


def test_a_number_that_is_added_to_in_place_becomes_a_tensor_that_is_not(fixed):
    body = "s = 0\n        for i in range(2):\n            s += x.sum()\n        return s"
    after = body.replace("s = 0", "s = torch.tensor(0)").replace("s += x", "s = s + x")
    assert fixed(method("self, x", body)) == method("self, x", after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("F.pad(x, (1, 1), value=0)", "F.pad(x, (1, 1), value=0.0)"),
        ("F.pad(x, (1, 1), 'constant', 0)", "F.pad(x, (1, 1), 'constant', 0.0)"),
        ("F.pad(x, (1, 1), value=(  # none\n 0))", "F.pad(x, (1, 1), value=(  # none\n 0.0))"),
        ("F.pad(x, (1, 1), value=0x0)", "F.pad(x, (1, 1), value=0x0)"),
    ],
)
def test_a_number_is_written_as_float(fixed, before, after):
    head = "from torch.nn import functional as F\n"
    text = head + method("self, x", f"return {before}")
    assert fixed(text, unsafe=False) == text.replace(before, after)


def test_a_number_for_a_function_of_ones_own_is_no_safe_fix(fixed):
    text = f"{HEAD}def scale(x, by: float):\n    return x * by\n\n\n" + method(
        "self, x", "return scale(x, 2)"
    ).removeprefix(HEAD)
    assert fixed(text, unsafe=False) == text
    assert fixed(text) == text.replace("scale(x, 2)", "scale(x, 2.0)")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("n = k or 3", "n = k if k else 3"),
        ("n = k and 3", "n = 3 if k else k"),
        ("n = (k or 3) + 1", "n = (k if k else 3) + 1"),
        ("n = [k or 3][0]", "n = [(k if k else 3)][0]"),
        ("n = k or (  # three\n            3)", "n = k if k else (  # three\n            3)"),
        ("n = k or 3 or 4", "n = k or 3 or 4"),
    ],
)
def test_a_choice_becomes_a_conditional_expression(fixed, before, after):
    text = method("self, x, k: int", f"{before}\n        return x * n")
    assert fixed(text) == text.replace(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if m:", "if m is not None:"),
        ("if not m:", "if m is None:"),
        ("if x.dim() > 1 and m:", "if x.dim() > 1 and m is not None:"),
        ("if x.dim() > 1 and not (m):", "if x.dim() > 1 and m is None:"),
    ],
)
def test_a_test_for_truth_becomes_a_test_for_none(fixed, before, after):
    head = "from typing import Optional\n"
    text = head + method(
        "self, x, m: Optional[torch.Tensor] = None", f"{before}\n            x = x + 1\n        return x"
    )
    assert fixed(text) == text.replace(before, after)
    assert fixed(text, unsafe=False) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if m:", "if m is not None and m:"),
        ("if not m:", "if m is None or not m:"),
        ("if x.dim() > 1 and not (m):", "if x.dim() > 1 and (m is None or not m):"),
    ],
)
def test_a_flag_that_may_be_none_is_tested_for_both(fixed, before, after):
    head = "from typing import Optional\n"
    text = head + method(
        "self, x, m: Optional[bool] = None", f"{before}\n            x = x + 1\n        return x"
    )
    assert fixed(text, unsafe=False) == text.replace(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # tsguard: ignore[TSG999]\n", "x = 1\n"),
        ("x = 1  # tsguard: ignore[TSG999]  # why\n", "x = 1  # why\n"),
        ("x = 1  # tsguard: ignore[TSG999]  why\n", "x = 1  # why\n"),
        ("x = 1  # first  # tsguard: ignore[TSG999]\n", "x = 1  # first\n"),
        ("x = 1  # tsguard: ignore[TSG999, TSG998, made-up]\n", "x = 1\n"),
        ("x = 1  # noqa: E501, TSG999,F401\n", "x = 1  # noqa: E501,F401\n"),
        ("# tsguard: ignore-file[TSG999]\nx = 1\n", "x = 1\n"),
        ("def f():\n    # tsguard: ignore[TSG999]\n    pass\n", "def f():\n    pass\n"),
        ("x = 1\n# tsguard: ignore[TSG999]", "x = 1\n"),
    ],
)
def test_a_suppression_of_nothing_goes(fixed, before, after):
    assert fixed(before) == after


def test_a_file_that_is_no_python_stays(tmp_path):
    text = "def f(:  # tsguard: ignore[TSG999]\n"
    (tmp_path / "net.py").write_text(text)
    settings = Settings(root=tmp_path, jobs=1, cache=False)
    done = fix(plan([parse(str(tmp_path / "net.py"), settings)], settings), settings)
    assert (done.changes, done.report.errors) == ({}, ())
    assert (tmp_path / "net.py").read_text() == text
