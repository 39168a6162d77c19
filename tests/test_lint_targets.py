"""Which classes are judged, and which constructor calls are refused as Python would refuse them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

NET = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, num_classes, width=3, *, bias=True):
        super().__init__()

    def forward(self, x):
        return x


class Sub(Net):
    pass


class Wide(nn.Linear):
    pass


class Bare(nn.Module):
    def forward(self, x):
        return x


class Open(nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, x):
        return x
"""
WRONG = {
    "Net(numclasses=3)": "Net() got an unexpected keyword argument 'numclasses' (did you mean 'num_classes'?)",
    "Net()": "Net() is missing 1 required argument: 'num_classes'",
    "Net(1, 2, True)": "Net() takes 2 positional arguments but 3 were given; it takes num_classes, width, bias",
    "Net(1, num_classes=2)": "Net() got multiple values for argument 'num_classes'",
    "Sub(classes=2)": "Sub() got an unexpected keyword argument 'classes'",
    "Wide(3)": "Wide() is missing 1 required argument: 'out_features'",
    "Bare(3)": "Bare() takes 0 positional arguments but 1 was given; it takes nothing",
}
RIGHT = [
    "Net",
    "Net(1)",
    "Net(1, 2, bias=False)",
    "Sub(num_classes=2)",
    "Wide(3, 4)",
    "Bare()",
    "Open(1, a=2)",
]


@pytest.mark.parametrize("call", WRONG)
def test_wrong_constructor_arguments_are_a_wrong_use(call: str, folder: Path, tsguard: Callable) -> None:
    (folder / "net.py").write_text(NET)
    ran = tsguard("lint", f"net.py:{call}")
    assert ran.status == 2
    assert f"net.py:{call}: {WRONG[call]}" in ran.err


@pytest.mark.parametrize("call", WRONG)
def test_python_refuses_the_same_calls(call: str) -> None:
    """The constructors alone, without torch: what is called wrong is what Python refuses."""
    tree = ast.parse(
        NET.replace("from torch import nn", "").replace("(nn.Module)", "").replace("nn.Linear", "Linear")
    )
    names: dict[str, object] = {
        "Linear": type("Linear", (), {"__init__": lambda self, in_features, out_features: None})
    }
    exec(compile(tree, "net.py", "exec"), names)
    with pytest.raises(TypeError):
        eval(call, names)


@pytest.mark.parametrize("call", RIGHT)
def test_right_ones_are_judged(call: str, folder: Path, lint: Callable) -> None:
    (folder / "net.py").write_text(NET)
    assert lint(f"net.py:{call}").targets == [f"net.py:{call}"]


def test_a_class_that_cannot_be_defined_is_judged_all_the_same(folder: Path, lint: Callable) -> None:
    (folder / "net.py").write_text(
        "from torch import nn\n\n\ndef typed(function):\n    raise ValueError\n\n\n"
        "class Net(nn.Module):\n    @typed\n    def forward(self, x):\n        return x\n"
    )
    ran = lint("net.py:Net()")
    assert ran.targets == ["net.py:Net()"]
    assert "TSG004" not in ran.codes


UNREAD = {
    "an import that finds nothing": "from foolib import Bar\n\n\nclass D(Bar):",
    "a member of a module": "import foolib\n\n\nclass D(foolib.nn.Bar):",
    "one of two bases": "from foolib import Bar\nfrom torch import nn\n\n\nclass D(nn.Module, Bar):",
    "an import that may fail": (
        "try:\n    import foolib as fl\nexcept ImportError:\n\n    class Stub:\n        Bar = object\n\n    fl = Stub\n\n\n"
        "class D(fl.Bar):"
    ),
}
FORWARD = "\n    def forward(self, x):\n        return x\n"
REFUSED = "\n    def forward(self, x):\n        return [v for v in x if v]\n"


def verdicts(report: dict, name: str) -> tuple[str, str, str]:
    target = next(t for t in report["targets"] if t["qualname"] == name)
    return target["script"]["verdict"], target["trace"]["verdict"], target["mode"]["verdict"]


@pytest.mark.parametrize("way", UNREAD)
def test_a_class_with_an_unread_base_and_a_forward_is_a_target(
    way: str, folder: Path, lint: Callable
) -> None:
    (folder / "net.py").write_text(UNREAD[way] + FORWARD)
    assert verdicts(lint("net.py").report, "D") == ("unknown", "unknown", "unknown")


