"""The torch release that code is judged for: what is said, installed, required, or the newest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.samples import NET
from tsguard.language.tables import RELEASES
from tsguard.linting.run import lint
from tsguard.settings.config import Settings
from tsguard.settings.requests import parse, plan
from tsguard.settings.torch_release import NoTables, judged_for

NEWEST = RELEASES[-1]


def environment(folder: Path, metadata: str | None) -> Path:
    """A folder of packages with the metadata of a torch that is not there itself."""
    packages = folder / "site-packages"
    packages.mkdir()
    if metadata is not None:
        (packages / metadata).mkdir()
    return packages


@pytest.mark.parametrize(
    ("metadata", "release"),
    [
        ("torch-2.4.1.dist-info", "2.4"),
        ("torch-2.6.0+cu124.dist-info", "2.6"),
        ("torch-2.6.0a0+git1234567.dist-info", "2.6"),
        ("torch-2.4.1-py3.11.egg-info", "2.4"),
    ],
)
def test_an_installed_torch_tells_its_release(tmp_path: Path, metadata: str, release: str):
    judged = judged_for(None, [environment(tmp_path, metadata)], tmp_path)
    assert judged.releases == (release,)
    assert judged.note is None
    assert "installed" in judged.told_by


@pytest.mark.parametrize(
    "metadata", ["torch-geometric-2.4.0.dist-info", "torchvision-0.19.1.dist-info", None]
)
def test_other_packages_tell_nothing(tmp_path: Path, metadata: str | None):
    assert judged_for(None, [environment(tmp_path, metadata)], tmp_path).releases == (NEWEST,)


def test_the_first_of_several_environments_tells(tmp_path: Path):
    folders = []
    for name, metadata in (("one", "torch-2.4.1.dist-info"), ("two", "torch-2.6.0.dist-info")):
        (tmp_path / name).mkdir()
        folders.append(environment(tmp_path / name, metadata))
    assert judged_for(None, folders, tmp_path).releases == ("2.4",)


def test_what_is_said_comes_before_what_is_installed(tmp_path: Path):
    judged = judged_for("2.6", [environment(tmp_path, "torch-2.4.1.dist-info")], tmp_path)
    assert judged.releases == ("2.6",)


def test_what_is_installed_comes_before_what_is_required(tmp_path: Path):
    (tmp_path / "requirements.txt").write_text("torch==2.6.0\n")
    judged = judged_for(None, [environment(tmp_path, "torch-2.4.1.dist-info")], tmp_path)
    assert judged.releases == ("2.4",)


@pytest.mark.parametrize(
    ("file", "text", "release"),
    [
        ("requirements.txt", "numpy\ntorch==2.4.1  # as in production\n", "2.4"),
        ("requirements.txt", "torch~=2.4.0\n", "2.4"),
        ("requirements.txt", "torch==2.6.0+cu124\n", "2.6"),
        ("requirements-dev.txt", "torch>=2.2,<=2.4\n", "2.4"),
        ("requirements.txt", "torch>=2.2\n", NEWEST),
        ("requirements.txt", "torchvision==0.19\ntorch-geometric==2.4.0\n", NEWEST),
        ("requirements.txt", "torch\n", NEWEST),
        ("requirements.txt", "torch @ https://example.org/torch.whl\n", NEWEST),
        ("pyproject.toml", '[project]\ndependencies = ["torch==2.4.*"]\n', "2.4"),
        ("pyproject.toml", '[project.optional-dependencies]\ngpu = ["torch[opt]==2.4.1"]\n', "2.4"),
        ("pyproject.toml", '[dependency-groups]\ndev = [{include-group = "x"}, "torch==2.4.1"]\n', "2.4"),
        ("pyproject.toml", "not = [toml\n", NEWEST),
    ],
)
def test_without_a_torch_the_newest_that_the_project_allows(
    tmp_path: Path, file: str, text: str, release: str
):
    (tmp_path / file).write_text(text)
    assert judged_for(None, [], tmp_path).releases == (release,)


@pytest.mark.parametrize(
    ("said", "releases"),
    [
        ("2.4", ("2.4",)),
        ("2.4.1", ("2.4",)),
        ("2.4, 2.15", ("2.4", "2.15")),
        ("2.15,2.4,2.4.1", ("2.4", "2.15")),
    ],
)
def test_one_or_several_releases_are_said(tmp_path: Path, said: str, releases: tuple[str, ...]):
    assert judged_for(said, [], tmp_path).releases == releases


def test_a_newer_torch_is_judged_as_the_newest_that_is_known(tmp_path: Path):
    for judged in (
        judged_for("99.1", [], tmp_path),
        judged_for(None, [environment(tmp_path, "torch-99.1.0.dist-info")], tmp_path),
    ):
        assert judged.releases == (NEWEST,)
        assert judged.note is not None
        assert "is newer than the newest supported release" in judged.note


def test_an_older_torch_is_judged_as_the_oldest_only_if_it_is_what_is_there(tmp_path: Path):
    judged = judged_for(None, [environment(tmp_path, "torch-1.13.1.dist-info")], tmp_path)
    assert judged.releases == (RELEASES[0],)
    assert judged.note is not None
    with pytest.raises(NoTables, match=r"torch 1.* is not supported"):
        judged_for("1.13", [], tmp_path)


@pytest.mark.parametrize("said", ["", "new", "2", "2.x", "latest,2.4"])
def test_what_is_no_release_is_refused(tmp_path: Path, said: str):
    with pytest.raises(NoTables):
        judged_for(said, [], tmp_path)


class TestOnTheCommandLine:
    @pytest.fixture(autouse=True)
    def net(self, folder: Path) -> None:
        (folder / "net.py").write_text(NET)

    def test_the_report_names_the_release_and_what_told_it(self, lint):
        report = lint("--torch-version", "2.4", ".").report
        assert report["torch_tables"] == "2.4"
        assert report["torch_told_by"] == "torch-version"

    def test_an_environment_is_read_where_it_is_named(self, lint, folder):
        (folder / "pyproject.toml").write_text('[tool.tsguard]\npython = "env"\n')
        site = folder / "env" / "lib" / "python3.11" / "site-packages"
        site.mkdir(parents=True)
        (site / "torch-2.4.1.dist-info").mkdir()
        assert lint(".").report["torch_tables"] == "2.4"

    def test_verbose_says_it(self, tsguard):
        assert "checked for torch 2.4" in tsguard("lint", "-v", "--torch-version", "2.4", ".").out
        assert "checked for torch" not in tsguard("lint", "--torch-version", "2.4", ".").out

    def test_a_newer_torch_is_noted_once_unless_quiet(self, tsguard):
        assert (
            tsguard("lint", "--torch-version", "99.1", ".").err.count(
                "is newer than the newest supported release"
            )
            == 1
        )
        assert "newer" not in tsguard("lint", "-q", "--torch-version", "99.1", ".").err


@pytest.mark.parametrize(("release", "is_noted"), [("2.6", True), ("2.12,2.15", True), ("2.13", False)])
def test_where_torch_export_is_not_judged_that_is_said(tmp_path: Path, release: str, is_noted: bool):
    (tmp_path / "net.py").write_text(NET)
    settings = Settings(root=tmp_path, torch_version=release, jobs=1, cache=False, purpose="export")
    note = lint(plan([parse(str(tmp_path / "net.py"), settings)], settings), settings)[0].torch_note
    assert ("torch.export is checked" in (note or "")) is is_noted
