"""The experiments on pipeline pages: each rule's claim, put to a real DataLoader.

A claim takes an example's module and tells whether what the rule warns of happens in it.
It must hold for the Bad examples of a page and fail for the Good ones.  Work that is done
too often is counted, never timed: files opened and processes started are seen by an audit
hook, operations of torch by its own function mode, memory by its profiler.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

Claim = Callable[[ModuleType], bool]
ITEMS = 16


class Skip(Exception):
    """What the claim needs is not on this machine."""


def observe(module: ModuleType, name: str) -> dict[str, Any]:
    """Whether the claim of a rule holds: ``shown``, with ``error`` as it was raised, or ``skipped`` and why."""
    torch.manual_seed(0)
    code = module.__name__[:6].upper()
    try:
        return {"shown": CLAIMS[code](module), "error": None, "skipped": None}
    except Skip as reason:
        return {"shown": None, "error": None, "skipped": str(reason)}
    except Exception as error:
        return {"shown": True, "error": f"{type(error).__name__}: {error}", "skipped": None}


# What raises


def raises(module: ModuleType) -> bool:
    """``main()`` raises; so the claim fails if it returns."""
    module.main()
    return False


def collate_raises(module: ModuleType) -> bool:
    module.collate(*module.example_inputs())
    return False


def cannot_be_spawned(module: ModuleType) -> bool:
    """A spawned worker cannot be sent what it needs: pickled as multiprocessing does it."""
    loader = module.make_loader()
    for part in (loader.dataset, loader.collate_fn, loader.worker_init_fn):
        ForkingPickler.dumps(part)
    return False


def refuses_to_start(module: ModuleType) -> bool:
    """The file run as a program, where workers are spawned."""
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    program = f"import multiprocessing\nmultiprocessing.set_start_method('spawn', force=True)\n{source}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.py")
        path.write_text(program, encoding="utf-8")
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=100)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return False


# What is drawn or delivered again


def epochs_repeat(module: ModuleType) -> bool:
    """Two epochs draw the same numbers."""
    loader = module.make_loader()
    first, second = ([batch.tolist() for batch in loader] for _ in range(2))
    return bool(first == second)


def draws_repeat(module: ModuleType) -> bool:
    """Two epochs, or two workers in one of them, draw the same numbers."""
    return epochs_repeat(module) or items_repeat(module)


def items_repeat(module: ModuleType) -> bool:
    """One epoch delivers items more than once."""
    delivered = Counter(number for batch in module.make_loader() for number in batch.tolist())
    return max(delivered.values()) > 1


def order_repeats(module: ModuleType) -> bool:
    first, second = module.main()
    return bool(first == second)


# What is done again


def started_processes(module: ModuleType) -> bool:
    """More processes are started than the loader has workers."""
    started = _audited("os.fork", module.main)
    return len(started) > 1


def restarted(module: ModuleType) -> bool:
    """Processes are started again, or the first batch is given again."""
    if "num_workers" in Path(str(module.__file__)).read_text(encoding="utf-8"):
        return started_processes(module)
    first, second = module.main()
    return bool(torch.equal(first, second))


def read_here(module: ModuleType) -> bool:
    """The training process itself opens the data files."""
    with tempfile.TemporaryDirectory() as folder:
        _write_arrays(Path(folder), 8)
        opened = _audited("open", lambda: module.train(Path(folder), torch.nn.Linear(4, 1)))
    return any(str(path).endswith(".npy") for path, *_ in opened)


def opened_for_each_item(module: ModuleType) -> bool:
    import numpy

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.npy")
        numpy.save(path, numpy.zeros((ITEMS, 4), dtype=numpy.float32))
        opened = _audited("open", lambda: list(module.make_loader(path)))
    return sum(str(name).endswith(".npy") for name, *_ in opened) >= ITEMS


def moved_for_each_item(module: ModuleType) -> bool:
    """As many copies to the device as there are items."""
    if "num_workers" in Path(str(module.__file__)).read_text(encoding="utf-8"):
        _needs_gpu()
        return raises(module)
    return _counted(module.main)["to"] >= ITEMS


def half_pinned(module: ModuleType) -> bool:
    """Some copy of a batch is waited for, though the batch is pinned, or not pinned, though it is not waited for."""
    _needs_gpu()
    pinned: list[bool] = []
    blocking: list[bool] = []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.Tensor.to:
                pinned.append(args[0].is_pinned())
                blocking.append(not (kwargs or {}).get("non_blocking", False))
            return func(*args, **(kwargs or {}))

    with Watch():
        module.main()
    return any(p == b for p, b in zip(pinned, blocking, strict=True))


def converted_for_each_item(module: ModuleType) -> bool:
    """A tensor is made of each item: as many calls of torch.tensor as there are items."""
    return _counted(lambda: module.collate(*module.example_inputs()))["tensor"] >= ITEMS


def read_for_each_item(module: ModuleType) -> bool:
    return _counted(lambda: module.collate(*module.example_inputs()))["item"] >= ITEMS


def copied_for_each_item(module: ModuleType) -> bool:
    """The calls of torch.cat write several times as much as there is in the end."""
    written: list[int] = []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            if func is torch.cat:
                written.append(result.numel())
            return result

    with Watch():
        whole = module.collate(*module.example_inputs())
    return sum(written) > 4 * whole.numel()


def copied(module: ModuleType) -> bool:
    """Memory is allocated for the batch a second time, by torch."""
    inputs = module.example_inputs()
    with torch.autograd.profiler.profile(profile_memory=True) as profile:
        batch = module.collate(*inputs)
    allocated = sum(event.cpu_memory_usage for event in profile.function_events if event.cpu_memory_usage > 0)
    return bool(allocated >= batch.numel() * batch.element_size())


def averaged_again(module: ModuleType) -> bool:
    return _counted(module.main)["mean"] >= 8


def built_again(module: ModuleType) -> bool:
    return _counted(module.main)["hann_window"] >= ITEMS


def transformed_again(module: ModuleType) -> bool:
    return _counted(module.main)["interpolate"] >= ITEMS


def _audited(event: str, action: Callable[[], object]) -> list[tuple[Any, ...]]:
    """The arguments of an audit event, each time that an action causes it in this process."""
    seen: list[tuple[Any, ...]] = []
    here = os.getpid()
    watching = True

    def watch(name: str, arguments: tuple[Any, ...]) -> None:
        if watching and name == event and os.getpid() == here:
            seen.append(arguments)

    sys.addaudithook(watch)
    action()
    watching = False
    return seen


def _counted(action: Callable[[], object]) -> Counter[str]:
    """How often an action calls each function of torch, by its name."""
    counts: Counter[str] = Counter()

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            counts[getattr(func, "__name__", "")] += 1
            return func(*args, **(kwargs or {}))

    with Watch():
        action()
    return counts


def _write_arrays(folder: Path, count: int) -> None:
    import numpy

    for number in range(count):
        numpy.save(folder / f"{number}.npy", numpy.ones(4, dtype=numpy.float32))


def _needs_gpu() -> None:
    if not torch.cuda.is_available():
        raise Skip("needs a CUDA device")


CLAIMS: dict[str, Claim] = {
    "TSG501": cannot_be_spawned,
    "TSG502": converted_for_each_item,
    "TSG503": collate_raises,
    "TSG504": read_for_each_item,
    "TSG505": copied_for_each_item,
    "TSG506": copied,
    "TSG507": raises,
    "TSG508": raises,
    "TSG509": raises,
    "TSG510": raises,
    "TSG511": cannot_be_spawned,
    "TSG512": refuses_to_start,
    "TSG513": epochs_repeat,
    "TSG514": draws_repeat,
    "TSG515": cannot_be_spawned,
    "TSG516": items_repeat,
    "TSG517": started_processes,
    "TSG518": restarted,
    "TSG519": read_here,
    "TSG520": order_repeats,
    "TSG521": half_pinned,
    "TSG522": moved_for_each_item,
    "TSG523": raises,
    "TSG524": averaged_again,
    "TSG525": opened_for_each_item,
    "TSG526": built_again,
    "TSG527": transformed_again,
}
