"""What looks like a hazard and makes nothing wrong is no hazard; its neighbours that do are."""

from __future__ import annotations

import textwrap
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.rules.on_torch import load
from tsguard.analysis.python import Program
from tsguard.judges import judge
from tsguard.project import Project
from tsguard.project.targets import find_target

HARMLESS = {
    "pieces, slices and squeezed dimensions of a size that is asserted": """
        def f(x):
            assert x.size(1) == 4 and x.size(2) == 1
            first, second = torch.split(x, 2, dim=1)
            both = torch.cat([first, second, x[:, ::2]], 1).squeeze(2)
            return both.reshape(int(both.size(1) / 2), -1)
    """,
    "ones of the kind of the data of an input, and as many as it has rows": """
        def f(x):
            return x.data.new_ones(x.shape[0], 1) * x + (x * 2).data.new_full((1,), 3.0)
    """,
    "what is gathered in an empty list that is emptied before the call ends": """
        class Saved:
            def __init__(self):
                self.outputs = []

            def __call__(self, module, given, made):
                self.outputs.append(made)

            def clear(self):
                self.outputs = []

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.saved, self.sums = nn.Linear(4, 4), Saved(), []
                self.layer.register_forward_hook(self.saved)

            def forward(self, x):
                for _ in range(2):
                    x = self.layer(x)
                    self.sums.append(x.sum())
                y = torch.stack(self.saved.outputs) * torch.stack(self.sums).sum()
                self.saved.clear()
                self.sums.clear()
                return y if len(self.saved.outputs) == 0 else -y
    """,
    "a tensor that is held against itself, being the query and the key": """
        class Attention(nn.Module):
            def forward(self, query, key):
                return query * 2 if torch.equal(query, key) and query.equal(key) else query

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.attention = Attention()

            def forward(self, x):
                return self.attention(x, x)
    """,
    "a comparison of sizes that a setting decides in any case": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.doubles = False

            def forward(self, x):
                if x.shape[0] == 2 and self.doubles:
                    x = x * 2
                return x if x.shape[1] > 3 or not self.doubles else x + 1
    """,
    "a cache of the file by a size that a layer pins, as a window is kept": """
        CACHE = {}

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 9)

            def forward(self, x):
                y = self.layer(x)
                size = y.size(-1)
                window = CACHE.get(size)
                if window is None:
                    window = nn.Parameter(torch.hann_window(size), requires_grad=False).to(y)
                    CACHE[size] = window
                y = y * window.unsqueeze(0)
                return y.roll(int(y.size(-1) // 2), -1)
    """,
    "a parameter that is made of what is computed": """
        class Net(nn.Module):
            def forward(self, x):
                return x * nn.Parameter(torch.hann_window(x.size(-1))) + nn.Parameter(x * 2, requires_grad=False)
    """,
    "no size is negative, nor a product of sizes": """
        class Net(nn.Module):
            def forward(self, x):
                x = x.reshape(1, *x.shape)
                count = 1
                for size in x.shape[1:-1]:
                    count *= size
                if -1 in x.shape[1:-1] or x.shape[1] == -1 or count == -1 or -1 > x.shape[-1]:
                    return -x
                return x * 2
    """,
    "a setting of what may not be there, asked for last": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.options = None

            def forward(self, x):
                if self.options is not None and self.options.doubles:
                    x = x * 2
                return x
    """,
    "sizes of layers that are divided by what NumPy calculates of constants": """
        class Net(nn.Module):
            def __init__(self, width, heads):
                super().__init__()
                self.query = nn.Linear(width, width)
                self.heads = heads

            def forward(self, x):
                query, shape = self.query(x), [self.heads, -1]
                shape[shape.index(-1)] = int(query.size(-1) / -np.prod(shape))
                query = query.view(*x.size()[:-1], *shape)
                return query / np.sqrt(query.size(-1))
    """,
    "what a distribution gives": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)

            def forward(self, x):
                normal = torch.distributions.Normal(self.layer(x), 1.0)
                return normal.rsample(), normal.log_prob(x).sum(1), normal.mean
    """,
    "what .data tells of the kind of a tensor": """
        def f(x):
            if not x.data.dim():
                return x * 2
            return x.type(x.data.type()) + x.to(x.data.device)
    """,
    "a size by which the rest raises": """
        def f(x):
            if x.shape[1] == 4:
                return x * 2
            raise ValueError(x.shape[1])
    """,
    "a layer made in forward whose parameters are ones and zeros": """
        def f(x):
            return nn.LayerNorm(x.shape[1:])(x)
    """,
    "whether there are rows at all": """
        def f(x):
            if len(x):
                return x * 2
            return x
    """,
    "what .data holds, checked": """
        def f(x):
            assert not torch.isnan(x.data).any()
            return x * 2
    """,
    "what .data holds, printed": """
        def f(x):
            y = x * 2
            print("mean", y.data.mean())
            return y
    """,
    "functions with gradients of their own that are kept": """
        class Rounded(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return torch.round(x)

            @staticmethod
            def backward(ctx, gradient):
                return gradient

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.of_class, self.of_instance = Rounded.apply, Rounded().apply

            def forward(self, x):
                return self.of_class(x) + self.of_instance(x)
    """,
    "parts of a parameter": """
        class Net(nn.Module):
            def __init__(self, width=4):
                super().__init__()
                self.gates = nn.Parameter(torch.zeros(width, width, 2))

            def forward(self, x):
                one, other = self.gates.split(1, dim=2)
                return x @ one.contiguous().squeeze(2) + x @ other.contiguous().squeeze(2)
    """,
    "tables of positions that are kept": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.length, self.table, self.others = 0, None, {}

            def positions(self, n):
                if self.table is not None and self.table.shape[0] >= n:
                    return self.table[:n]
                self.table = torch.full((n, 4), 2.0).cumsum(0)
                self.table[0, :] = 1
                return self.table

            def forward(self, x):
                n = x.shape[1]
                if n > self.length:
                    self.length = n
                    steps = torch.arange(n, device=x.device).type_as(x)
                    self.sines = steps.sin()
                kind = x.get_device()
                if kind not in self.others or self.others[kind].shape[0] < n:
                    self.others[kind] = torch.arange(n)
                return x + self.sines[:n] + self.positions(n).sum() + self.others[kind][:n]
    """,
    "an attribute that is set to itself": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.window = torch.ones(4)

            def forward(self, x):
                self.window = self.window
                return x * self.window
    """,
    "numbers that are known of what is made of sizes": """
        def f(x):
            group = torch.zeros(x.shape[0], dtype=torch.long)
            if torch.ones_like(x).any():
                x = x + 1
            return x.new_zeros(int(group.max()) + 1, 4).index_add_(0, group, x)
    """,
    "a list of parameters that are registered, or take no gradients": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(4, 4)
                self.shared, self.fixed = [self.linear.weight], [nn.Parameter(torch.ones(4), requires_grad=False)]
                self.added = []
                for number in range(2):
                    weight = nn.Parameter(torch.ones(4))
                    self.added.append(weight)
                    self.register_parameter(f"weight{number}", weight)

            def forward(self, x):
                return x @ self.shared[0] * self.fixed[0] * self.added[1]
    """,
    "arithmetic of a number and a Tensor by a function": """
        def f(x):
            return torch.pow(torch.sub(1.0, torch.add(2, x)), 2) / torch.mul(3, torch.div(1.0, x))
    """,
    "a shape that is matched with an ellipsis": """
        def match(x, *wanted):
            if not all(isinstance(size, int) or size is Ellipsis for size in wanted):
                raise TypeError("sizes")
            assert Ellipsis in wanted

        def f(x):
            match(x, ..., 4)
            return x * 2
    """,
    "a named tuple whose items are taken by place": """
        from typing import NamedTuple

        class Pair(NamedTuple):
            left: torch.Tensor
            right: torch.Tensor

        def f(pair: Pair):
            left, right = pair
            return left * pair[1] + right
    """,
    "counts that nothing reads but the question whether there are any": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.steps, self.cost = 0, 0

            def forward(self, x):
                if self.steps == 0:
                    length = x.shape[0]
                    self.cost = length**2
                    self.steps = length * 3
                return torch.relu(x)
    """,
    "a quotient that comes out even": """
        def f(x):
            rows = math.ceil(x.shape[0] / 1)
            pad = max((rows - 1) + 1 - x.shape[0], 0)
            return torch.relu(x) if pad > 0 else x / x.shape[1]
    """,
    "an input that is a list": """
        class Net(nn.Module):
            def forward(self, xs):
                assert isinstance(xs, (list, tuple)), "several"
                return sum(x * 2 for x in xs)
    """,
    "an input that is a list or a tensor": """
        class Net(nn.Module):
            def forward(self, x):
                assert isinstance(x, (torch.Tensor, list))
                return x * 2
    """,
    "an input that is joined": """
        def f(xs):
            return torch.cat(xs, 1) * len(xs)
    """,
    "a number that nothing depends on": """
        def f(x):
            n = int(x.shape[0])
            peak = x.max().item()
            print(n, peak, min(x.shape[0], x.shape[1]), len(x))
            return x * 2
    """,
    "chances that are none": """
        def f(x):
            if random.random() >= 1.0 or np.random.rand() < 0 or 1 <= random.random():
                return x + 1
            return x if random.random() < 1 else x * 2
    """,
    "an int of a size that is told apart from it": """
        def f(x):
            b, n, c = x.shape
            wanted = int(n) if torch.jit.is_tracing() else n
            assert wanted > 0
            return x * 2
    """,
    "the text of an error": """
        def f(x, y):
            if not (x.shape[1] == y.shape[1] or x.shape[1] == 1):
                wanted = "1" if y.shape[1] == 1 else f"1 or {y.shape[1]}"
                raise ValueError(wanted)
            return x + y
    """,
    "whether a tensor is an inference tensor": """
        def f(x):
            return x + 0 if x.is_inference() else x
    """,
    "a size is not of type int while tracing": """
        def f(x):
            n = x.shape[0]
            return x + math.copysign(1.0, n) if type(n) in (int, float) else x + 1
    """,
    "a size that is a tensor is one of no dimensions": """
        def f(x):
            n = x.shape[0]
            if isinstance(n, torch.Tensor) and n.numel() == 1 and n.dim() == 0:
                return x
            if not (isinstance(n, int) and n >= 0):
                raise ValueError(n)
            return x
    """,
    "numbers drawn after the same seed": """
        def f(x):
            np.random.seed(0)
            return x * np.random.rand()
    """,
    "numbers drawn where a branch seeds": """
        def f(x):
            if x.dim() > 1:
                random.seed(7)
                x = x * random.random()
            return x
    """,
    "a question that only an empty input answers otherwise": """
        def f(x):
            if x.shape[0] == 0 or x.numel() < 1 or not x.shape[0] // 2 >= 0:
                return x
            return x - x.mean(0)
    """,
    "an error for an empty input, behind other questions": """
        def f(x, slow):
            if x.shape[0] == 0 or torch.jit.is_tracing() or slow:
                return x + 1
            return x * x.max().item()
    """,
    "what other devices need, too": """
        def f(x):
            if "mps" in str(x.device) or torch.jit.is_tracing():
                return x.std(0), x.mean(0)
            return torch.std_mean(x, 0)
    """,
    "what is done until a buffer says that it is done, which it says from the start": """
        class Net(nn.Module):
            def __init__(self, deferred=False):
                super().__init__()
                self.register_buffer("ready", torch.tensor(not deferred))
                self.register_buffer("seen", torch.zeros(1, dtype=torch.long))
                self.register_buffer("scale", torch.ones(3))

            def prepare(self, x):
                if self.ready:
                    return
                self.scale.copy_(x.mean(0) if x.shape[0] > 3 else x[0])
                self.ready.fill_(True)

            def forward(self, x):
                self.prepare(x)
                if self.seen.item() > 0 and x.shape[0] > 3:
                    return x
                return x * self.scale
    """,
    "the rows of nothing": """
        def f(x):
            kept = iter([])
            cached = next(kept, None)
            if cached is not None:
                x = x * int(x.shape[0])
            return x
    """,
    "a cache of parameters that only eager has": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(3))
                self.cache = {}

            def biases(self, device):
                if torch.jit.is_tracing() or self.training:
                    return self.weight[:2]
                key = str(device)
                if key not in self.cache:
                    self.cache[key] = self.weight[:2]
                return self.cache[key]

            def forward(self, x):
                return x + self.biases(x.device)
    """,
}

HARMFUL = {
    "what is gathered in a list that was not empty, though it is emptied": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.outputs = [torch.ones(4)]

            def forward(self, x):
                self.outputs.append(x[0])
                y = torch.stack(self.outputs).sum(0)
                self.outputs = []
                return y
    """,
    "what is gathered again once the list has been emptied": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.outputs = []

            def forward(self, x):
                self.outputs.append(x)
                y = torch.cat(self.outputs).sum(0)
                self.outputs.clear()
                self.outputs.append(x)
                return y
    """,
    "a tensor that is held against another": """
        class Net(nn.Module):
            def forward(self, x):
                return x * 2 if torch.equal(x, x.abs()) else x
    """,
    "a comparison of sizes that a setting leaves open": """
        class Net(nn.Module):
            def __init__(self, doubles=True):
                super().__init__()
                self.doubles = doubles

            def forward(self, x):
                if x.shape[0] == 2 and self.doubles:
                    x = x * 2
                return x
    """,
    "a tensor or a setting, told apart by which it is": """
        class Net(nn.Module):
            def forward(self, x):
                doubles = x.sum() > 0 and False
                return x * 2 if doubles is False else x
    """,
    "a comparison that its own last operand has made": """
        class Net(nn.Module):
            def forward(self, x):
                if (is_large := x.shape[0] > 2) and is_large:
                    x = x * 2
                return x
    """,
    "what is neither true nor false but one of the two": """
        class Net(nn.Module):
            def __init__(self, factor=None):
                super().__init__()
                self.factor = factor

            def forward(self, x):
                factor = x.shape[0] > 2 and self.factor
                return x if factor is None else x * 2
    """,
    "two sizes by which the rest raises": """
        def f(x):
            if x.shape[0] == 3:
                return x * 2
            if x.shape[0] == 5:
                return x * 3
            raise ValueError(x.shape[0])
    """,
    "a layer made in forward whose parameters are drawn": """
        def f(x):
            return nn.Linear(x.shape[-1], 2)(x)
    """,
    "whether there are several rows": """
        def f(x):
            if len(x) > 3:
                return x * 2
            return x
    """,
    "what .data holds, printed by a function that uses it": """
        def f(x):
            seen = []
            print(seen.append(x.data))
            return x + seen[0]
    """,
    "what .data holds in another type": """
        def f(x):
            return x - x.data.type(torch.float64)
    """,
    "a cache of what an input holds": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.kept = None

            def forward(self, x):
                if self.kept is None or self.kept.shape != x.shape:
                    self.kept = x.cos()
                return x + self.kept
    """,
    "a count of what has passed": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.count = 0

            def forward(self, x):
                self.count = self.count + x.shape[0]
                return x * self.count
    """,
    "a table that is made longer only where the example is long": """
        class Net(nn.Module):
            def __init__(self, length=64):
                super().__init__()
                self.length = length
                self.table = torch.arange(length).cos()

            def forward(self, x):
                if x.shape[1] > self.length:
                    self.table = torch.arange(x.shape[1]).cos()
                return x + self.table[: x.shape[1]]
    """,
    "padding by a number made of the size of the example and that of the call": """
        def f(x):
            rows = math.ceil(x.shape[1] / 1)
            pad = max((rows - 1) + 3 - x.shape[1], 0)
            return F.pad(x, [pad // 2, pad - pad // 2])
    """,
    "a count that goes on where it is read": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.steps = 0

            def forward(self, x):
                length = 1
                if self.steps == 0:
                    length = x.shape[0]
                    self.steps = length
                return x * length
    """,
    "a named tuple that is read by a name": """
        from typing import NamedTuple

        class Pair(NamedTuple):
            left: torch.Tensor
            right: torch.Tensor

        def f(x, pair: Pair):
            return x * pair.left
    """,
    "a named tuple without types that is read by a name": """
        from collections import namedtuple

        Pair = namedtuple("Pair", ["left", "right"])

        def f(pair: Pair):
            return pair.left * pair.right
    """,
    "parameters in a plain list": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.weights = [nn.Parameter(torch.ones(4)) for _ in range(2)]

            def forward(self, x):
                return x * self.weights[0]
    """,
    "a constant that takes gradients": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.gram = torch.ones(4, 4).requires_grad_()

            def forward(self, x):
                return x @ self.gram
    """,
    "a size that the first call leaves for all": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.length = None

            def forward(self, x):
                if self.length is None:
                    self.length = x.shape[0]
                return x / self.length
    """,
    "a table that the first call leaves for all": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.length, self.table = 0, None

            def forward(self, x):
                n = x.shape[0]
                if self.length == 0:
                    self.length = n
                    self.table = torch.arange(n) / n
                return x * self.table[:n, None]
    """,
    "zeros that are no longer": """
        def f(x):
            marks = torch.zeros(x.shape[0], 4)
            marks[0].fill_(x.sum())
            return x * int(marks.max())
    """,
    "the last of pieces that may be fewer": """
        def f(x):
            return x.chunk(64)[-1]
    """,
    "the greater of a size and a number that it may be less than": """
        def f(x):
            return x / max(x.shape[0] - 1, 1)
    """,
    "a distribution that is returned": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)

            def forward(self, x):
                return torch.distributions.Categorical(logits=self.layer(x))
    """,
    "a condition on the way to a return": """
        def f(x, y):
            if x.shape[1] != y.shape[1]:
                return x * (1 if y.shape[1] == 1 else 2)
            return x + y
    """,
    "a size that may be 1": """
        def f(x):
            return x if x.shape[0] <= 1 else x - x.mean(0)
    """,
    "a number of found rows, which may be 0": """
        def f(x):
            found = x.nonzero()
            return x if found.shape[0] == 0 else x[found[0, 0]] + x
    """,
    "what tracing does otherwise for its own sake": """
        def f(x):
            if x.dim() == 5 or torch.jit.is_tracing():
                return x * 2
            return x * 3
    """,
    "what is done until a buffer says that it is done": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("ready", torch.tensor(False))
                self.register_buffer("scale", torch.ones(3))

            def forward(self, x):
                if not self.ready and x.shape[0] > 3:
                    self.scale.copy_(x.mean(0))
                return x * self.scale
    """,
    "a buffer that the constructor fills anew": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("ready", torch.tensor(True))
                self.ready.fill_(False)

            def forward(self, x):
                return x if self.ready else x * int(x.shape[0])
    """,
    "a number that bounds a slice": """
        def f(x):
            n = int(x.shape[0] / 2)
            return x[:, : n + 1]
    """,
    "a number that says how often a list is repeated": """
        def f(x):
            return torch.cat([x] * int(x.shape[0] / 2))
    """,
    "a number, or another one": """
        def f(x, flag=True):
            n = int(x.shape[0] / 2) if x.shape[1] is not None else 3
            return x.view(n, -1)
    """,
    "a number that a layer is made with": """
        def f(x):
            return nn.AdaptiveAvgPool2d(int(x.shape[-1] / 2))(x)
    """,
    "a number that a function is given which nobody can read": """
        import numpy as np

        def f(x):
            return x * np.float32(int(x.shape[0]))
    """,
    "a chance": """
        def f(x):
            return x if random.random() < 0.5 else x * 2
    """,
    "an error that is caught": """
        def f(x):
            try:
                if x.shape[1] > 4:
                    n = int(x.shape[1])
                    raise ValueError(n)
            except ValueError as error:
                return x * error.args[0]
            return x
    """,
    "an error that only the trace raises": """
        def f(x):
            if x.shape[0] > 3:
                if not isinstance(x.shape[0], int):
                    raise TypeError
            return x
    """,
    "numbers drawn without a seed": """
        def f(x):
            random.seed(0)
            return x * np.random.rand()
    """,
    "a seed from the clock": """
        def f(x):
            random.seed(None)
            return x * random.random()
    """,
    "a seed on one side only": """
        def f(x):
            if x.dim() > 1:
                random.seed(7)
            return x * random.random()
    """,
}


def verdict(tmp_path: Path, source: str) -> str:
    """The verdict on the function ``f`` or the class ``Net`` of a source."""
    path = tmp_path / "model.py"
    imports = "import math\nimport random\nimport numpy as np\nimport torch\nfrom torch import nn\n"
    path.write_text(imports + textwrap.dedent(source), encoding="utf-8")
    project = Project((tmp_path,))
    target = find_target(project.module(path), "Net" if "class Net" in source else "f")
    return judge(Program(project), target).trace


def eager_and_traced(tmp_path: Path, source: str, example: torch.Tensor) -> tuple[Any, Any]:
    """A ``Net`` of a source, and its trace for one tensor.

    Raises:
        RuntimeError: torch refuses to trace it.
    """
    path = tmp_path / "net.py"
    path.write_text(source, encoding="utf-8")
    net: Any = load(str(path)).Net()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return net, torch.jit.trace(net, (example,), check_trace=False)


def is_traced_right(tmp_path: Path, source: str, first: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether the function ``f`` of a source, traced with one tensor, gives what eager gives for another."""
    path = tmp_path / "model.py"
    path.write_text(f"import torch\n{source}\n", encoding="utf-8")
    names: dict[str, Any] = {"__name__": "model"}
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), names)
    try:
        traced = torch.jit.trace(names["f"], (first,), check_trace=False)
        return torch.equal(traced(other), names["f"](other))
    except RuntimeError:
        return False


@pytest.mark.parametrize("case", HARMLESS)
def test_what_makes_nothing_wrong_is_no_hazard(tmp_path: Path, case: str) -> None:
    assert verdict(tmp_path, HARMLESS[case]) == "safe"


@pytest.mark.parametrize("case", HARMFUL)
def test_what_makes_something_wrong_is_one(tmp_path: Path, case: str) -> None:
    assert verdict(tmp_path, HARMFUL[case]) == "hazardous"


NEEDS_A_MASK = """
    from typing import Optional

    def f(x, mask: Optional[torch.Tensor] = None):
        if mask is None:
            raise ValueError("mask")
        return {body}
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [("x * mask", "safe"), ("x * mask if mask.any() else x", "hazardous"), ("{'x': x * mask}", "hazardous")],
)
def test_an_optional_tensor_that_eager_asks_for_is_given(tmp_path: Path, body: str, expected: str) -> None:
    assert verdict(tmp_path, NEEDS_A_MASK.replace("{body}", body)) == expected


@pytest.mark.parametrize(
    ("body", "expected"), [("y.relu()", "safe"), ("y.relu() if y.sum() > 0 else y", "hazardous")]
)
def test_either_of_two_optional_tensors_is_given(tmp_path: Path, body: str, expected: str) -> None:
    source = f"""
    def f(x, image=None, tokens=None):
        assert image is None or tokens is None
        y = (image[:, 0, 0, 0].sqrt(1, 2) if tokens is None else tokens) + x
        return {body}
    """
    assert verdict(tmp_path, source) == expected


def test_what_raises_with_and_without_its_optional_tensors_is_unknown(tmp_path: Path) -> None:
    source = NEEDS_A_MASK.replace("        return {body}", "        raise TypeError(mask)")
    assert verdict(tmp_path, source) == "unknown"


@pytest.mark.parametrize("use", ["a, b = mask", "a = b = mask.shape[1] * x"])
def test_none_can_be_neither_unpacked_nor_asked_for_a_size(tmp_path: Path, use: str) -> None:
    source = f"""
    from typing import Optional

    def f(x, mask: Optional[torch.Tensor] = None):
        {use}
        return a + b if mask.shape[1] > 3 else a - b
    """
    assert verdict(tmp_path, source) == "hazardous"


def test_a_forward_of_another_package_that_cannot_be_followed_leaves_the_verdict_open(tmp_path: Path) -> None:
    site = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    (site / "wrapping").mkdir(parents=True)
    (site / "wrapping" / "__init__.py").write_text(
        textwrap.dedent("""
            from torch import nn

            class Wrapped(nn.Module):
                def __init__(self, inner):
                    super().__init__()
                    self.inner = inner

                def forward(self, x):
                    return self.inner(x, None)
        """),
        encoding="utf-8",
    )
    source = """
        from wrapping import Wrapped

        class Scale(nn.Module):
            def forward(self, x, mask):
                x = x * int(x.shape[0])
                return x * mask.shape[0]

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = Wrapped(Scale())

            def forward(self, x):
                return self.scale(x)
    """
    path = tmp_path / "model.py"
    path.write_text("import torch\nfrom torch import nn\n" + textwrap.dedent(source), encoding="utf-8")
    project = Project((tmp_path, site))
    assert judge(Program(project), find_target(project.module(path), "Net")).trace == "unknown"


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("[nn.Linear(4, 4)]", "unknown"),
        ("[nn.Linear(4, 4).requires_grad_(False)]", "safe"),
        ("[nn.Linear(4, 4).requires_grad_(requires_grad=False)]", "safe"),
        ("[nn.Tanh(), nn.Identity()]", "safe"),
        ("nn.ModuleList([nn.Linear(4, 4)])", "safe"),
    ],
)
def test_layers_in_a_plain_list_may_take_gradients(tmp_path: Path, made: str, expected: str) -> None:
    source = f"""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = {made}

        def forward(self, x):
            return self.parts[0](x)
    """
    assert verdict(tmp_path, source) == expected


