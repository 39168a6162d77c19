"""What the pure-performance rules of the input pipeline (TSG5xx) save, measured.

    python benchmarks/input_pipeline.py [SECONDS]

Each line pairs what a rule objects to with what its page advises, in one thread and on
that thread's CPU clock, for at most SECONDS (3); printed are the time of the first and
the ratio of the two with its 95% interval. Above 1 the advice is faster.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import default_collate

from tsguard.runtime.worker.timing import HostClock, measure, warm_up

Step = Callable[[], object]
Case = tuple[str, Step, Step]
SHAPES = {"16": (16,), "3x32x32": (3, 32, 32), "3x224x224": (3, 224, 224)}


def naive(batch: list[tuple[Tensor, int]]) -> tuple[Tensor, Tensor]:
    images = torch.stack([item[0] for item in batch])
    labels = torch.tensor([item[1] for item in batch])
    return images, labels


scripted = torch.jit.script(naive)


def preallocated(batch: list[tuple[Tensor, int]]) -> tuple[Tensor, Tensor]:
    images = torch.empty(len(batch), *batch[0][0].shape)
    labels = torch.empty(len(batch), dtype=torch.long)
    for index, (image, label) in enumerate(batch):
        images[index] = image
        labels[index] = label
    return images, labels


def collating() -> Iterator[Case]:
    for name, shape in SHAPES.items():
        for size in (8, 64):
            batch = [(torch.rand(shape), label) for label in range(size)]
            what = f"{size} x {name}"
            yield (
                f"TSG501 scripted / plain collate, {what}",
                lambda b=batch: scripted(b),
                lambda b=batch: naive(b),
            )
            yield (
                f"       preallocated / plain collate, {what}",
                lambda b=batch: preallocated(b),
                lambda b=batch: naive(b),
            )
            yield (
                f"       default_collate / plain collate, {what}",
                lambda b=batch: default_collate(b),
                lambda b=batch: naive(b),
            )


def converting() -> Iterator[Case]:
    labels = list(range(64))
    yield (
        "TSG502 stack([tensor(y)]) / tensor(list), 64 labels",
        lambda: torch.stack([torch.tensor(y) for y in labels]),
        lambda: torch.tensor(labels),
    )
    for name, shape in SHAPES.items():
        arrays = [np.random.rand(*shape).astype(np.float32) for _ in range(32)]
        yield (
            f"TSG502 stack([tensor(a)]) / from_numpy(np.stack), 32 x {name}",
            lambda a=arrays: torch.stack([torch.tensor(x) for x in a]),
            lambda a=arrays: torch.from_numpy(np.stack(a)),
        )
        yield (
            f"       stack([from_numpy(a)]) / from_numpy(np.stack), 32 x {name}",
            lambda a=arrays: torch.stack([torch.from_numpy(x) for x in a]),
            lambda a=arrays: torch.from_numpy(np.stack(a)),
        )
        whole = np.stack(arrays)
        yield (
            f"TSG506 tensor(array) / from_numpy(array), 32 x {name}",
            lambda a=whole: torch.tensor(a),
            lambda a=whole: torch.from_numpy(a),
        )
    values = torch.arange(256)
    yield (
        "TSG504 [x.item() for x in t] / t.tolist(), 256 values",
        lambda: [x.item() for x in values],
        lambda: values.tolist(),
    )


def growing() -> Iterator[Case]:
    for count in (8, 64, 256):
        parts = [torch.rand(1, 512) for _ in range(count)]

        def grow(parts: list[Tensor] = parts) -> Tensor:
            out = parts[0]
            for part in parts[1:]:
                out = torch.cat([out, part])
            return out

        yield f"TSG505 cat in a loop / cat once, {count} x 512", grow, lambda p=parts: torch.cat(p)


def repeating() -> Iterator[Case]:
    data = torch.rand(10_000, 64)
    mean = data.mean(0)
    yield (
        "TSG524 x - data.mean(0) / x - mean, 10000 x 64",
        lambda: data[7] - data.mean(0),
        lambda: data[7] - mean,
    )
    window = torch.hann_window(400)
    sound = torch.rand(16_000)
    yield (
        "TSG526 hann_window(400) each time / once, with stft",
        lambda: torch.stft(sound, 400, window=torch.hann_window(400), return_complex=True),
        lambda: torch.stft(sound, 400, window=window, return_complex=True),
    )
    images = torch.rand(16, 3, 256, 256)
    small = torch.nn.functional.interpolate(images, 64, mode="bilinear")
    yield (
        "TSG527 interpolate an item each time / once, 256 to 64",
        lambda: torch.nn.functional.interpolate(images[3:4], 64, mode="bilinear"),
        lambda: small[3:4].clone(),
    )


def reading(folder: Path) -> Iterator[Case]:
    path = folder / "data.npy"
    np.save(path, np.random.rand(2_000, 64))
    mapped = np.load(path, mmap_mode="r")
    yield (
        "TSG525 np.load(file)[i] / mapped[i], 1 MB",
        lambda: np.load(path)[7].copy(),
        lambda: mapped[7].copy(),
    )


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    torch.set_num_threads(1)
    torch.manual_seed(0)
    clock = HostClock("thread CPU", time.thread_time)
    with tempfile.TemporaryDirectory() as folder:
        print(f"torch {torch.__version__}, {clock.name}")
        for cases in (collating(), converting(), growing(), repeating(), reading(Path(folder))):
            for name, slow, quick in cases:
                for step in (slow, quick):
                    warm_up(step, clock, 5)
                found = measure(slow, quick, clock, seconds)
                ratio = found.ratio
                told = (
                    f"{ratio.median:8.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"
                    if ratio
                    else "too slow to tell"
                )
                print(f"{name:62} {found.eager_seconds * 1e6:10.1f} us {told}")


if __name__ == "__main__":
    main()