def test_what_was_read_of_it_may_be_enough_to_refuse_it(folder: Path, lint: Callable) -> None:
    (folder / "net.py").write_text(UNREAD["an import that finds nothing"] + REFUSED)
    assert verdicts(lint("net.py").report, "D")[0] == "blocked"


def test_without_a_forward_it_is_none(folder: Path, lint: Callable) -> None:
    (folder / "net.py").write_text("from foolib import Bar\n\n\nclass D(Bar):\n    pass\n")
    assert lint("net.py").targets == []


def test_a_child_with_an_unread_base_leaves_its_parent_unknown(folder: Path, lint: Callable) -> None:
    parent = (
        "\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.d = D()\n\n"
        "    def forward(self, x):\n        return self.d(x)\n"
    )
    (folder / "net.py").write_text(UNREAD["one of two bases"] + FORWARD + parent)
    assert verdicts(lint("net.py").report, "Net") == ("unknown", "unknown", "unknown")


ABSTRACT = {
    "a docstring": '    def forward(self, x):\n        """What derived classes do."""\n',
    "dots": "    def forward(self, x): ...\n",
    "NotImplementedError": "    def forward(self, *args):\n        raise NotImplementedError\n",
    "NotImplementedError with words": '    def forward(self, x):\n        raise NotImplementedError("later")\n',
    "abstractmethod": "    @abstractmethod\n    def forward(self, x):\n        return x\n",
}


@pytest.mark.parametrize("way", ABSTRACT)
def test_an_abstract_forward_has_no_verdict_but_says_so(way: str, folder: Path, lint: Callable) -> None:
    header = "from abc import abstractmethod\n\nfrom torch import nn\n\n\nclass Base(nn.Module):\n"
    (folder / "net.py").write_text(header + ABSTRACT[way])
    report = lint("net.py").report
    assert verdicts(report, "Base")[:2] == ("unknown", "unknown")
    (target,) = report["targets"]
    assert [u["why"] for u in target["script"]["unknown"]] == ["its forward is abstract"]
    assert report["findings"] == []


OF_ABC = {
    "ABC": ("abc.ABC, nn.Module", ""),
    "ABCMeta": ("nn.Module, metaclass=abc.ABCMeta", ""),
    "a property": ("abc.ABC, nn.Module", "    @property\n"),
}
SCORED = "    def forward(self, x):\n        return x\n"


@pytest.mark.parametrize("way", OF_ABC)
def test_a_class_that_cannot_be_made_has_no_verdict_but_its_derived_class_has(
    way: str, folder: Path, lint: Callable
) -> None:
    bases, mark = OF_ABC[way]
    header = f"import abc\n\nfrom torch import nn\n\n\nclass Base({bases}):\n{mark}"
    derived = "\n\nclass Net(Base):\n    def score(self):\n        return 1\n"
    (folder / "net.py").write_text(
        f"{header}    @abc.abstractmethod\n    def score(self): ...\n\n{SCORED}{derived}"
    )
    report = lint("net.py").report
    assert verdicts(report, "Base")[:2] == ("unknown", "unknown")
    assert verdicts(report, "Net")[:2] == ("ok", "safe")
    (cause,) = report["targets"][0]["script"]["unknown"]
    assert cause["why"] == "its score is abstract: it cannot be constructed"


def test_a_class_whose_constructor_always_raises_has_no_verdict(folder: Path, lint: Callable) -> None:
    header = "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    (folder / "net.py").write_text(f"{header}        raise ValueError('no')\n\n{SCORED}")
    report = lint("net.py").report
    assert verdicts(report, "Net")[:2] == ("unknown", "unknown")
    (cause,) = report["targets"][0]["script"]["unknown"]
    assert cause["why"] == "every path through its constructor that was analysed raises"


def test_the_mark_alone_makes_no_class_abstract(folder: Path, lint: Callable) -> None:
    header = "import abc\n\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    @abc.abstractmethod\n"
    (folder / "net.py").write_text(f"{header}    def score(self): ...\n\n{SCORED}")
    assert verdicts(lint("net.py").report, "Net")[:2] == ("ok", "safe")


