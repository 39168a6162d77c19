"""Small programs by mechanism: those that torch.export refuses, and those that it exports."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

X = "torch.ones(3, 4)"
COUNTS = "torch.tensor([1, 2, 1])"


class Case(NamedTuple):
    """A forward, what it is given, and what comes before it: a constructor or a global."""

    forward: str
    given: str = X
    before: str = ""
    base: str = "nn.Module"

    def source(self) -> str:
        """A file with the module and its inputs."""
        body = textwrap.indent(self.forward, "        ")
        held = textwrap.indent(self.before, "        ") if self.before.startswith("self.") else ""
        constructor = f"    def __init__(self):\n        super().__init__()\n{held}\n" if held else ""
        return (
            "import collections\nimport torch\nfrom torch import nn\n\n"
            f"{'' if held else self.before}\n\n"
            f"class Net({self.base}):\n{constructor}    def forward(self, x, *rest):\n{body}\n\n"
            f"def example_inputs():\n    return ({self.given},)\n"
        )


REFUSED = {
    "an order of dimensions that a tensor tells": Case("return x.permute(*torch.tensor([1, 0]))"),
    "an order of dimensions out of a list of numbers": Case("return x.permute(*torch.arange(2).tolist())"),
    "an order of dimensions that the module holds": Case(
        "return x.permute(*self.order)", before='self.register_buffer("order", torch.tensor([1, 0]))'
    ),
    "a dimension that a tensor tells": Case("return x.unsqueeze(torch.arange(2)[1])"),
    "a dimension to sum that a tensor tells": Case("return torch.sum(x, torch.arange(2)[1])"),
    "dimensions to sum that a tensor tells": Case("return x.sum(dim=tuple(torch.arange(2)))"),
    "a dimension to join that a tensor tells": Case("return torch.cat([x, x], torch.arange(2)[0])"),
    "as many pieces as a tensor tells": Case("return x.chunk(torch.arange(3)[2])[0]"),
    "a constant computed of several numbers": Case("return x if torch.arange(4).sum() > 1 else -x"),
    "a number of a tensor of several": Case("return x * int(torch.arange(4).max())"),
    "an element of a list of numbers": Case("return x * float(torch.tensor([4.0, 2.0])[0])"),
    "computed with a tensor that the module holds": Case(
        "return x if self.limit > 2 else -x", before="self.limit = torch.tensor(3)"
    ),
    "computed with a tensor of the file": Case(
        "return x if LIMIT > 2 else -x", before="LIMIT = torch.tensor(3)"
    ),
    "a random number through a name": Case("p = torch.rand(1).item()\nq = p * 2\nreturn x if q > 1 else -x"),
    "a random number through an attribute": Case(
        "self.p = torch.rand(1).item()\nreturn x if self.p > 0.5 else -x"
    ),
    "the greater of a random number": Case("return x * max(torch.rand(1).item(), 0.1)"),
    "a buffer's numbers in a loop": Case(
        "for n in self.counts.tolist():\n    for _ in range(n):\n        x = x + 1\nreturn x",
        before='self.register_buffer("counts", torch.tensor([1, 2]))',
    ),
    "a number among others": Case("return x if x.sum().long().item() in (1, 2) else -x"),
    "among numbers": Case("return x if 3 in rest[0].tolist() else -x", f"{X}, {COUNTS}"),
    "the bound of a list": Case("return [x, -x][: rest[0].max().item()]", f"{X}, {COUNTS}"),
    "as many classes as data says": Case(
        "return nn.functional.one_hot(rest[0], max(rest[0].max() + 1, 5))", f"{X}, {COUNTS}"
    ),
    "pieces of a length that data says": Case("return x.split(rest[0].max())", f"{X}, {COUNTS}"),
    "tensors in a list as an index": Case("return x[[rest[0][0], rest[0][1]]]", f"{X}, {COUNTS}"),
    "halves of what a mask selects": Case("return x[x.sum(1) > 0].chunk(2)[0]"),
    "numbers sorted": Case("return x * sorted(rest[0].tolist())[0]", f"{X}, {COUNTS}"),
    "rows at found indices": Case(
        "rows = x.view(-1)[x.view(-1).nonzero().squeeze(1)]\nreturn x if rows.size(0) > 1 else -x"
    ),
    "columns at found indices": Case(
        "found = rest[0].nonzero().squeeze()\nchosen = x[:, found]\nreturn x if chosen.size(1) > 1 else -x",
        f"{X}, {COUNTS}",
    ),
    "rows of an input at found indices": Case(
        "chosen = x[rest[0].nonzero()[:, 0]]\nreturn x if len(chosen) else -x", f"{X}, {COUNTS}"
    ),
    "a number in a format": Case('note = "{:.2f}".format(x.mean().item())\nreturn x'),
    "a tensor in a format": Case('note = f"{x.mean():.2f}"\nreturn x'),
    "a tensor among others in a text": Case('note = "%s is %f" % (x.shape, x.mean())\nreturn x'),
    "rows of indices, one tuple for each dimension": Case(
        "found = (x[:, 0] > 0).nonzero(as_tuple=True)[0]\nreturn [x[i] for i in found]"
    ),
    "elements in a new tensor": Case("return x.new_tensor([x[0, 0], x[1, 1]])"),
    "an error that the handler is not for": Case(
        "try:\n    if x.max() > 9:\n        raise ValueError\nexcept ValueError:\n    x = -x\nreturn x"
    ),
    "the exponential, differentiated": Case(
        "with torch.enable_grad():\n    x = x.detach().requires_grad_()\n"
        "    return torch.autograd.grad(x.exp().sum(), x)[0]"
    ),
    "the gradient of a parameter through a sigmoid": Case(
        "with torch.enable_grad():\n    y = torch.sigmoid(x @ self.w).sum()\n"
        "    return x @ torch.autograd.grad(y, self.w)[0]",
        before="self.w = nn.Parameter(torch.ones(4, 4))",
    ),
    "elements set up to a tensor": Case(
        "y = torch.zeros_like(x)\ny[0, : rest[0][0]] = 1\nreturn y", f"{X}, {COUNTS}"
    ),
    "an element set at a found place": Case("y = x.clone()\ny[0, x[0].argmax()] = 0\nreturn y"),
    "a row added to at a found place": Case("y = x.clone()\ny[x[:, 0].argmax()] += 1\nreturn y"),
    "a found place in a list of those that are set": Case(
        "y = x.clone()\ny[[x[:, 0].argmax()]] = 1\nreturn y"
    ),
    "an element set at a truth": Case("y = x.clone()\ny[x.sum() > 0] = 1\nreturn y"),
    "a found place beside a mask": Case("return x[x[:, 0] > 0, x[0].argmax()]"),
    "a number beside several indices": Case(
        "return x[torch.arange(2), rest[0].max().item()]", f"{X}, {COUNTS}"
    ),
    "every so many rows as data says": Case("return x[:: rest[0].max()]", f"{X}, {COUNTS}"),
    "written up to a symbol, with gradients": Case(
        "y = torch.zeros_like(x)\nn = rest[0][0].item()\ny[0, :n] = (x * self.w)[0, :n]\nreturn y",
        f"{X}, {COUNTS}",
        before="self.w = nn.Parameter(torch.ones(4))",
    ),
    "pairs of rows that where finds": Case(
        "i, j = torch.where(x > 0)\nd = (rest[0][i] - rest[0][j]).abs()\nreturn x if d.size(0) == 0 else d.sum()",
        f"{X}, torch.arange(4.0)",
    ),
    "a loss of two selections": Case(
        "return nn.functional.smooth_l1_loss(x[x.sum(1) > 0], (x * 2)[x.sum(1) > 0])"
    ),
    "a layer's loss of two selections": Case("return nn.MSELoss()(x[x > 0], (x * 2)[x > 0])"),
    "what compilers choose": Case("return x * float(x.sum()) if torch.compiler.is_compiling() else x"),
    "what compilers do in a loop": Case(
        "for _ in range(2):\n    if torch.compiler.is_compiling():\n        return x * float(x.sum())\nreturn x"
    ),
    "what a function gives to compilers, asked": Case(
        "y = doubled(x)\nreturn y if y.sum() > 0 else -y",
        before="def doubled(x):\n    if torch.compiler.is_compiling():\n        return x\n    return x * 2\n",
    ),
    "how alike two selections are": Case(
        "return torch.cosine_similarity(x[x.sum(1) > 0], (x * 2)[x.sum(1) > 0])"
    ),
    "how alike a layer finds two selections": Case(
        "return nn.CosineSimilarity()(x[x.sum(1) > 0], (x * 2)[x.sum(1) > 0])"
    ),
    "the logarithm of a sum over what a mask selects": Case("return x[x > 0].logsumexp(0)"),
    "what a mask selects, rolled": Case("return x[x.sum(1) > 0].roll(1, 1)"),
    "differences of what a mask selects": Case("return x[0][x[0] > 0].diff()", "torch.ones(3, 4)"),
    "the spectrum of what a mask selects": Case("return torch.fft.rfft(x.flatten()[x.flatten() > 0])"),
    "how many elements a mask selects": Case("return x if x[x > 0].numel() > 0 else -x"),
    "how many rows a mask selects": Case("y = x[x.sum(1) > 0]\nif y.size(0) == 0:\n    return x\nreturn y"),
    "the shape of what a mask selects": Case("y = x[x.sum(1) > 0]\nreturn x if y.shape == x.shape else y"),
    "rows of a mask one by one": Case("return [row * 2 for row in x[x.sum(1) > 0]]"),
    "how many rows are repeated": Case(
        "y = x.repeat_interleave(rest[0], 0)\nreturn y if y.shape[0] > 3 else x", f"{X}, {COUNTS}"
    ),
    "pieces of what a mask selects": Case("return x[x.sum(1) > 0].chunk(2)"),
    "what a mask selects, turned, and a copy of which one size is left": Case(
        "y = x.view(3, 2, 2)[x.sum(1) > 0].transpose(1, 2)\nreturn y.reshape(y.shape[0], -1)"
    ),
    "what a mask selects, cut, and a copy of which one size is left": Case(
        "y = x[x.sum(1) > 0][:, 1:]\nreturn y.reshape(y.shape[0], -1)"
    ),
    "what a number of data repeats, and a copy of which one size is left": Case(
        "y = x[:1].expand(rest[0].max().item(), -1)\nreturn y.reshape(y.shape[0], -1)", f"{X}, {COUNTS}"
    ),
    "how often what a mask selects is spread": Case(
        "y = x[x.sum(1) > 0].unsqueeze(2).expand(-1, -1, 2)\nreturn x if y.shape[0] > 1 else -x"
    ),
    "the greatest of three numbers of data": Case(
        "a, b, c = rest[0].tolist()\nreturn torch.zeros(max(a, b, c))", f"{X}, {COUNTS}"
    ),
    "attention over what a mask selects": Case(
        "b, n, c = x.shape\ny = x[:, x[0, :, 0] > 0].view(b, -1, 2, c // 2).transpose(1, 2)\n"
        "return nn.functional.scaled_dot_product_attention(y, y, y)",
        "torch.ones(2, 3, 4)",
    ),
    "steps that a mask selects": Case(
        "b, n, c = x.shape\nreturn self.layer(x[:, x[0, :, 0] > 0])[0]",
        "torch.ones(2, 3, 4)",
        "self.layer = nn.LSTM(4, 2, batch_first=True)",
    ),
    "an encoder over steps that a mask selects": Case(
        "return self.layer(x[x[:, 0, 0] > 0])",
        "torch.ones(2, 3, 4)",
        "self.layer = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 1)",
    ),
    "products of what a mask selects": Case("return torch.inner(x[x.sum(1) > 0], x)"),
    "as many zeros as a tensor says": Case(
        "y = torch.zeros(rest[0].max(), 2)\nreturn y if y.shape[0] > 1 else -y", f"{X}, {COUNTS}"
    ),
    "a row as long as a tensor says": Case(
        "y = torch.arange(rest[0].max())\nreturn y if y.shape[0] > 1 else -y", f"{X}, {COUNTS}"
    ),
    "distances of what a mask selects": Case("y = x[x.sum(1) > 0]\nreturn torch.cdist(y, y)"),
    "least squares": Case("return torch.linalg.lstsq(x, x).solution"),
    "a range as output": Case("return x, range(3)"),
    "a generator as output": Case("return (x * n for n in range(3))"),
    "a view of a dict as output": Case('return {"a": x}.values()'),
    "a class derived from dict as output": Case(
        "return Output(a=x)", before="class Output(dict):\n    pass\n"
    ),
    "bytes as output": Case('return x, b"abc"'),
    "data in an autograd function": Case(
        "return Gate.apply(x)",
        before=(
            "class Gate(torch.autograd.Function):\n"
            "    @staticmethod\n    def forward(ctx, x):\n        return x if x.sum() > 0 else -x\n"
            "    @staticmethod\n    def backward(ctx, grad):\n        return grad\n"
        ),
    ),
    "a call of the module that is wrapped": Case(
        "return x",
        before=(
            "import functools\n\n\ndef wrapped(function):\n    @functools.wraps(function)\n"
            "    def run(self, x):\n        return function(self, x * int(x.sum()))\n    return run\n\n\n"
            "class Base(nn.Module):\n    @wrapped\n    def __call__(self, x):\n"
            "        return super().__call__(x)\n"
        ),
        base="Base",
    ),
    "the side that no trace takes": Case(
        "if torch.jit.is_tracing():\n    return x\nreturn x if x.sum() > 0 else -x"
    ),
    "the side for compilers": Case(
        "if torch.compiler.is_compiling():\n    return x if x.sum() > 0 else -x\nreturn x"
    ),
    "an element of a parameter set with gradients on": Case(
        "self.w[0] = 5.0\nreturn x * self.w", before="self.w = nn.Parameter(torch.ones(4))"
    ),
    "a parameter halved with gradients on": Case(
        "self.w /= 2\nreturn x * self.w", before="self.w = nn.Parameter(torch.ones(4))"
    ),
    "an element set where a table is looked up": Case(
        "y = torch.zeros(8)\ny[self.places[torch.argmin(x) % 4]] = 1.0\nreturn x.sum() + y",
        before="self.places = torch.arange(4)",
    ),
    "what a parameter was given": Case(
        "return x * getattr(self.w, 'fast')",
        before="self.w = nn.Parameter(torch.ones(4))\nself.w.fast = 3.0",
    ),
    "as many rows as data tells, one by one": Case(
        "n = x.argmax() % 3 + 1\nn = n.item()\nreturn [y * 2 for y in x[:n]]"
    ),
    "whether there are rows, of as many as data tells": Case(
        "n = x.argmax() % 3 + 1\nn = n.item()\nreturn x if x[:n].shape[0] > 1 else -x"
    ),
    "pieces of as many rows as data tells": Case(
        "n = x.argmax() % 3 + 1\nn = n.item()\nreturn x.split(n)[0]"
    ),
    "a window as large as data tells": Case(
        "n = x.argmax() % 3 + 1\nn = n.item()\nreturn torch.nn.functional.max_pool2d(x[None], (n, 1))"
    ),
    "a convolution with as much padding as data tells": Case(
        "n = x.argmax() % 3 + 1\nn = n.item()\nreturn torch.nn.functional.conv1d(x[None], torch.ones(2, 3, 1), padding=n)"
    ),
    "steps as long as data tells": Case(
        "n = x.argmax() % 3 + 1\nn = n.item()\nreturn torch.arange(0, 10, n)"
    ),
    "steps as long as data tells, by keyword": Case(
        "n = x.argmax() % 3 + 1\nn = n.item()\nreturn torch.arange(0, 10, device=x.device, step=n)"
    ),
    "a power of two that data tells": Case("n = x.argmax() % 3 + 1\nn = n.item()\nreturn 2**n * x"),
    "a transform as long as data tells": Case(
        "n = x.argmax() % 3 + 1\nn = n.item()\nreturn torch.fft.fft(x, n)"
    ),
    "differences between as many rows as data tells": Case(
        "n = x.argmax() % 3 + 1\nn = n.item()\nreturn x[:n].diff(dim=0)"
    ),
    "pooling over as many as data tells": Case(
        "n = x.argmax() % 3 + 1\nn = n.item()\nreturn torch.nn.functional.max_pool1d(x[:n].t()[None], 1)"
    ),
    "numbers of data sorted in place": Case(
        "rows = [x[0, 0].item(), x[0, 1].item()]\nrows.sort()\nreturn x * rows[0]"
    ),
    "pairs sorted by a number of data": Case(
        "rows = [x[0, 0].item(), x[0, 1].item()]\nbest = [(1, rows[0]), (2, rows[1])]\nbest.sort(key=lambda pair: -pair[1])\nreturn x * best[0][0]"
    ),
    "the best by a number of data": Case(
        "rows = [x[0, 0].item(), x[0, 1].item()]\nreturn x * max([0, 1], key=lambda i: rows[i])"
    ),
    "the place of a number of data": Case(
        "rows = [x[0, 0].item(), x[0, 1].item()]\nreturn x * rows.index(rows[1])"
    ),
    "whether one of several is true": Case(
        "rows = [x[0, 0].item(), x[0, 1].item()]\nreturn x * any(row > 0.5 for row in rows)"
    ),
    "quotient and rest of a number of data": Case(
        "rows = [x[0, 0].item(), x[0, 1].item()]\nreturn x * divmod(rows[0], 2)[0]"
    ),
}
EXPORTS = {
    "sizes that a tensor tells": Case("return x.repeat(*torch.ones(2, dtype=torch.long))"),
    "dimensions in tensors of one number each": Case("return x.transpose(torch.tensor(0), torch.tensor(1))"),
    "a shape out of a tensor": Case("return x.reshape(tuple(torch.tensor([4, 3])))"),
    "attention over each that a mask selects": Case(
        "b, n, c = x.shape\ny = x[x[:, 0, 0] > 0].view(-1, n, 2, c // 2).transpose(1, 2)\n"
        "return nn.functional.scaled_dot_product_attention(y, y, y)",
        "torch.ones(2, 3, 4)",
    ),
    "the steps of each sequence that a mask selects": Case(
        "return self.layer(x[x[:, 0, 0] > 0])[0]",
        "torch.ones(2, 3, 4)",
        "self.layer = nn.LSTM(4, 2, batch_first=True)",
    ),
    "an encoder over each sequence that a mask selects": Case(
        "return self.layer(x[x[:, 0, 0] > 0])",
        "torch.ones(2, 3, 4)",
        "self.layer = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, batch_first=True), 1)",
    ),
    "what a mask selects, turned and put in order, of which one size is left": Case(
        "y = x.view(3, 2, 2)[x.sum(1) > 0].transpose(1, 2).contiguous()\nreturn y.reshape(y.shape[0], -1)"
    ),
    "what a mask selects, turned, and a copy of named sizes": Case(
        "y = x.view(3, 2, 2)[x.sum(1) > 0].transpose(1, 2)\nreturn y.reshape(y.shape[0], 4)"
    ),
    "the greatest of a list of whole numbers of data": Case(
        "return torch.zeros(max([rest[0].max().long().item(), rest[0].sum().long().item(), 3]))",
        f"{X}, {COUNTS}",
    ),
    "the most rows that masks select": Case(
        "return torch.zeros(max([x[x > 0].shape[0], x[x < 0].shape[0], 1]))"
    ),
    "a constant computed of one number": Case("return x if torch.sqrt(torch.tensor(4.0)) > 1 else -x"),
    "a number of a tensor that the module holds": Case(
        "return x[:, : int(self.width)]", before="self.width = torch.tensor(2)"
    ),
    "a number of a tensor of the file": Case(
        "return x * 2 if LIMIT.item() > 1 else x", before="LIMIT = torch.tensor(3)"
    ),
    "a random number in arithmetic": Case("return x * (torch.rand(1).item() + 1)"),
    "a size through a tensor": Case("return x[: int(torch.tensor(x.shape[0]))]"),
    "a number as text": Case('note = f"{x.mean().item()}"\nreturn x'),
    "elements set up to a symbol": Case(
        "y = torch.zeros_like(x)\ny[: rest[0][0].item()] = 1\nreturn y", f"{X}, {COUNTS}"
    ),
    "an element read at a found place": Case("return x[0, x[0].argmax()] + x[x[:, 0].argmax()].sum()"),
    "rows set at found places": Case("y = x.clone()\ny[torch.arange(3), x.argmax(1)] = 1\nreturn y"),
    "written up to a symbol, without gradients": Case(
        "y = torch.zeros_like(x)\nn = rest[0][0].item()\n"
        "with torch.no_grad():\n    y[0, :n] = (x * self.w)[0, :n]\nreturn y",
        f"{X}, {COUNTS}",
        before="self.w = nn.Parameter(torch.ones(4))",
    ),
    "written up to a symbol, of what is detached": Case(
        "y = torch.zeros_like(x)\nn = rest[0][0].item()\ny[0, :n] = (x * self.w).detach()[0, :n]\nreturn y",
        f"{X}, {COUNTS}",
        before="self.w = nn.Parameter(torch.ones(4))",
    ),
    "a loss of rows at the same found indices": Case(
        "i = (x.sum(1) > 0).nonzero().squeeze(1)\nreturn nn.functional.mse_loss(x[i], (x * 2)[i])"
    ),
    "a loss of what one mask selects": Case(
        "y = x.sum(1) > 0\nreturn nn.functional.smooth_l1_loss(x[y], (x * 2)[y])"
    ),
    "a loss of one selection": Case(
        "y = x[x.sum(1) > 0]\nreturn nn.functional.smooth_l1_loss(y, torch.zeros_like(y))"
    ),
    "layers over what a mask selects": Case(
        "y = x[x.sum(1) > 0]\nreturn torch.cat([y.cumsum(0), y.softmax(0).flip(0), nn.functional.layer_norm(y, (4,))])"
    ),
    "elements at what where gives": Case("return x[torch.where(x > 0)]"),
    "elements at what nonzero gives": Case("return x[x.nonzero(as_tuple=True)]"),
    "a size in a text": Case('note = "%d of %s" % (x.shape[1], x)\nreturn x'),
    "a text with a colon": Case('note = "mean: {}".format(x.mean().item())\nreturn x'),
    "a text with a letter of a format": Case('note = "value %s" % x.mean().item()\nreturn x'),
    "a queue": Case("rows = collections.deque([x])\nrows.appendleft(x * 2)\nreturn rows.pop() + rows[0]"),
    "a function of each row": Case("return torch.vmap(lambda row: row.softmax(0))(x)"),
    "a product, differentiated": Case(
        "with torch.enable_grad():\n    x = x.detach().requires_grad_()\n"
        "    return torch.autograd.grad((x * x.sin()).sum(), x)[0]"
    ),
    "the gradient of a parameter": Case(
        "with torch.enable_grad():\n    y = (x @ self.w).square().sum()\n"
        "    return x @ torch.autograd.grad(y, self.w)[0]",
        before="self.w = nn.Parameter(torch.ones(4, 4))",
    ),
    "operations on what a mask selects": Case("y = x[x.sum(1) > 0]\nreturn torch.softmax(y @ y.t(), -1) @ y"),
    "sizes of what a mask selects": Case("y = x[x > 0]\nreturn torch.arange(y.shape[0])"),
    "the side for eager": Case(
        "if not torch.compiler.is_compiling():\n    return x if x.sum() > 0 else -x\nreturn x"
    ),
    "behind the side for export": Case(
        "if torch.compiler.is_exporting():\n    return x\nreturn x if x.sum() > 0 else -x"
    ),
    "behind a helper that asks for export": Case(
        "if exporting():\n    return x\nreturn x if x.sum() > 0 else -x",
        before="def exporting():\n    return bool(torch.compiler.is_exporting())\n",
    ),
    "the side for traces": Case("if torch.jit.is_tracing():\n    return x if x.sum() > 0 else -x\nreturn x"),
    "what neither traces nor compilers do": Case(
        "if not torch.jit.is_tracing() and not torch.compiler.is_compiling():\n"
        "    return x if x.sum() > 0 else -x\nreturn x"
    ),
    "a turn that compilers leave out": Case(
        "for _ in range(2):\n    if torch.compiler.is_compiling():\n        continue\n    x = x * float(x.sum())\nreturn x"
    ),
    "what compilers return before": Case(
        "if x.shape[1] > 2:\n    if torch.compiler.is_compiling():\n        return x\n    return x * float(x.sum())\nreturn x"
    ),
    "a function from which compilers return": Case(
        "return scaled(x)",
        before="def scaled(x):\n    if torch.compiler.is_compiling():\n        return x\n    return x * float(x.sum())\n",
    ),
    "a size that is a number": Case("n = x.shape[0]\nreturn x if isinstance(n, int) else x * float(x.sum())"),
    "no state of a trace": Case(
        "if torch._C._get_tracing_state() is None:\n    return x\nreturn x * float(x.sum())"
    ),
    "a buffer that is assigned": Case(
        "self.last = self.last * 2 + x\nreturn self.last",
        before='self.register_buffer("last", torch.ones(3, 4))',
    ),
    "what a logger is told": Case(
        'LOG.info("seen")\nreturn x', before="import logging\nLOG = logging.getLogger()\n"
    ),
    "columns of what a mask selects": Case(
        "first, second = x[x.sum(1) > 0].chunk(2, dim=1)\nreturn first, second"
    ),
    "given lengths of what a mask selects": Case("return x[x.sum(1) > 0].split([2, 1])[0]"),
    "a clipped element": Case("return x * min(x.sum().long().item(), 3)"),
    "as many zeros as data says": Case("return torch.zeros(rest[0].max() + 1)", f"{X}, {COUNTS}"),
    "an ordered dict as output": Case("return collections.OrderedDict(a=x)"),
    "a size as output": Case("return x, x.shape, None, 3, 1.5"),
    "a cache by sizes": Case(
        "if x.shape not in self.cache:\n    self.cache[x.shape] = torch.ones(x.shape)\n"
        "return x * self.cache[x.shape]",
        before="self.cache = {}",
    ),
    "a parameter halved without gradients": Case(
        "with torch.no_grad():\n    self.w /= 2\nreturn x * self.w",
        before="self.w = nn.Parameter(torch.ones(4))",
    ),
    "a frozen parameter halved": Case(
        "self.w /= 2\nreturn x * self.w",
        before="self.w = nn.Parameter(torch.ones(4), requires_grad=False)",
    ),
    "a parameter initialised anew": Case(
        "nn.init.ones_(self.w)\nreturn x * self.w", before="self.w = nn.Parameter(torch.ones(4))"
    ),
    "what a parameter was given, where it is asked for": Case(
        "return x * self.w.fast if hasattr(self.w, 'fast') else x",
        before="self.w = nn.Parameter(torch.ones(4))\nself.w.fast = 3.0",
    ),
    "what a parameter was given, or something else": Case(
        "return x * getattr(self.w, 'fast', 1.0)",
        before="self.w = nn.Parameter(torch.ones(4))\nself.w.fast = 3.0",
    ),
    "what a parameter was given, with a handler for where it is missing": Case(
        "try:\n    return x * self.w.fast\nexcept AttributeError:\n    return x",
        before="self.w = nn.Parameter(torch.ones(4))\nself.w.fast = 3.0",
    ),
    "what no parameter was given, with a handler for where it is missing": Case(
        "try:\n    return x * self.w.fast\nexcept AttributeError:\n    return x",
        before="self.w = nn.Parameter(torch.ones(4))",
    ),
    "a mean over as many rows as data tells": Case(
        "n = x.argmax() % 3 + 1\nn = n.item()\nreturn x[:n].mean(0)"
    ),
    "layers over as many rows as data tells": Case(
        "n = x.argmax() % 3 + 1\nn = n.item()\nreturn torch.nn.functional.layer_norm(x[:n], (4,)) @ x.t()"
    ),
    "pieces of lengths that data tells": Case(
        "n = x.argmax() % 3 + 1\nn = n.item()\nreturn x.split([n, 3 - n])[0]"
    ),
    "a pool over the columns of as many rows as data tells": Case(
        "n = x.argmax() % 3 + 1\nn = n.item()\nreturn torch.nn.functional.max_pool1d(x[:n, None], 2)"
    ),
    "a power that data tells": Case("n = x.argmax() % 3 + 1\nn = n.item()\nreturn x * n**2 + 2.0**n"),
    "pieces of lengths in a tensor": Case(
        "return x.split(COUNTS.tolist())[0]", before="COUNTS = torch.tensor([1, 2])"
    ),
    "pieces of lengths that are given": Case(
        "return x.split(rest[0].tolist())[0]", f"{X}, torch.tensor([1, 2])"
    ),
    "pairs sorted by what is no data": Case(
        "a, b = x[0, 0].item(), x[0, 1].item()\nbest = [(1, a), (2, b)]\nbest.sort(key=lambda pair: pair[0])\nreturn x * best[0][1]"
    ),
    "the sum of numbers of data": Case("rows = [x[0, 0].item(), x[0, 1].item()]\nreturn x * sum(rows)"),
    "the sum of a list of data": Case("return x * sum(x[0].tolist())"),
    "the sum of a list of whole numbers": Case("return x * sum(x.argmax(1).tolist())"),
}
