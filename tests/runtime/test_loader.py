"""Real DataLoaders with real workers, measured; what goes wrong in them becomes part of the report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tsguard.report import LoaderReport, Throughput
from tsguard.runtime.launcher import Launcher
from tsguard.runtime.loader import LoaderJob, measure_loader
from tsguard.runtime.loader_task import LoaderTask
from tsguard.runtime.site import cuda_devices
from tsguard.runtime.subject import Subject
from tsguard.runtime.task import Limits

FIXTURES = Path(__file__).parents[2] / "fixtures" / "loaders.py"
HEAD = """\
import ctypes, os, time
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


class Items(Dataset):
    def __init__(self, size=64):
        self.size = size
    def __len__(self):
        return self.size
    def __getitem__(self, index):
        if get_worker_info() is not None:
            self.in_worker(index)
        return self.item(index)
    def in_worker(self, index):
        pass
    def item(self, index):
        return torch.full((3,), float(index))


"""

Measuring = Callable[..., LoaderReport]


@pytest.fixture
def measuring(launcher: Launcher, tmp_path: Path) -> Measuring:
    """Measures a loader of a file: the given source, else the fixtures."""

    def run(
        expression: str,
        source: str | None = None,
        memory_mb: int = 4096,
        gpu: bool = False,
        **fields: object,
    ) -> LoaderReport:
        file = FIXTURES
        if source is not None:
            file = tmp_path / "loading.py"
            file.write_text(HEAD + source)
        task = LoaderTask(expression, **{"seconds": 6.0, "patience": 20.0, **fields})  # type: ignore[arg-type]
        subject = Subject(
            f"{file.name}:{expression}",
            str(file),
            file.name,
            str(file.parent),
            file.stem,
            expression,
            "function",
        )
        return measure_loader(launcher.run, LoaderJob(subject, task, Limits(60, memory_mb), gpu))

    return run


def row(report: LoaderReport, workers: int) -> Throughput:
    return next(row for row in report.throughput if row.workers == workers)


def test_workers_that_wait_add_up(measuring: Measuring):
    report = measuring("fetching()", workers=(0, 1, 8))
    assert report.error is None
    assert {r.workers: r.status for r in report.throughput} == {0: "ok", 1: "ok", 8: "ok"}
    assert report.recommended is not None
    assert report.recommended.num_workers == 8
    assert row(report, 8).items_per_second > 2 * row(report, 0).items_per_second


def test_items_that_cost_nothing_are_best_made_in_the_process(measuring: Measuring):
    report = measuring("ready()", workers=(0, 2))
    assert report.recommended is not None
    assert report.recommended.num_workers == 0
    assert "keep num_workers=0" in (report.recommendation or "")


def test_the_loader_is_described(measuring: Measuring):
    report = measuring("decoding()", workers=(0,))
    assert (report.dataset, report.kind, report.length, report.batch_size) == ("Images", "map", 4096, 16)
    assert report.collate == "default_collate"
    assert report.settings.num_workers == 0


def test_the_time_of_a_batch_is_split(measuring: Measuring):
    computing, waiting = (measuring(f"{name}()", steps=()).cost for name in ("decoding", "fetching"))
    assert computing is not None
    assert waiting is not None
    assert computing.items == 16
    assert computing.bytes == 16 * (3 * 32 * 32 * 4 + 8)
    assert computing.item_cpu_seconds >= 16 * 0.002 > 2 * waiting.item_cpu_seconds
    assert waiting.item_seconds >= 16 * 0.002
    assert computing.collate_seconds < computing.item_seconds


@pytest.mark.parametrize("name", ["texts", "detections", "in_own_batches", "stream"])
def test_every_kind_of_loader_is_measured_with_and_without_workers(measuring: Measuring, name: str):
    report = measuring(f"{name}()", workers=(0, 2))
    assert report.error is None
    assert [r.status for r in report.throughput] == ["ok", "ok"]
    assert not any("whole dataset" in note for note in report.notes)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_workers_need_not_be_forked(measuring: Measuring, method: str):
    report = measuring("in_own_batches()", workers=(1,), start_method=method, patience=60.0)
    assert row(report, 1).status == "ok"


def test_worker_init_fn_runs_in_the_workers(measuring: Measuring):
    source = """
def mark(worker):
    os.environ["MARKED"] = "yes"
class Marked(Items):
    def in_worker(self, index):
        assert os.environ["MARKED"]
