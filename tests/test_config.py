"""Configuration: where it is found, what it may hold, how mistakes in it are told."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.samples import BROKEN, NET, STALE
from tsguard.settings import config
from tsguard.settings.config import FORMATS, ConfigError, Settings, TargetSettings, load
from tsguard.settings.dynamic import OpenSizes

FALLBACK = """
import torch
from torch import nn

try:
    from foolib import turned
except ImportError:
    def turned(x: torch.Tensor) -> torch.Tensor:
        return x.t()


class Net(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return turned(x)
"""


def written(folder: Path, table: str) -> Path:
    file = folder / "tsguard.toml"
    file.write_text(table)
    return file


class TestDiscovery:
    @pytest.fixture(autouse=True)
    def stale(self, folder):
        (folder / "pkg").mkdir()
        (folder / "pkg" / "stale.py").write_text(STALE)

    def test_pyproject_above_the_path_is_read(self, lint, folder):
        (folder / "pyproject.toml").write_text("[tool.tsguard]\nignore = ['TSG003']\n")
        assert lint("pkg/stale.py").codes == []

    def test_the_nearest_file_wins(self, lint, folder):
        (folder / "pyproject.toml").write_text("[tool.tsguard]\nignore = ['TSG003']\n")
        (folder / "pkg" / "tsguard.toml").write_text("")
        assert lint("pkg/stale.py").codes == ["TSG003"]

    def test_a_pyproject_without_our_table_is_passed_over(self, lint, folder):
        (folder / "tsguard.toml").write_text("ignore = ['TSG003']\n")
        (folder / "pkg" / "pyproject.toml").write_text("[tool.other]\nname = 'tsguard'\n")
        assert lint("pkg/stale.py").codes == []

    def test_tsguard_toml_wins_in_one_folder(self, lint, folder):
        (folder / "pyproject.toml").write_text("[tool.tsguard]\nselect = ['TSG001']\n")
        (folder / "tsguard.toml").write_text("")
        assert lint("pkg/stale.py").codes == ["TSG003"]

    def test_configurations_that_do_not_count_are_told(self, tsguard, folder):
        (folder / "pkg" / "tsguard.toml").write_text("ignore = ['TSG003']\n")
        told = "note: pkg/tsguard.toml was not used"
        assert told in tsguard("lint", ".").err
        assert "name pkg alone" in tsguard("lint", ".").err
        assert told not in tsguard("lint", "pkg").err
        assert told not in tsguard("lint", "--isolated", ".").err
        assert told not in tsguard("lint", "--quiet", ".").err
        (folder / "pkg" / "tsguard.toml").unlink()
        (folder / "pkg" / "pyproject.toml").write_text("[tool.tsguard")
        assert "pkg/pyproject.toml is not valid TOML" in tsguard("lint", ".").err

    def test_it_is_that_of_what_the_paths_have_in_common(self, lint, folder):
        (folder / "pkg" / "tsguard.toml").write_text("ignore = ['TSG003']\n")
        (folder / "net.py").write_text(NET)
        assert lint("pkg/stale.py", "net.py").codes == ["TSG003"]

    def test_isolated_reads_none(self, lint, folder):
        (folder / "pyproject.toml").write_text("[tool.tsguard]\nignore = ['TSG003']\n")
        assert lint("--isolated", "pkg/stale.py").codes == ["TSG003"]

    def test_config_names_the_file(self, lint, folder):
        (folder / "strict.toml").write_text("ignore = ['TSG003']\n")
        assert lint("--config", "strict.toml", "pkg/stale.py").codes == []

    def test_a_config_file_that_is_not_there_is_said(self, tsguard):
        ran = tsguard("lint", "--config", "none.toml", "pkg")
        assert ran.status == 2
        assert "none.toml cannot be read" in ran.err

    def test_the_command_line_overrules_it(self, lint, folder):
        (folder / "tsguard.toml").write_text("ignore = ['TSG003']\nfail-level = 'error'\n")
        ran = lint("--extend-select", "TSG003", "--fail-level", "info", "pkg/stale.py")
        assert (ran.codes, ran.status) == (["TSG003"], 1)


class TestMistakes:
    @pytest.mark.parametrize(
        ("table", "message"),
        [
            ("selekt = []", r"there is no key 'selekt'; did you mean 'select'\?"),
            ("search_paths = []", r"there is no key 'search_paths'; did you mean 'search-paths'\?"),
            ("wibble = 1", r"there is no key 'wibble'; the keys are baseline, cache, "),
            ("select = 'TSG101'", r"select must be a list of strings, not a string"),
            ("select = [1]", r"select: each item must be a string, not a number"),
            (
                "select = ['TSG0011']",
                r"select: no rule has the code or name 'TSG0011'; did you mean 'TSG001'\?",
            ),
            ("jobs = 'many'", r"jobs must be a whole number, not a string"),
            ("jobs = -1", r"jobs must not be negative"),
            ("jobs = true", r"jobs must be a whole number, not a boolean"),
            ("cache = 'no'", r"cache must be true or false, not a string"),
            ("fail-level = 'fatal'", r"fail-level must be one of info, warning, error, not 'fatal'"),
            ("output-format = 'yaml'", r"output-format must be one of text, .*, not 'yaml'"),
            (
                "per-file-ignores = ['TSG1']",
                r"per-file-ignores must be a table of patterns and codes, not a list",
            ),
            (
                "per-file-ignores = {'a.py' = ['TSG9999']}",
                r"per-file-ignores.'a.py': no rule has .*'TSG9999'",
            ),
            ("[targets.'net.py']", r"targets.'net.py': a target is a name in a file, such as 'model.py:Net'"),
            ("targets = ['net.py:Net']", r"targets must hold one table for each target"),
            (
                "[targets.'net.py:Net']\ninput = []",
                r"targets.'net.py:Net': there is no key 'input'; did you mean 'inputs'\?",
            ),
            ("[targets.'net.py:Net']\nmin-speedup = '2'", r"min-speedup must be a number, not a string"),
            ("baseline = 2026-01-01", r"baseline must be a string, not a date or time"),
        ],
    )
    def test_a_mistake_is_told_with_its_place(self, tmp_path, table, message):
        with pytest.raises(ConfigError, match=message) as told:
            load(written(tmp_path, table))
        assert str(tmp_path / "tsguard.toml") in str(told.value)

    def test_toml_errors_have_line_and_column(self, tsguard, folder):
        written(folder, "select = [\n'TSG001'\nignore = []\n")
        ran = tsguard("lint", ".")
        assert ran.status == 2
        assert "tsguard.toml is not valid TOML" in ran.err
        assert "line 3, column 1" in ran.err

    def test_a_broken_pyproject_that_may_be_ours_is_said(self, tsguard, folder):
        (folder / "pyproject.toml").write_text("[tool.tsguard\n")
        ran = tsguard("lint", ".")
        assert ran.status == 2
        assert "pyproject.toml is not valid TOML" in ran.err

    def test_a_table_that_is_none(self, tsguard, folder):
        (folder / "pyproject.toml").write_text("[tool]\ntsguard = 1\n")
        assert "tool.tsguard must be a table, not a number" in tsguard("lint", ".").err

    def test_a_python_without_packages_is_said(self, tsguard, folder):
        written(folder, "python = 'no-such-python'")
        (folder / "net.py").write_text(NET)
        ran = tsguard("lint", ".")
        assert ran.status == 2
        assert "no-such-python is not a Python interpreter" in ran.err

    @pytest.mark.parametrize("place", ["option", "file"])
    def test_a_torch_without_tables_is_said(self, tsguard, folder, place):
        (folder / "net.py").write_text(NET)
        if place == "file":
            written(folder, "torch-version = '1.4'")
        ran = tsguard("lint", *(["--torch-version", "1.4"] if place == "option" else []), ".")
        assert ran.status == 2
        assert re.search(r"torch 1.4 is not supported; the supported releases are 2\.2 to 2\.15", ran.err)


class TestMeaning:
    def test_nothing_written_is_the_defaults(self, tmp_path):
        read = load(written(tmp_path, ""))
        assert (read.fail_level, read.jobs, read.cache, read.exclude) == ("warning", 0, True, None)

    def test_every_key_has_a_setting(self):
        fields = {name.replace("_", "-") for name in Settings.__dataclass_fields__}
        layered = {"select", "extend-select", "ignore"}
        assert set(config._KEYS) - layered <= fields

    def test_every_target_key_has_a_setting(self):
        fields = {name.replace("_", "-") for name in TargetSettings.__dataclass_fields__}
        assert set(config._TARGET_KEYS) == fields - {"constructor"}  # the Python API alone gives it

    def test_paths_start_from_the_file(self, tmp_path):
        read = load(written(tmp_path, "search-paths = ['lib']\nbaseline = 'accepted.json'\npython = '.env'"))
        assert read.search_paths == (tmp_path / "lib",)
        assert read.baseline == tmp_path / "accepted.json"
        assert read.python == tmp_path / ".env"

    def test_open_sizes_are_read(self, tmp_path):
        read = load(written(tmp_path, "dynamic = ['x: {0: batch, 1: auto}']"))
        assert read.dynamic == (OpenSizes("x", ((0, "batch"), (1, ""))),)
        with pytest.raises(ConfigError, match="dynamic: 'x' is not written as in"):
            load(written(tmp_path, "dynamic = ['x']"))

    def test_targets_are_read(self, tmp_path):
        table = "[targets.'net.py:Net(3)']\ninputs = ['torch.rand(2)', 'n=3']\nmodes = ['eval']\nmin-speedup = 1.1\n"
        expected = TargetSettings(inputs=("torch.rand(2)", "n=3"), modes=("eval",), min_speedup=1.1)
        assert load(written(tmp_path, table)).targets == {"net.py:Net(3)": expected}

    def test_per_file_ignores(self, lint, folder):
        written(folder, "[per-file-ignores]\n'tests/*' = ['TSG0']\n'/top.py' = ['unused-suppression']\n")
        for name in ("tests/a.py", "tests/deep/b.py", "top.py", "src/top.py", "src/broken.py"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(BROKEN if "broken" in name else STALE)
        found = [finding["path"] for finding in lint(".").report["findings"]]
        assert found == ["src/broken.py", "src/top.py"]

    @pytest.mark.parametrize("format", FORMATS)
    def test_output_format(self, tsguard, folder, format):
        (folder / "stale.py").write_text(STALE)
        written(folder, f"output-format = '{format}'")

        def said(*options: str) -> str:  # without the command and the time, which HTML names
            shown = tsguard("lint", *options, ".").out.replace(" ".join(["", *options]), "")
            return re.sub("<time>.*?</time>", "", shown)

        assert said() == said("--output-format", format)

    def test_search_paths_lead_to_imported_classes(self, lint, folder):
        (folder / "lib").mkdir()
        (folder / "lib" / "bases.py").write_text(NET)
        (folder / "sub.py").write_text("from bases import Net\n\n\nclass Sub(Net):\n    pass\n")
        assert lint("sub.py").targets == []
        written(folder, "search-paths = ['lib']")
        assert lint("sub.py").targets == ["sub.py:Sub"]

    @pytest.mark.parametrize("layout", ["lib/python3.12/site-packages", "Lib/site-packages"])
    @pytest.mark.parametrize(
        "how", ["the python setting", "VIRTUAL_ENV", "CONDA_PREFIX", ".venv", "venv", "PATH"]
    )
    def test_installed_packages_are_found_in_environments(self, lint, folder, monkeypatch, layout, how):
        environment = folder / (how if "venv" in how else "env")
        (environment / layout).mkdir(parents=True)
        (environment / layout / "bases.py").write_text(NET)
        (folder / "sub.py").write_text("from bases import Net\n\n\nclass Sub(Net):\n    pass\n")
        if how in ("VIRTUAL_ENV", "CONDA_PREFIX"):
            monkeypatch.setenv(how, str(environment))
        if how == "PATH":
            (environment / "pyvenv.cfg").write_text("")
            monkeypatch.setenv("PATH", str(environment / "bin"))
        if how == "the python setting":
            written(folder, "python = 'env'")
        linted = lint("sub.py")
        assert linted.targets == ["sub.py:Sub"]
        packages = linted.report["packages"]
        assert packages["source"] == how
        assert Path(packages["path"]) == environment

    def test_the_environment_above_the_project_is_read(self, lint, folder):
        packages = folder.parent / "venv" / "lib" / "python3.12" / "site-packages"
        packages.mkdir(parents=True)
        (packages / "bases.py").write_text(NET)
        (folder / "sub.py").write_text("from bases import Net\n\n\nclass Sub(Net):\n    pass\n")
        assert lint("sub.py").targets == ["sub.py:Sub"]

    def test_the_environment_of_a_hook_is_passed_over_for_the_project_s(
        self, lint, folder, monkeypatch, tmp_path
    ):
        layout = "lib/python3.12/site-packages"
        for environment in (tmp_path / "hook", folder / ".venv"):
            (environment / layout).mkdir(parents=True)
        (folder / ".venv" / layout / "bases.py").write_text(NET)
        (folder / "sub.py").write_text("from bases import Net\n\n\nclass Sub(Net):\n    pass\n")
        monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "hook"))
        monkeypatch.setattr(sys, "prefix", str(tmp_path / "hook"))
        assert lint("sub.py").targets == ["sub.py:Sub"]

    @pytest.mark.parametrize(
        ("variable", "is_hook", "is_virtual", "verdict"),
        [
            ("VIRTUAL_ENV", False, True, "ok"),  # activated by the user
            ("VIRTUAL_ENV", True, True, "unknown"),  # activated by pre-commit, which made it
            ("CONDA_PREFIX", False, False, "ok"),
            (None, False, False, "ok"),  # of a container
            (None, False, True, "unknown"),  # of "pipx install" or "uv tool install"
        ],
    )
    def test_a_fallback_is_certain_only_in_the_project_s_environment(
        self, lint, folder, monkeypatch, tmp_path, variable, is_hook, is_virtual, verdict
    ):
        packages = tmp_path / "env" / "lib" / "python3.12" / "site-packages"
        (packages / "torch").mkdir(parents=True)
        (packages / "torch" / "__init__.py").write_text("")
        monkeypatch.setenv("PATH", "")
        monkeypatch.setattr(sys, "prefix", str(tmp_path / "env"))
        monkeypatch.setattr(sys, "base_prefix", str(tmp_path / ("base" if is_virtual else "env")))
        monkeypatch.setattr(sys, "path", [str(packages), *(p for p in sys.path if "-packages" not in p)])
        if variable is not None:
            monkeypatch.setenv(variable, str(tmp_path / "env"))
        monkeypatch.delenv("PRE_COMMIT", raising=False)
        if is_hook:
            monkeypatch.setenv("PRE_COMMIT", "1")
        (folder / "net.py").write_text(FALLBACK)
        assert lint("net.py").report["targets"][0]["script"]["verdict"] == verdict

    def test_where_packages_were_read_is_said_to_who_asks(self, tsguard, folder, monkeypatch):
        monkeypatch.setenv("PATH", "")
        (folder / "net.py").write_text(NET)
        (folder / ".venv" / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
        told = f"packages read from {folder / '.venv'} (.venv)"
        assert told in tsguard("lint", "--verbose", "net.py").err
        assert told not in tsguard("lint", "net.py").err

    def test_a_project_without_an_environment_is_told_how_to_name_one(self, tsguard, folder, monkeypatch):
        monkeypatch.setenv("PATH", "")
        monkeypatch.setattr(sys, "path", [p for p in sys.path if "-packages" not in p])
        (folder / "net.py").write_text(NET)
        assert 'set python = "PATH" in [tool.tsguard]' in tsguard("lint", "net.py").err

    def test_editable_installs_are_found(self, lint, folder):
        packages = folder / ".venv" / "lib" / "python3.11" / "site-packages"
        packages.mkdir(parents=True)
        (folder / "elsewhere").mkdir()
        (folder / "elsewhere" / "bases.py").write_text(NET)
        (packages / "bases.pth").write_text(f"import os; open('was run', 'w')\n{folder / 'elsewhere'}\n")
        (folder / "sub.py").write_text("from bases import Net\n\n\nclass Sub(Net):\n    pass\n")
        assert lint("sub.py").targets == ["sub.py:Sub"]
        assert not (folder / "was run").exists()
