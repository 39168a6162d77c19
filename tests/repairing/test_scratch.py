"""What of a project is copied before it is edited."""

from pathlib import Path

from tsguard.repairing.scratch import scratch
from tsguard.runtime.subject import Subject


def _project(folder: Path, *files: str) -> None:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("", encoding="utf-8")


def _copied(root: Path, module: str, *search_paths: Path) -> set[str]:
    file = str(root / f"{module.replace('.', '/')}.py")
    subject = Subject(
        "Net", file, file, str(root), module, "Net", "module", search_paths=tuple(map(str, search_paths))
    )
    with scratch(subject) as place:
        return {str(path.relative_to(place.copy)) for path in place.copy.rglob("*.py")}


def test_a_folder_of_a_project_that_is_a_package_itself_is_copied_without_its_neighbours(
    tmp_path: Path,
) -> None:
    _project(tmp_path, "mine/__init__.py", "mine/models/__init__.py", "mine/models/net.py", "other/big.py")
    mine = tmp_path / "mine"
    assert _copied(tmp_path, "mine.models.net", mine, mine / "src") == {
        "mine/__init__.py", "mine/models/__init__.py", "mine/models/net.py",
    }  # fmt: skip


def test_what_lies_beside_the_package_in_the_folder_of_the_project_is_copied_too(tmp_path: Path) -> None:
    _project(tmp_path, "net/__init__.py", "net/model.py", "helpers.py", "src/more.py")
    assert _copied(tmp_path, "net.model", tmp_path, tmp_path / "src") == {
        "net/__init__.py", "net/model.py", "helpers.py", "src/more.py",
    }  # fmt: skip


def test_of_installed_packages_only_the_own_one_is_copied(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    _project(site, "net/__init__.py", "net/model.py", "other/__init__.py")
    assert _copied(site, "net.model", tmp_path) == {"net/__init__.py", "net/model.py"}


def test_the_copy_of_a_folder_has_its_name(tmp_path: Path) -> None:
    mine = tmp_path / "my-nets"
    _project(mine, "__init__.py", "models/__init__.py", "models/net.py")
    file = str(mine / "models" / "net.py")
    subject = Subject("Net", file, file, str(mine), "models.net", "Net", "module")
    with scratch(subject) as place:
        assert place.copy.name == "my-nets"
