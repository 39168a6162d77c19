"""Functions under decorators of other files."""

from __future__ import annotations


def test_what_a_decorator_of_another_file_wraps_is_reported_where_it_stands(lint, folder):
    (folder / "timing.py").write_text(
        "import functools\n\n\ndef timed(function):\n    @functools.wraps(function)\n"
        "    def inner(*args):\n        return function(*args)\n\n    return inner\n"
    )
    lines = ["import torch", "from timing import timed", *["# ..."] * 20, "@timed", "def act(x):"]
    lines += ["    if x.sum() > 0:", "        y = x", "    return y", ""]
    lines += ["class Net(torch.nn.Module):", "    def forward(self, x):", "        return act(x)", ""]
    (folder / "net.py").write_text("\n".join(lines))
    ran = lint("--select", "TSG1", "net.py")
    found = [(f["code"], f["path"], f["line"]) for f in ran.report["findings"]]
    assert found == [("TSG106", "net.py", 25)]
