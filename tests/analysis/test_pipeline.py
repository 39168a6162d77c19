"""Pipeline rules beyond their pages: the same facts written otherwise, and code that must pass in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tsguard.analysis.pipeline import pipeline_events
from tsguard.project import Project

HEAD = """\
import functools
import os
import random

import h5py
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, get_worker_info
from torch.utils.data.distributed import DistributedSampler


class Items(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index


"""


def rules_of(source: str, folder: Path, **others: str) -> list[str]:
    """The rules that a module breaks, in the order of their lines; ``others`` are modules beside it."""
    for name, text in others.items():
        (folder / f"{name}.py").write_text(HEAD + text)
    (folder / "train.py").write_text(HEAD + source)
    project = Project((folder,))
    events = pipeline_events(project, project.module(folder / "train.py"))
    return [event.rule for event in sorted(events, key=lambda event: event.span)]


FOUND = {
    "options in a dictionary": (
        "OPTIONS = dict(batch_size=4, prefetch_factor=2)\nloader = DataLoader(Items(), **OPTIONS)\n",
        ["option-needs-workers"],
    ),
    "positional arguments": (
        "loader = DataLoader(Items(), 4, True, [1, 2])\n",
        ["conflicting-sampling"],
    ),
    "another name for the class": (
        "import torch.utils.data as data\nloader = data.DataLoader(Items(), persistent_workers=True)\n",
        ["option-needs-workers"],
    ),
    "a constant of the module": (
        "WORKERS = 0\nloader = DataLoader(Items(), num_workers=WORKERS, prefetch_factor=4)\n",
        ["option-needs-workers"],
    ),
    "a loader that a function is given": (
        """
def train(model, batches):
    for batch in batches:
        model(batch)
def main(model):
    loader = DataLoader(Items(), num_workers=2)
    for epoch in range(3):
        train(model, loader)
""",
        ["workers-restarted"],
    ),
    "a loader of the module in a function that is called in a loop": (
        """
loader = DataLoader(Items(), num_workers=os.cpu_count())
def train(model):
    for number, batch in enumerate(loader):
        model(batch)
for epoch in range(3):
    train(print)
""",
        ["workers-restarted"],
    ),
    "a loader in an attribute": (
        """
class Trainer:
    def __init__(self):
        self.loader = DataLoader(Items(), num_workers=2)
    def fit(self):
        for epoch in range(3):
            for batch in self.loader:
                print(batch)
""",
        ["workers-restarted"],
    ),
    "a dataset under a wrapper": (
        """
from torch.utils.data import Subset
class Noise(Items):
    def __init__(self):
        self.rng = random.Random(0)
    def __getitem__(self, index):
        return self.rng.random()
loader = DataLoader(Subset(Noise(), [1, 2]), num_workers=2)
""",
        ["generator-copied"],
    ),
    "a generator of workers that persist": (
        """
class Noise(Items):
    def __init__(self):
        self.rng = random.Random(0)
    def __getitem__(self, index):
        return self.noise(index)
    def noise(self, index):
        return self.rng.random()
loader = DataLoader(Noise(), num_workers=2, persistent_workers=True)
""",
        ["generator-copied/persistent"],
    ),
    "a generator of one worker": (
        """
class Noise(Items):
    def __init__(self):
        self.rng = random.Random(0)
    def __getitem__(self, index):
        return self.rng.random()
loader = DataLoader(Noise(), num_workers=1)
""",
        ["generator-copied/single"],
    ),
    "lines of a file that is closed": (
        """
import csv
class Lines(IterableDataset):
    def __init__(self, path):
        self.path = path
    def __iter__(self):
        with open(self.path) as file:
            for row in csv.reader(file):
                yield row
loader = DataLoader(Lines("rows.csv"), num_workers=2)
""",
        ["iterable-repeated"],
    ),
    "a part of an iterable": (
        """
class Lines(IterableDataset):
    def __iter__(self):
        yield from open("lines.txt")
loader = DataLoader(Lines(), num_workers=2)
""",
        ["iterable-repeated"],
    ),
    "a named part of an open file": (
        """
class Rows(Items):
    def __init__(self, path):
        self.file = h5py.File(path)
        self.rows = self.file["rows"]
    def __getitem__(self, index):
        return self.rows[index]
loader = DataLoader(Rows("rows.h5"), num_workers=2)
""",
        ["handle-shared"],
    ),
    "a timeout without workers": (
        "loader = DataLoader(Items(), timeout=5)\n",
        ["option-needs-workers/iterated"],
    ),
    "a seeded generator of torch": (
        """
class Noise(Items):
    def __init__(self):
        self.generator = torch.Generator().manual_seed(0)
    def __getitem__(self, index):
        return torch.rand((), generator=self.generator)
loader = DataLoader(Noise(), num_workers=2)
""",
        ["generator-copied"],
    ),
    "a seed from the configuration": (
        """
def train(args):
    loader = DataLoader(Items(), num_workers=2, worker_init_fn=lambda worker: np.random.seed(args.seed + worker))
    return loader
""",
        ["unpicklable-callback/lambda", "worker-seed-constant"],
    ),
    "every part of a dictionary moved": (
        """
def train(device):
    for batch in DataLoader(Items(), pin_memory=True):
        batch = {name: tensor.to(device) for name, tensor in batch.items()}
""",
        ["half-pinned-transfer/blocking"],
    ),
    "parts of a batch that have names of their own": (
        """
def train(device):
    for batch in DataLoader(Items(), pin_memory=True):
        images, masks = batch["image"], batch["mask"]
        images = images.to(device)
""",
        ["half-pinned-transfer/blocking"],
    ),
    "a batch taken apart": (
        """
def train(device):
    for step, batch in enumerate(DataLoader(Items(), pin_memory=True)):
        images, labels = batch
        labels.to(device=device)
""",
        ["half-pinned-transfer/blocking"],
    ),
    "a file opened by with": (
        """
class Rows(Items):
    def __init__(self, path):
        self.path = path
    def __getitem__(self, index):
        with h5py.File(self.path, "r") as file:
            return file["rows"][index]
""",
        ["file-reopened"],
    ),
    "results of a loop over a loader": (
        """
def evaluate(model):
    outputs = torch.empty(0, 2)
    for batch in DataLoader(Items()):
        outputs = torch.cat((outputs, model(batch)))
    return outputs
""",
        ["grown-by-cat"],
    ),
    "a class derived from DataLoader": (
        """
class Loader(DataLoader):
    def __len__(self):
        return 3
class Further(Loader):
    pass
loader = Further(Items(), persistent_workers=True)
""",
        ["option-needs-workers"],
    ),
    "the constructor of a class derived from DataLoader": (
        """
class Loader(DataLoader):
    def __init__(self, items):
        super().__init__(items, prefetch_factor=2, collate_fn=self.collate)
    def collate(self, batch):
        return torch.stack([torch.tensor(item) for item in batch])
""",
        ["option-needs-workers", "converted-one-by-one"],
    ),
    "a loader under a progress bar that is entered": (
        """
from tqdm import tqdm
def train(loader):
    for epoch in range(3):
        with tqdm(loader) as bar:
            for batch in bar:
                print(batch)
        with tqdm(enumerate(loader)) as bar:
            for step, batch in bar:
                print(batch)
train(DataLoader(Items(), num_workers=2))
""",
        ["workers-restarted", "workers-restarted"],
    ),
    "a loader counted under a progress bar": (
        """
from tqdm.auto import tqdm
def train():
    loader = DataLoader(Items(), num_workers=2)
    for epoch in range(3):
        for step, batch in tqdm(enumerate(loader), total=4):
            print(batch)
""",
        ["workers-restarted"],
    ),
    "a method of an object that collates": (
        """
class Collator:
    def merge(self, batch):
        return torch.stack([torch.tensor(item) for item in batch])
loader = DataLoader(Items(), collate_fn=Collator().merge)
""",
        ["converted-one-by-one"],
    ),
    "an object that collates when it is called": (
        """
class Collator:
    def __call__(self, batch):
        return torch.stack([torch.tensor(item) for item in batch])
collator = Collator()
loader = DataLoader(Items(), collate_fn=collator)
""",
        ["converted-one-by-one"],
    ),
}
SILENT = {
    "options that are changed on the way": """
options = {"batch_size": 4, "prefetch_factor": 2}
if torch.cuda.is_available():
    options.update({"num_workers": 4})
loader = DataLoader(Items(), **options)
""",
    "workers from the command line": """
def make(args):
    return DataLoader(Items(), num_workers=args.workers, prefetch_factor=2, persistent_workers=True)
""",
    "a sampler that may be None": """
def make(sampler):
    return DataLoader(Items(), sampler=sampler, shuffle=sampler is None)
""",
    "a sampler or shuffling": """
def make(distributed):
    sampler = DistributedSampler(Items()) if distributed else None
    return DataLoader(Items(), sampler=sampler, shuffle=True)
""",
    "shuffle=False beside a batch sampler": """
def make(batches):
    return DataLoader(Items(), batch_sampler=list(batches), shuffle=False)
""",
    "a lambda without workers": "loader = DataLoader(Items(), collate_fn=lambda batch: batch)\n",
    "a lambda where workers are forked": """
loader = DataLoader(Items(), num_workers=2, collate_fn=lambda batch: batch, multiprocessing_context="fork")
""",
    "one pass over a loader": """
def evaluate(model):
    for batch in DataLoader(Items(), num_workers=2):
        model(batch)
""",
    "epochs with persistent workers": """
def train(model):
    loader = DataLoader(Items(), num_workers=2, persistent_workers=True)
    for epoch in range(3):
        for batch in loader:
            model(batch)
""",
    "a loader for each fold": """
def cross_validate(folds, model):
    for fold in folds:
        loader = DataLoader(fold, num_workers=2)
        for batch in loader:
            model(batch)
""",
    "a loader whose dataset grows": """
def train(model, dataset):
    for epoch in range(3):
        dataset.add(epoch)
        loader = DataLoader(dataset, num_workers=2)
        for batch in loader:
            model(batch)
""",
    "workers that must see the dataset of each epoch": """
def train(model, dataset):
    loader = DataLoader(dataset, num_workers=2)
    for epoch in range(3):
        dataset.set_epoch(epoch)
        for batch in loader:
            model(batch)
""",
    "a dataset that is changed through its loader": """
def train(model):
    loader = DataLoader(Items(), num_workers=2)
    for epoch in range(3):
        loader.dataset.hard = epoch > 1
        for batch in loader:
            model(batch)
""",
    "one batch for a look": """
loader = DataLoader(Items())
sample = next(iter(loader))
for epoch in range(3):
    print(sample)
""",
    "data in memory without workers": """
def train(model):
    loader = DataLoader(TensorDataset(torch.rand(8, 3)))
    for batch, in loader:
        model(batch).mean().backward()
""",
    "a sampler that is told the epoch": """
def train(model):
    sampler = DistributedSampler(Items())
    loader = DataLoader(Items(), sampler=sampler)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for batch in loader:
            model(batch)
""",
    "a change of dtype of a pinned batch": """
def train(model):
    for batch in DataLoader(Items(), pin_memory=True):
        model(batch.to(torch.float32))
""",
    "a move to the CPU": """
def train(model):
    for batch in DataLoader(Items(), pin_memory=True):
        model(batch).to("cpu")
""",
    "what is made of a pinned batch": """
def train(model, device):
    for batch in DataLoader(Items(), pin_memory=True):
        rows = batch.float()
        model(rows.to(device))
""",
    "pinning that depends": """
def train(model, device):
    for batch in DataLoader(Items(), pin_memory=device.type == "cuda"):
        model(batch.to(device))
""",
    "a generator of the worker's own": """
class Noise(Items):
    def __init__(self):
        self.rng = random.Random(0)
    def __getitem__(self, index):
        return self.rng.random()
def seed(worker):
    get_worker_info().dataset.rng = random.Random(torch.initial_seed())
loader = DataLoader(Noise(), num_workers=2, worker_init_fn=seed)
""",
    "a generator that is made anew": """
class Noise(Items):
    def __init__(self):
        self.rng = random.Random(0)
    def __getitem__(self, index):
        self.rng = random.Random(index)
        return self.rng.random()
loader = DataLoader(Noise(), num_workers=2)
""",
    "a generator of one worker that persists": """
class Noise(Items):
    def __init__(self):
        self.rng = random.Random(0)
    def __getitem__(self, index):
        return self.rng.random()
loader = DataLoader(Noise(), num_workers=1, persistent_workers=True)
""",
    "a generator that draws before the items are made": """
class Shuffled(Items):
    def __init__(self):
        self.rng = random.Random(0)
        self.shuffle()
    def shuffle(self):
        self.order = self.rng.sample(range(8), 8)
    def __getitem__(self, index):
        return self.order[index]
loader = DataLoader(Shuffled(), num_workers=2)
""",
    "an iterable of one worker": """
class Lines(IterableDataset):
    def __iter__(self):
        return iter(open("lines.txt"))
loader = DataLoader(Lines(), num_workers=1)
""",
    "rows read from a file into memory": """
class Rows(Items):
    def __init__(self, path):
        self.rows = h5py.File(path)["rows"][:]
    def __getitem__(self, index):
        return self.rows[index]
loader = DataLoader(Rows("rows.h5"), num_workers=2)
""",
    "seeds of torch's": """
def seed(worker):
    random.seed(torch.initial_seed())
    np.random.seed(get_worker_info().seed % 2**32)
loader = DataLoader(Items(), num_workers=2, worker_init_fn=seed)
""",
    "constant seeds of workers that persist": """
def seed(worker):
    random.seed(worker)
loader = DataLoader(Items(), num_workers=2, worker_init_fn=seed, persistent_workers=True)
""",
    "a stream that is no list": """
class Stream(IterableDataset):
    def __init__(self, source):
        self.source = source
    def __iter__(self):
        for item in self.source:
            yield item
loader = DataLoader(Stream(open), num_workers=2)
""",
    "an endless random stream": """
class Stream(IterableDataset):
    def __iter__(self):
        while True:
            yield random.random()
loader = DataLoader(Stream(), num_workers=2)
""",
    "a handle opened when it is first needed": """
class Rows(Items):
    def __init__(self, path):
        self.path, self.file = path, None
    def __getitem__(self, index):
        if self.file is None:
            self.file = h5py.File(self.path, "r")
        return self.file["rows"][index]
loader = DataLoader(Rows("rows.h5"), num_workers=2)
""",
    "a file for each item": """
class Files(Items):
    def __init__(self, paths):
        self.paths = paths
    def __getitem__(self, index):
        return torch.from_numpy(np.load(self.paths[index]))
""",
    "a file read in the constructor and closed": """
class Lines(Items):
    def __init__(self, path):
        with open(path) as file:
            self.lines = file.read().splitlines()
    def __getitem__(self, index):
        return self.lines[index]
loader = DataLoader(Lines("lines.txt"), num_workers=2)
""",
    "a mean of the item itself": """
class Centred(Items):
    def __init__(self, data):
        self.data = data
    def __getitem__(self, index):
        row = self.data[index]
        return row - row.mean()
""",
    "a statistic of what changes": """
class Window(Items):
    def __init__(self):
        self.recent = []
    def __getitem__(self, index):
        self.recent = self.recent[-9:] + [index]
        return sum(self.recent)
""",
    "generation by cat, which reads what is there": """
def collate(batch):
    ids = batch[0]
    for _ in range(9):
        following = ids[-1:] + 1
        ids = torch.cat([ids, following])
    return ids
""",
    "float64 on the way to float32": """
class Points(Items):
    def __getitem__(self, index):
        return torch.from_numpy(np.random.rand(3)).float()
""",
    "float32 from numpy": """
class Points(Items):
    def __getitem__(self, index):
        return torch.from_numpy(np.zeros(3, dtype=np.float32)), torch.from_numpy(np.ones(3, np.float32))
""",
    "a copy of an array that somebody else holds": """
def collate(batch):
    whole = np.stack(batch)
    tensor = torch.tensor(whole)
    whole[:] = 0
    return tensor
""",
    "a few numbers written out": "weights = torch.tensor(np.array([1.0, 2.0]))\n",
    "numbers that become a tensor": """
def collate(batch):
    return torch.tensor([item["label"] for item in batch]), torch.stack([item["image"] for item in batch])
""",
    "arrays that are shared before they are stacked": """
def collate(batch):
    return torch.stack([torch.from_numpy(item) for item in batch])
""",
    "a transform that depends on the item": """
from torchvision import transforms
class Images(Items):
    def __getitem__(self, index):
        return transforms.Resize(index)
""",
    "a class of the same name": """
class DataLoader:
    def __init__(self, *args, **rest): ...
loader = DataLoader(Items(), prefetch_factor=2)
""",
    "a broken import": "from .nowhere import Missing\nloader = DataLoader(Missing(), num_workers=2)\n",
    "a class derived from DataLoader that gives its own arguments": """
class Loader(DataLoader):
    def __init__(self, items, **options):
        super().__init__(items, num_workers=2, **options)
loader = Loader(Items(), persistent_workers=True)
for epoch in range(3):
    for batch in loader:
        print(batch)
""",
    "a class derived from more than DataLoader": """
class Loader(Options, DataLoader):
    pass
loader = Loader(Items(), persistent_workers=True)
""",
    "what a context manager of its own gives": """
def train():
    for epoch in range(3):
        with opened(DataLoader(Items(), num_workers=2)) as batches:
            for batch in batches:
                print(batch)
""",
}


@pytest.mark.parametrize("case", FOUND)
def test_the_same_written_otherwise_is_found(case: str, tmp_path: Path):
    source, rules = FOUND[case]
    found = rules_of(source, tmp_path)
    assert [rule for rule in found if not rule.startswith("missing-main-guard")] == rules


@pytest.mark.parametrize("case", SILENT)
def test_what_is_right_or_cannot_be_told_passes(case: str, tmp_path: Path):
    assert rules_of(SILENT[case], tmp_path) == []


def test_a_dataset_of_another_file_is_looked_into(tmp_path: Path):
    dataset = """
class Noise(Items):
    def __init__(self):
        self.rng = random.Random(0)
    def __getitem__(self, index):
        return self.rng.random()
"""
    source = "from noise import Noise\nloader = DataLoader(Noise(), num_workers=2)\n"
    assert rules_of(source, tmp_path, noise=dataset) == ["generator-copied"]


def test_files_without_a_pipeline_cost_a_search(tmp_path: Path):
    (tmp_path / "net.py").write_text("import torch\nx = torch.tensor([torch.ones(1)])\n")
    project = Project((tmp_path,))
    assert list(pipeline_events(project, project.module(tmp_path / "net.py"))) == []


def test_generated_code_is_nested_deeply(tmp_path: Path):
    terms = " + ".join(["1"] * 900)
    assert rules_of(f"x = {terms}\nloader = DataLoader(Items(), prefetch_factor=2)\n", tmp_path) == [
        "option-needs-workers"
    ]


MADE_BY_ITSELF = """\
class Table:
    def __init__(self, rows):
        self.rows = self.rows.where(rows)

    def show(self):
        return DataLoader(self.rows)
"""


def test_an_object_that_is_made_by_a_method_of_itself_ends_the_search(tmp_path):
    assert rules_of(MADE_BY_ITSELF, tmp_path) == []
