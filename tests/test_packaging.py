"""What a user installs: the wheel and the editable checkout find their data, and need no torch."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = {path.name for path in (ROOT / "rules").glob("TSG*.md")}
DATA = {
    path.relative_to(ROOT).as_posix() for path in (ROOT / "tsguard" / "language" / "tables").rglob("*.json")
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(params=["wheel", "editable"])
def installed(request: pytest.FixtureRequest, built: Path, tmp_path: Path) -> Path:
    """The Python of a new environment that holds tsguard and, of its dependencies, what this one has."""
    environment = tmp_path / "env"
    venv.create(environment, with_pip=False, symlinks=True)
    python = environment / "bin" / "python"
    packages = next(environment.glob("lib/python3*/site-packages"))
    # Named in a .pth file, the folder's own .pth files, and with them this checkout, stay out.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    what = [str(next(built.glob("*.whl")))] if request.param == "wheel" else ["--editable", str(ROOT)]
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", *what], check=True, capture_output=True)
    return python


def test_the_wheel_holds_pages_tables_schema_and_typing_marker(built):
    names = set(zipfile.ZipFile(next(built.glob("*.whl"))).namelist())
    assert {f"tsguard/rule_pages/{page}" for page in PAGES} <= names
    assert names >= DATA
    beside = {"report.schema.json", "report.css", "report.js", "report.html.jinja"}
    assert {"tsguard/py.typed", *(f"tsguard/formats/{name}" for name in beside)} <= names
    assert all(name.startswith(("tsguard/", "tsguard-")) for name in names)


def test_the_source_distribution_holds_what_the_tests_need(built):
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"rules/{page}" for page in PAGES} | DATA <= names
    assert {"tests/conftest.py", "LICENSE", "README.md", "Makefile", "constraints/dev.txt"} <= names
    assert {"docs/attempts.md", "tools/captures.py", ".pre-commit-hooks.yaml"} <= names


def test_an_installed_tsguard_finds_its_data(installed, tmp_path):
    (tmp_path / "net.py").write_text(
        "import torch\n\n\nclass Net(torch.nn.Module):\n    pass\n\n\nx = 1  # noqa: TSG999\n"
    )
    tsguard = installed.with_name("tsguard")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([tsguard, *arguments], cwd=tmp_path, capture_output=True, text=True)

    assert len(run("rules").stdout.splitlines()) == len(PAGES)
    linted = run("lint", "--no-cache", "--output-format", "concise", "net.py")
    assert (linted.returncode, linted.stdout.count("TSG003")) == (1, 1), linted.stderr


def test_lint_needs_neither_torch_nor_numpy(installed, tmp_path):
    script = (
        "import sys; sys.modules['torch'] = sys.modules['numpy'] = None\n"
        "sys.argv = ['tsguard', 'lint', '--no-cache', 'net.py']\n"
        "from tsguard.cli import main; main()\n"
    )
    (tmp_path / "net.py").write_text("import torch\n\n\nclass Net(torch.nn.Module):\n    pass\n")
    ran = subprocess.run([installed, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "net.py:Net" in ran.stdout