def test_a_class_that_overrides_it_is_judged(folder: Path, lint: Callable) -> None:
    header = "from torch import nn\n\n\nclass Base(nn.Module):\n"
    derived = "\n\nclass Net(Base):\n    def forward(self, x):\n        return x\n"
    (folder / "net.py").write_text(header + ABSTRACT["NotImplementedError"] + derived)
    assert verdicts(lint("net.py").report, "Net")[:2] == ("ok", "safe")


def test_what_is_said_of_a_target_does_not_tell_who_imported_its_file_before(
    folder: Path, lint: Callable
) -> None:
    user = (
        "from torch import nn\nfrom z_net import Net\n\n\nclass User(nn.Module):\n    def __init__(self):\n"
    )
    user += "        super().__init__()\n        self.net = Net(nn.ReLU())\n\n    def forward(self, x):\n        return self.net(x)\n"
    net = "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self, act):\n        super().__init__()\n"
    net += "        self.act = act\n\n    def forward(self, x):\n        return self.act(x)\n"
    (folder / "a_user.py").write_text(user)
    (folder / "z_net.py").write_text(net)
    for names in (["a_user.py", "z_net.py"], ["z_net.py"]):
        *_, target = lint(*names).report["targets"]
        (unknown,) = target["script"]["unknown"]
        assert unknown["help"] == "name the arguments: 'z_net.py:Net(act=...)'"


def test_what_raises_is_named_where_it_does(lint, folder):
    (folder / "checks.py").write_text("def check(x):\n    raise ValueError(x)\n")
    (folder / "net.py").write_text(
        "from checks import check\nfrom torch import nn\n\n\nclass Net(nn.Module):\n"
        "    def forward(self, x):\n        return check(x)\n"
    )
    (cause,) = lint("net.py").report["targets"][0]["trace"]["unknown"]
    assert (cause["path"], cause["line"], cause["why"]) == ("checks.py", 2, "it seems to raise ValueError")


FACTORIES = """\
from functools import partial

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n, bad=False):
        super().__init__()
        self.layer = nn.Linear(n, n)
        self.bad = {} if bad else 0

    def forward(self, x):
        return self.layer(x) + self.bad

    @classmethod
    def small(cls):
        return cls(4)


Alias = Net
Partial = partial(Net, 4)


def make(n=4, depth=2, bad=False):
    return nn.Sequential(*[Net(n, bad) for _ in range(depth)]).eval()


def loaded(path):
    net = Net(4)
    net.load_state_dict(torch.load(path))
    return net


def raising(n):
    raise ValueError("no")


def several(n):
    return Net(n), Net(n)
"""


@pytest.mark.parametrize(
    "call", ["Alias(4)", "Partial()", "make()", "make(3, depth=1)", "loaded('net.pt')", "Net.small()"]
)
def test_what_a_call_returns_is_judged(folder: Path, lint: Callable, call: str) -> None:
    (folder / "net.py").write_text(FACTORIES)
    (target,) = lint(f"net.py:{call}").report["targets"]
    assert (target["kind"], target["script"]["verdict"], target["trace"]["verdict"]) == (
        "module",
        "ok",
        "safe",
    )


@pytest.mark.parametrize("call", ["Alias(4, True)", "Partial(bad=True)", "make(bad=True)"])
def test_what_is_wrong_with_what_a_call_returns_is_found(folder: Path, lint: Callable, call: str) -> None:
    (folder / "net.py").write_text(FACTORIES)
    (target,) = lint(f"net.py:{call}").report["targets"]
    assert target["script"]["verdict"] == "blocked"


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("raising(4)", "every path through raising() that was analysed raises"),
        ("several(4)", "several() returns neither a module nor a function"),
    ],
)
def test_a_call_that_returns_no_module_has_no_verdict(
    folder: Path, lint: Callable, call: str, why: str
) -> None:
    (folder / "net.py").write_text(FACTORIES)
    (target,) = lint(f"net.py:{call}").report["targets"]
    for question in ("script", "trace", "mode"):
        assert target[question]["verdict"] == "unknown"
        assert [cause["why"] for cause in target[question]["unknown"]] == [why]


def test_the_arguments_of_a_factory_are_those_that_it_takes(folder: Path, tsguard: Callable) -> None:
    (folder / "net.py").write_text(FACTORIES)
    ran = tsguard("lint", "net.py:make(channels=3)")
    assert ran.status == 2
    assert "make() got an unexpected keyword argument 'channels'; it takes n, depth, bad" in ran.err