def test_a_forward_that_torch_does_not_describe_leaves_every_verdict_open(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text("from torch import nn\n\nclass Net(nn.DataParallel):\n    pass\n", encoding="utf-8")
    project = Project((tmp_path,))
    judged = judge(Program(project), find_target(project.module(path), "Net(nn.Linear(4, 4))"))
    assert (judged.script, judged.trace, judged.mode) == ("unknown", "unknown", "unknown")
    assert judged.unknown == judged.trace_unknown == judged.mode_unknown


@pytest.mark.parametrize("base", ["Module", "ModuleList"])
def test_only_script_takes_a_class_without_a_forward(tmp_path: Path, base: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(f"from torch import nn\n\nclass Net(nn.{base}):\n    pass\n", encoding="utf-8")
    judged = judge(Program(Project((tmp_path,))), find_target(Project((tmp_path,)).module(path), "Net"))
    assert (judged.script, judged.trace, judged.mode) == ("ok", "unknown", "unknown")
    (cause,) = judged.trace_unknown
    assert judged.mode_unknown == judged.export.unknown == (cause,)
    assert cause.why == "Net defines no forward, so calling it raises"


def test_a_named_tuple_that_holds_its_own_kind_is_an_input_without_end(tmp_path: Path) -> None:
    source = """
    from typing import NamedTuple, Optional

    class Tree(NamedTuple):
        value: torch.Tensor
        left: Optional["Tree"]

    class Net(nn.Module):
        def forward(self, tree: Tree):
            return tree.value
    """
    assert verdict(tmp_path, source) == "hazardous"


def test_a_constructor_that_checks_a_tensor_is_taken_to_pass(tmp_path: Path) -> None:
    source = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("alpha", torch.as_tensor(0.5).clamp(0, 1))
            if (self.alpha <= 0.1).any():
                raise ValueError("alpha must be greater")

        def forward(self, x):
            return x * self.alpha
    """
    assert verdict(tmp_path, source) == "safe"


def test_a_module_that_only_defines_a_call_is_followed(tmp_path: Path) -> None:
    source = """
    class Act(nn.Module):
        def __call__(self, x):
            return x * 2

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(Act(), nn.ReLU())

        def forward(self, x):
            return self.layers(x)
    """
    assert verdict(tmp_path, source) == "safe"


@pytest.mark.parametrize(
    ("called", "script", "trace"),
    [
        ("super().__call__(x * 2)", "unknown", "safe"),
        ("super().__call__(x)", "ok", "safe"),
        ("super(Net, self).__call__(x)", "ok", "safe"),
        ("self.forward(x)", "ok", "safe"),
        ("torch.relu(self.forward(x))", "unknown", "safe"),
        ("super().__call__(x * x.shape[0] if x.shape[0] > 1 else x)", "unknown", "hazardous"),
    ],
)
def test_what_a_module_does_around_its_forward_is_traced_and_not_scripted(
    tmp_path: Path, called: str, script: str, trace: str
) -> None:
    source = f"""
    import torch
    from torch import nn

    class Net(nn.Module):
        def __call__(self, x):
            return {called}

        def forward(self, x):
            return x + 1
    """
    outer = """
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def forward(self, x):
            return self.net(x)
    """
    path = tmp_path / "model.py"
    path.write_text(textwrap.dedent(source) + textwrap.dedent(outer), encoding="utf-8")
    project = Project((tmp_path,))
    for name in ("Net", "Outer"):
        judged = judge(Program(project), find_target(project.module(path), name))
        assert (judged.script, judged.trace) == (script, trace)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("isinstance(n, int) or n is Ellipsis", "hazardous"),
        ("isinstance(n, int) or n is None", "hazardous"),
        ("all(isinstance(size, int) for size in x.shape)", "hazardous"),
        ("all(isinstance(size, int) or size is Ellipsis for size in x.shape)", "hazardous"),
        ("any(isinstance(size, float) for size in (n, 2.0))", "safe"),
        ("n is not Ellipsis", "safe"),
    ],
)
def test_a_size_is_no_int_while_tracing_whatever_else_it_is_not(
    tmp_path: Path, asked: str, expected: str
) -> None:
    source = f"""
    def f(x):
        n = x.shape[0]
        if not ({asked}):
            raise TypeError(n)
        return x * 2
    """
    assert verdict(tmp_path, source) == expected


UNFOUND = """
    def f(x):
        try:
            from .fast import op
            y = op(x)
        except {caught}:
            y = x * 2
        return y
"""


@pytest.mark.parametrize("caught", ["ImportError", "Exception"])
def test_a_try_that_begins_with_an_import_of_what_is_not_there_goes_one_way(
    tmp_path: Path, caught: str
) -> None:
    assert verdict(tmp_path, UNFOUND.format(caught=caught)) == "unknown"
