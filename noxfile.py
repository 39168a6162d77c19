"""The matrix: each torch release and each Python that is said to be supported.

    nox --list
    nox -s torch-2.6

Each session installs one torch, from the index without CUDA where TSGUARD_TORCH_INDEX names it
(https://download.pytorch.org/whl/cpu), and runs what asks torch: the rule pages, the conformance corpus,
the modes, and `tsguard check`.
"""

from __future__ import annotations

import os

import nox

# The oldest and the newest Python that a release of torch has wheels for, of those that tsguard supports.
TORCH = {
    "2.2": ("3.10", "3.11"),
    "2.3": ("3.10", "3.12"),
    "2.4": ("3.10", "3.12"),
    "2.5": ("3.10", "3.12"),
    "2.6": ("3.10", "3.13"),
    "2.7": ("3.10", "3.13"),
    "2.8": ("3.10", "3.13"),
    "2.9": ("3.10", "3.13"),
    "2.10": ("3.10", "3.13"),
    "2.11": ("3.10", "3.13"),
    "2.12": ("3.10", "3.13"),
    "2.13": ("3.10", "3.13"),
    "2.14": ("3.10", "3.13"),
    "2.15": ("3.10", "3.13"),
}
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
ASK_TORCH = ("tests/rules", "tests/conformance", "tests/language")
MATRIX = [
    nox.param(python, torch, id=f"{torch}-{python}") for torch, pythons in TORCH.items() for python in pythons
]

nox.options.sessions = ["python"]


@nox.session(name="torch")
@nox.parametrize("python,torch", MATRIX)
def on_torch(session: nox.Session, torch: str) -> None:
    """What asks torch, on one release of it."""
    _install(session, torch)
    session.run("python", "-m", "pytest", *(session.posargs or ASK_TORCH))
    session.run(
        "python", "-m", "tsguard", "check", "--time-budget", "0", "--device", "cpu", "fixtures/conv2d.py"
    )


@nox.session(python=PYTHONS)
def python(session: nox.Session) -> None:
    """All tests, on one Python and the torch that the tests' expectations are of."""
    _install(session, "2.13")
    session.run("python", "-m", "pytest", *session.posargs)


def _install(session: nox.Session, torch: str) -> None:
    index = os.environ.get("TSGUARD_TORCH_INDEX")
    # numpy 2 came after torch 2.2 was built.
    numpy = "numpy<2" if torch == "2.2" else "numpy"
    session.install(*(["--index-url", index] if index else []), f"torch=={torch}.*")
    session.install(numpy, "--editable", ".[dev]")