loader = DataLoader(Marked(), 8, worker_init_fn=mark)
"""
    assert row(measuring("loader", source, workers=(2,)), 2).status == "ok"


def test_a_short_dataset_goes_on_for_ever_in_the_order_of_its_sampler(measuring: Measuring):
    source = "loader = DataLoader(Items(5), 2, sampler=[4, 2, 0])\n"
    report = measuring("loader", source, workers=(0, 2))
    assert [r.status for r in report.throughput] == ["ok", "ok"]


def test_a_dataset_is_batched(measuring: Measuring):
    report = measuring("Items", "", is_dataset=True, batch_size=4, workers=(0,))
    assert (report.dataset, report.batch_size) == ("Items", 4)
    assert row(report, 0).status == "ok"


# The collate function


def outcomes(report: LoaderReport) -> dict[str, str]:
    return {attempt.backend: attempt.status for attempt in report.collating}


def test_the_collate_function_is_scripted_and_traced(measuring: Measuring):
    report = measuring("texts()", steps=("collate",))
    assert outcomes(report) == {"script": "ok", "trace": "diverged"}
    scripted, traced = report.collating
    assert scripted.speedup is not None
    assert scripted.parity is not None
    assert scripted.parity.ok
    assert [v.name for v in traced.parity.variants if not v.equal] == ["a shorter batch"]  # type: ignore[union-attr]


def test_what_torch_itself_collates_with_is_not_tried(measuring: Measuring):
    report = measuring("in_own_batches()", steps=("collate",))
    assert report.collate == "default_collate"
    assert report.collating == ()


@pytest.mark.parametrize(
    ("name", "script"),
    [("collate_plain", "failed"), ("collate_scripted", "ok"), ("collate_preallocated", "ok")],
)
def test_the_collate_functions_of_the_article(measuring: Measuring, name: str, script: str):
    source = (
        FIXTURES.with_name("collate.py").read_text()
        + f"""
class Labelled(Items):
    def item(self, index):
        return torch.zeros(3, 32, 32), index
loader = DataLoader(Labelled(), 8, collate_fn={name})
"""
    )
    report = measuring("loader", source, steps=("collate",))
    assert report.error is None
    assert outcomes(report) == {"script": script, "trace": "failed"}
    assert report.collate == name


@pytest.mark.parametrize(
    ("name", "says"), [("collate_traced", "TypeError"), ("collate_untyped", "NameError")]
)
def test_the_broken_collate_functions_of_the_article_cannot_be_imported(
    measuring: Measuring, name: str, says: str
):
    report = measuring(name, FIXTURES.with_name(f"{name}.py").read_text())
    assert report.step == "import"
    assert report.error is not None
    assert report.error.type == says


@pytest.mark.gpu
def test_pinned_memory_is_measured_on_a_gpu(launcher: Launcher, measuring: Measuring):
    if not cuda_devices(launcher):
        pytest.skip("no CUDA device here")
    report = measuring("texts()", workers=(0, 2), gpu=True)
    assert report.pinned is not None
    assert report.cost is not None
    assert report.cost.transfer_seconds is not None


# What goes wrong


def test_a_dataset_that_raises(measuring: Measuring):
    source = """
class Corrupt(Items):
    def item(self, index):
        if index == 3:
            raise ValueError("image 3 is corrupt")
        return super().item(index)
