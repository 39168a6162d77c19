"""``%load_ext tsguard`` in a real IPython."""

from __future__ import annotations

import atexit

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

CELL = """\
class Net(nn.Module):
    def forward(self, x, **more):
        return scale(x)
"""


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = InteractiveShell.instance()
    yield shell
    atexit.unregister(shell.atexit_operations)
    shell.atexit_operations()
    InteractiveShell.clear_instance()


def ran(shell: InteractiveShell, text: str):
    """What a cell shows."""
    with capture_output() as captured:
        assert shell.run_cell(text, store_history=True).success
    return captured


def test_a_cell_is_linted_with_those_before_it_and_run(shell):
    ran(shell, "%load_ext tsguard")
    ran(shell, "from torch import nn\n\ndef scale(x):\n    return x * 2")
    (shown,) = ran(shell, f"%%tsguard\n{CELL}").outputs
    html = shown.data["text/html"]
    assert "<td>Net</td><td>blocked</td>" in html
    assert "TSG103" in html
    assert "   2      def forward(self, x, **<mark>more</mark>" in html
    assert "is not defined" not in html
    assert "Net" in shell.user_ns
    assert "2: TSG103" in shown.data["text/plain"]


def test_a_cell_is_only_linted_when_asked_to(shell):
    ran(shell, "%load_ext tsguard")
    ran(shell, "from torch import nn")
    ran(shell, f"%%tsguard --no-run\n{CELL}")
    assert "Net" not in shell.user_ns


def test_files_are_linted_by_the_line_magic(shell, tmp_path):
    (tmp_path / "net.py").write_text(f"from torch import nn\n\n{CELL}")
    ran(shell, "%load_ext tsguard")
    shown = shell.run_cell("%tsguard net.py").result
    assert "TSG103" in shown._repr_html_()


def test_cells_under_the_magic_are_seen_by_those_after_them(shell):
    ran(shell, "%load_ext tsguard")
    ran(shell, "%%tsguard\nfrom torch import nn\n\ndef scale(x):\n    return x * 2")
    ran(shell, "%%tsguard --no-run\ndef scale(x):\n    return [x for _ in scale]")
    (shown,) = ran(shell, f"%%tsguard\n{CELL}").outputs
    assert "is not defined" not in shown.data["text/html"]
    assert shown.data["text/plain"].count("TSG") == 1


def test_a_cell_that_raises_fails(shell):
    ran(shell, "%load_ext tsguard")
    with capture_output() as captured:
        assert not shell.run_cell("%%tsguard\n1 / 0", store_history=True).success
    assert "ZeroDivisionError" in captured.stdout + captured.stderr


@pytest.mark.parametrize("line", ["%tsguard --nope", "%%tsguard --nope\nx = 1"])
def test_an_option_that_does_not_exist_is_an_error(shell, line):
    ran(shell, "%load_ext tsguard")
    with capture_output():
        assert not shell.run_cell(line).success


def test_a_file_that_is_not_there_is_told_as_text_too(shell, tmp_path):
    (tmp_path / "with space.py").write_text(f"from torch import nn\n\n{CELL}")
    ran(shell, "%load_ext tsguard")
    assert "no such file" in repr(shell.run_cell("%tsguard nope.py").result)
    assert "TSG103" in repr(shell.run_cell('%tsguard "with space.py"').result)
