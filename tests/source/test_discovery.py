"""Which files below a folder are judged."""

from __future__ import annotations

import subprocess

import pytest

from tsguard.source.discovery import Exclusions, python_files


@pytest.fixture
def tree(tmp_path):
    def tree(*names: str, **contents: str):
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("x = 1\n")

        def found(below: str = ".", **settings) -> list[str]:
            exclusions = Exclusions(tmp_path, **settings)
            return [
                path.relative_to(tmp_path).as_posix() for path in python_files(tmp_path / below, exclusions)
            ]

        return found

    return tree


def repository(folder, ignore: str) -> None:
    subprocess.run(["git", "init", "-q", folder], check=True)
    (folder / ".gitignore").write_text(ignore)


def test_python_files_only_in_a_stable_order(tree):
    assert tree("b.py", "a.py", "c.txt", "d.pyc", "pkg/e.py")() == ["a.py", "b.py", "pkg/e.py"]


@pytest.mark.parametrize(
    "name", [".venv", "venv", "build", "dist", "node_modules", "site-packages", ".git", ".hidden"]
)
def test_usual_folders_are_passed_over(tree, name):
    assert tree("a.py", f"{name}/b.py", f"pkg/{name}/c.py")() == ["a.py"]


def test_hidden_files_are_passed_over(tree):
    assert tree("a.py", ".hidden.py")() == ["a.py"]


def test_a_folder_that_is_named_is_searched_whatever_excludes_it(tree):
    found = tree("build/a.py", "build/deep/build/b.py")
    assert found("build") == ["build/a.py"]
    assert found("build", extend=("build",)) == ["build/a.py"]


def test_exclude_replaces_the_defaults(tree):
    assert tree("a.py", "build/b.py", "old/c.py")(exclude=("old",)) == ["a.py", "build/b.py"]


def test_extend_exclude_adds_to_them(tree):
    assert tree("a.py", "build/b.py", "old/c.py")(extend=("old",)) == ["a.py"]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("old", ["gen.py", "new/a.py"]),
        ("old/", ["gen.py", "new/a.py"]),
        ("/new", ["gen.py", "old/a.py"]),
        ("*.py", []),
        ("gen.py", ["new/a.py", "old/a.py"]),
        ("old/*.py", ["gen.py", "new/a.py"]),
        ("**/a.py", ["gen.py"]),
    ],
)
def test_patterns_are_those_of_gitignore(tree, pattern, left):
    assert tree("gen.py", "new/a.py", "old/a.py")(extend=(pattern,)) == left


class TestGit:
    def test_what_git_ignores_is_passed_over(self, tree, tmp_path):
        found = tree("a.py", "gen/b.py", "keep/gen.py", "keep/c_pb2.py")
        repository(tmp_path, "gen/\n*_pb2.py\n")
        assert found() == ["a.py", "keep/gen.py"]

    def test_the_nearest_file_has_the_last_word(self, tree, tmp_path):
        found = tree("a.py", "pkg/a.py", "pkg/deep/a.py")
        repository(tmp_path, "a.py\n")
        (tmp_path / "pkg" / ".gitignore").write_text("!a.py\n")
        assert found() == ["pkg/a.py", "pkg/deep/a.py"]

    def test_files_above_the_folder_count(self, tree, tmp_path):
        found = tree("pkg/a.py", "pkg/gen/b.py")
        repository(tmp_path, "gen\n")
        assert found("pkg") == ["pkg/a.py"]

    def test_info_exclude_counts(self, tree, tmp_path):
        found = tree("a.py", "b.py")
        repository(tmp_path, "")
        (tmp_path / ".git" / "info" / "exclude").write_text("b.py\n")
        assert found() == ["a.py"]

    def test_a_folder_that_is_named_is_searched_though_git_ignores_it(self, tree, tmp_path):
        found = tree("gen/a.py")
        repository(tmp_path, "gen/\n")
        assert found() == []
        assert found("gen") == ["gen/a.py"]

    def test_outside_a_repository_the_files_mean_nothing(self, tree, tmp_path):
        found = tree("a.py")
        (tmp_path / ".gitignore").write_text("a.py\n")
        assert found() == ["a.py"]


def test_links_to_folders_are_not_followed_and_links_to_files_are(tree, tmp_path):
    found = tree("pkg/a.py")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "pkg" / "up").symlink_to(tmp_path / "pkg", target_is_directory=True)
    (tmp_path / "b.py").symlink_to(tmp_path / "pkg" / "a.py")
    assert found() == ["b.py", "pkg/a.py"]


class TestNamedFiles:
    def test_a_named_file_is_judged_though_excluded(self, lint, folder):
        (folder / "build").mkdir()
        (folder / "build" / "a.py").write_text("x = 1\n")
        assert lint("build/a.py").report["summary"]["files"] == 1

    @pytest.mark.parametrize("name", ["build/a.py", ".hidden/a.py", "old/a.py"])
    def test_force_exclude_leaves_it_out(self, lint, folder, name):
        (folder / name).parent.mkdir()
        (folder / name).write_text("def broken(:\n")
        ran = lint("--force-exclude", "--exclude", "old", name)
        assert ran.status == 0
        assert ran.report["summary"]["files"] == 0