loader = DataLoader(Corrupt(), 2)
"""
    report = measuring("loader", source)
    assert report.step == "first batch"
    assert report.error is not None
    assert (report.error.type, report.error.message) == ("ValueError", "image 3 is corrupt")
    assert (report.error.path, report.error.line) == ("loading.py", HEAD.count("\n") + 5)


def failing_in_worker(statement: str) -> str:
    return f"class Bad(Items):\n    def in_worker(self, index):\n        {statement}\nloader = DataLoader(Bad(), 4)\n"


@pytest.mark.parametrize(
    ("statement", "status", "says"),
    [
        ("raise KeyError('no such file')", "failed", "no such file"),
        ("os._exit(3)", "crashed", "exited"),
        ("ctypes.string_at(0)", "crashed", "Segmentation fault"),
        ("os.kill(os.getpid(), 9)", "crashed", "killed"),
    ],
)
def test_a_dataset_that_fails_in_workers(measuring: Measuring, statement: str, status: str, says: str):
    report = measuring("loader", failing_in_worker(statement), workers=(0, 1))
    assert row(report, 0).status == "ok"
    assert row(report, 1).status == status
    assert says in row(report, 1).error.message or "SIG" in row(report, 1).error.message  # type: ignore[union-attr]
    assert report.recommended is not None
    assert report.recommended.num_workers == 0


def test_a_worker_that_hangs_is_found_where_it_hangs(measuring: Measuring):
    source = failing_in_worker("time.sleep(1000)")
    report = measuring("loader", source, workers=(0, 1), patience=3.0)
    assert row(report, 1).status == "timeout"
    error = row(report, 1).error
    assert error is not None
    assert (error.path, error.line) == ("loading.py", HEAD.count("\n") + 3)


def test_a_dataset_that_hangs_in_the_process(measuring: Measuring):
    source = "class Bad(Items):\n    def item(self, index):\n        time.sleep(1000)\nloader = DataLoader(Bad(), 4)\n"
    report = measuring("loader", source, seconds=2.0, patience=2.0)
    assert report.step == "first batch"
    assert report.error is not None
    assert (report.error.type, report.error.line) == ("Timeout", HEAD.count("\n") + 3)


def test_a_segfault_in_the_process(measuring: Measuring):
    source = "class Bad(Items):\n    def item(self, index):\n        ctypes.string_at(0)\nloader = DataLoader(Bad(), 4)\n"
    report = measuring("loader", source)
    assert report.step == "first batch"
    assert report.error is not None
    assert "SIGSEGV" in report.error.message


def test_workers_that_take_too_much_memory_end_alone(measuring: Measuring):
    source = failing_in_worker("self.hoard = bytearray(os.urandom(2**20)) * 2000")
    report = measuring("loader", source, memory_mb=1500, workers=(0, 2))
    assert row(report, 0).status == "ok"
    assert row(report, 2).status == "crashed"
    assert "memory" in row(report, 2).error.message  # type: ignore[union-attr]


def test_what_cannot_be_spawned_is_told(measuring: Measuring):
    source = "loader = DataLoader(Items(), 4, collate_fn=lambda batch: batch)\n"
    report = measuring("loader", source, workers=(0, 1), start_method="spawn")
    assert row(report, 1).status == "failed"
    assert any("collate_fn cannot be sent to workers that are spawned" in note for note in report.notes)


def test_what_is_shared_by_inheritance_can_be_spawned(measuring: Measuring):
    source = """
import multiprocessing
class Counting(Items):
    def __init__(self):
        super().__init__()
        context = multiprocessing.get_context("spawn")
        self.lock, self.count = context.Lock(), context.Value("i", 0)
loader = DataLoader(Counting(), 4)
"""
    report = measuring(
        "loader", source, workers=(1,), start_method="spawn", steps=("workers",), patience=60.0
    )
    assert row(report, 1).status == "ok"
    assert not any("spawned" in note for note in report.notes)


def test_batches_that_do_not_fit_into_shared_memory_are_not_tried(measuring: Measuring):
    source = """
class Huge(Items):
    def item(self, index):
        return torch.empty(1, dtype=torch.uint8).expand(2**40)
loader = DataLoader(Huge(), 1, collate_fn=list)
"""
    report = measuring("loader", source, workers=(1,), steps=("workers",))
    assert row(report, 1).status == "skipped"
    assert "shared memory" in row(report, 1).error.message  # type: ignore[union-attr]


def test_an_iterable_that_every_worker_goes_through_is_told(measuring: Measuring):
    source = """
class Numbers(IterableDataset):
    def __iter__(self):
        return iter([torch.full((3,), float(number)) for number in range(64)])
loader = DataLoader(Numbers(), 4)
"""
    report = measuring("loader", source, workers=(0, 2))
    assert any("whole dataset" in note for note in report.notes)


def test_a_loader_without_batches(measuring: Measuring):
    report = measuring("loader", "loader = DataLoader(Items(0), 4)\n")
    assert report.error is not None
    assert report.error.message == "the loader returns no batch"


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("loadr", "did you mean 'loader'?"),
        ("loader.dataset", "--batch-size"),
        ("make", "missing 1 required positional argument: 'size'"),
        ("pair", "pair is a tuple"),
        ("loader(", "is not an expression"),
    ],
)
def test_what_is_no_loader(measuring: Measuring, expression: str, says: str):
    source = """
loader = DataLoader(Items(), 4)
def make(size):
    return DataLoader(Items(), size)
def pair():
    return loader, loader
"""
    report = measuring(expression, source)
    assert report.error is not None
    assert report.error.type == "NoLoader"
    assert says in report.error.message


def test_an_error_inside_a_function_that_makes_the_loader_is_the_users(measuring: Measuring):
    report = measuring("make()", "def make():\n    return DataLoader(Items(), missing)\n")
    assert report.step == "loader"
    assert report.error is not None
    assert (report.error.type, report.error.line) == ("NameError", HEAD.count("\n") + 2)
