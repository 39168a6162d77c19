"""A file that alone has changed since an earlier run: what the edit does not concern comes from the cache."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from tests.incremental.test_judge import FILES, NETS, edited, edits
from tsguard.inspection.inspecting import Inspection
from tsguard.linting.cache import Cache
from tsguard.linting.run import inspect_files
from tsguard.settings.config import Settings
from tsguard.settings.requests import Job, parse, plan


def inspected(folder: Path, *names: str, cache: bool = True) -> list[Inspection]:
    settings = Settings(root=folder, jobs=1, cache=cache)
    return inspect_files(plan([parse(name, settings) for name in names], settings).jobs, settings)


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_edits_between_runs(folder: Path, file: Path) -> None:
    chance = random.Random(file.stem)
    original = text = file.read_text()
    for number in range(6):
        (folder / file.name).write_text(text)
        found = inspected(folder, file.name)
        assert found == inspected(folder, file.name, cache=False), f"after edit {number}"
        text = original if chance.random() < 0.2 else edited(text, chance, number)


@edits
def test_only_what_an_edit_concerns_is_judged(
    folder: Path, judged: list[str], old: str, new: str, expected: list[str]
) -> None:
    path = folder / "nets.py"
    path.write_text(NETS)
    inspected(folder, "nets.py")
    judged.clear()
    path.write_text(NETS.replace(old, new))
    found = inspected(folder, "nets.py")
    assert judged == expected
    assert found == inspected(folder, "nets.py", cache=False)


def test_an_edit_and_its_undoing(folder: Path, judged: list[str]) -> None:
    """What a run has carried over can be carried over again."""
    path = folder / "nets.py"
    for text in (NETS, NETS.replace("RATE = 2", "RATE = 3"), NETS):
        judged.clear()
        path.write_text(text)
        inspected(folder, "nets.py")
    assert judged == ["One"]


USER = "from torch import nn\nfrom helper import help\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return help(x)\n"


def test_an_edit_of_the_file_and_of_one_that_it_imports(folder: Path, judged: list[str]) -> None:
    helper, user = folder / "helper.py", folder / "user.py"
    helper.write_text("def help(x, **more):\n    return x\n")
    user.write_text(USER)
    inspected(folder, "user.py")
    judged.clear()
    helper.write_text("def help(x):\n    return x\n")
    user.write_text(f"{USER}# more\n")
    (found,) = inspected(folder, "user.py")
    assert judged == ["Net"]
    assert found.targets[0].report.script.verdict == "ok"


def test_what_carried_targets_rest_on_is_kept_for_the_next_run(folder: Path) -> None:
    """The second run does not look at what lies behind the import; a change there is still seen in the third."""
    helper, user, deeper = folder / "helper.py", folder / "user.py", folder / "deeper.py"
    helper.write_text("from deeper import more\n\n\ndef help(x):\n    return more(x)\n")
    deeper.write_text("def more(x, **rest):\n    return x\n")
    user.write_text(USER)
    inspected(folder, "user.py")
    user.write_text(f"{USER}# more\n")
    inspected(folder, "user.py")
    deeper.write_text("def more(x):\n    return x\n")
    (found,) = inspected(folder, "user.py")
    assert found.targets[0].report.script.verdict == "ok"


def test_a_meaning_that_goes_round_by_another_file(folder: Path) -> None:
    """``twice`` is named by the other file only: nothing of this one mentions it."""
    user, other = folder / "user.py", folder / "other.py"
    text = (
        "from torch import nn\nimport other\n\n\ndef twice(x):\n    return 2 * x\n\n\n"
        "class Net(nn.Module):\n    def forward(self, x):\n        return other.scaled(x)\n"
    )
    user.write_text(text)
    other.write_text("from user import twice\n\n\ndef scaled(x):\n    return twice(x)\n")
    assert inspected(folder, "user.py")[0].targets[0].report.script.verdict == "ok"
    user.write_text(text.replace("def twice(x):", "def twice(x, **more):"))
    found = inspected(folder, "user.py")
    assert found == inspected(folder, "user.py", cache=False)
    assert found[0].targets[0].report.script.verdict == "blocked"


def test_a_registration_in_a_file_that_nobody_imports(folder: Path) -> None:
    """A table that is filled by all files of a folder: a new one among them counts."""
    (folder / "pack").mkdir()
    names = {
        "__init__.py": "",
        "table.py": "TABLE = {}\n\n\ndef register(cls):\n    TABLE[cls.__name__] = cls\n    return cls\n",
        "one.py": "from torch import nn\nfrom pack.table import register\n\n\n@register\nclass One(nn.Module):\n    def forward(self, x):\n        return x\n",
        "net.py": "from torch import nn\nfrom pack.table import TABLE\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.one = TABLE['Two']()\n\n    def forward(self, x):\n        return self.one(x)\n",
    }
    for name, text in names.items():
        (folder / "pack" / name).write_text(text)
    inspected(folder, "pack/net.py")
    (folder / "pack" / "two.py").write_text(
        names["one.py"].replace("One", "Two").replace("return x", "return [x for x in x if x]")
    )
    assert inspected(folder, "pack/net.py") == inspected(folder, "pack/net.py", cache=False)


class TestFilesAsTheyWere:
    """A file whose size and time are those of before is not read again, unless it was written to."""

    @pytest.fixture
    def path(self, folder: Path) -> Path:
        path = folder / "nets.py"
        path.write_text(NETS)
        # As if it had been there for long: what is young is always read.
        hour_ago = time.time() - 3600
        os.utime(path, (hour_ago, hour_ago))
        return path

    def test_another_text_of_the_same_size_and_time(self, folder: Path, path: Path) -> None:
        inspected(folder, "nets.py")
        before = path.stat()
        path.write_text(NETS.replace("RATE = 2", "RATE = x"))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert path.stat().st_size == before.st_size
        assert inspected(folder, "nets.py") == inspected(folder, "nets.py", cache=False)

    def test_the_same_text_written_again(self, folder: Path, path: Path, judged: list[str]) -> None:
        inspected(folder, "nets.py")
        judged.clear()
        path.write_text(NETS)
        inspected(folder, "nets.py")
        assert judged == []


def test_the_cache_is_bounded_and_loses_what_was_written_first(folder: Path, tmp_path: Path) -> None:
    jobs = [Job(folder / f"net{number}.py", f"net{number}.py") for number in range(4)]
    for job in jobs:
        job.path.write_text(NETS)
    cache = Cache("", "2.13", tmp_path / "bounded")
    for number, job in enumerate(jobs):
        cache.put(job, Inspection(job.shown), ())
        os.utime(cache.place(job), (number, number))
    size = cache.place(jobs[0]).stat().st_size
    cache.trim(2 * size + 1)
    assert [cache.place(job).exists() for job in jobs] == [False, False, True, True]
    cache.trim(0)  # so soon after the last time nothing is done
    assert cache.place(jobs[3]).exists()
