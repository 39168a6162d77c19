"""Operators, methods and functions of tensors; containers of them; loops."""

import torch, math
from torch import nn, Tensor
import torch.nn.functional as F
from typing import Optional, List, Dict, Tuple, Union, Any, Callable

X = lambda: (torch.rand(3, 3),)


class A1(nn.Module):
    inputs = X

    def forward(self, x, lengths: Optional[List[int]] = None):
        if lengths is None:
            lengths = [x.shape[1]] * x.shape[0]
        return x, lengths


class A2(nn.Module):
    inputs = X

    def forward(self, x):
        y = None
        for i in range(3):
            if y is None:
                y = x
            else:
                y = y + x
        return y


class A3(nn.Module):
    inputs = X

    def forward(self, x):
        y: Optional[Tensor] = None
        for i in range(3):
            if y is None:
                y = x
            else:
                y = y + x
        return y


class A4(nn.Module):
    inputs = X

    def forward(self, x):
        if x.dim() == 3:
            b, n, d = x.shape
        else:
            b, d = x.shape
        return x.view(b, d)


class A5(nn.Module):
    inputs = X

    def forward(self, x):
        if x.dim() == 3:
            b, n, d = x.shape
        else:
            n, d = x.shape
            b = 1
        return x.view(b, n, d)


class A6(nn.Module):
    inputs = X

    def forward(self, x):
        out = []
        for i in range(2):
            out.append(x)
        return torch.cat(out, 1)


class A7(nn.Module):
    inputs = X

    def forward(self, x):
        out = []
        for i in range(2):
            out.append((x, i))
        return out


class A8(nn.Module):
    inputs = X

    def forward(self, x):
        out: List[Tuple[Tensor, int]] = []
        for i in range(2):
            out.append((x, i))
        return out


class A9(nn.Module):
    inputs = X

    def forward(self, x):
        d = {}
        for i in range(2):
            d[i] = x
        return d


class B1(nn.Module):
    inputs = X

    def forward(self, x):
        d: Dict[int, Tensor] = {}
        for i in range(2):
            d[i] = x
        return d


class B2(nn.Module):
    inputs = X

    def forward(self, x, f: Callable[[Tensor], Tensor] = torch.relu):
        return f(x)


class B3(nn.Module):
    inputs = X

    def forward(self, x, opts: Dict[str, Any]):
        return x


class B4(nn.Module):
    inputs = X

    def forward(self, x: Union[Tensor, List[Tensor]]):
        if isinstance(x, list):
            return torch.stack(x)
        return x


class B5(nn.Module):
    inputs = X

    def forward(self, x: Union[Tensor, List[Tensor]]):
        if torch.is_tensor(x):
            return x
        return torch.stack(x)


class B6(nn.Module):
    inputs = X

    def forward(self, x, n: int = 2):
        return x.repeat(1, n), x.repeat((1, n)), x.expand(3, -1), x.permute(0, 1), x.view(*[3, 3])


class B7(nn.Module):
    inputs = X

    def forward(self, x):
        return x.split(1, dim=0)[0], x.chunk(3, -1), torch.split(x, [1, 2], 1)


class B8(nn.Module):
    inputs = X

    def forward(self, x):
        a, b, c = x.chunk(3, -1)
        q, k = x.split([1, 2], 1)
        return a + b, q


class B9(nn.Module):
    inputs = X

    def forward(self, x):
        q, k, v = x.unbind(0)
        return q


class C1(nn.Module):
    inputs = X

    def forward(self, x):
        v, i = torch.topk(x, 2)
        m = x.max(dim=1).values
        s = torch.sort(x, descending=True).indices
        return v, m, s


class C2(nn.Module):
    inputs = X

    def forward(self, x):
        return (
            x.mean([0, 1]),
            x.mean(dim=(0, 1), keepdim=True),
            x.sum(-1),
            x.std(unbiased=False),
            x.norm(p=2, dim=-1),
            torch.norm(x),
            x.var(dim=1, unbiased=False),
            x.argmax(-1),
        )


class C3(nn.Module):
    inputs = X

    def forward(self, x):
        return (
            torch.einsum("ij,kj->ik", x, x),
            torch.einsum("ij,kj->ik", [x, x]),
            torch.matmul(x, x),
            torch.bmm(x[None], x[None]),
            torch.meshgrid(x[0], x[1]),
        )


class C4(nn.Module):
    inputs = X

    def forward(self, x):
        return (
            torch.meshgrid(x[0], x[1], indexing="ij"),
            torch.cartesian_prod(x[0], x[1]),
            torch.block_diag(x, x),
        )


class C5(nn.Module):
    inputs = X

    def forward(self, x):
        mask = torch.ones(3, 3, dtype=torch.bool).triu(1)
        return (
            x.masked_fill(mask, float("-inf")),
            x.masked_fill_(~mask, -1e9),
            torch.where(mask, x, 0.0),
            torch.where(mask, x, torch.tensor(0.0)),
            x.masked_select(mask),
        )


class C6(nn.Module):
    inputs = X

    def forward(self, x):
        pos = torch.arange(x.size(1), device=x.device).unsqueeze(0)
        div = torch.exp(torch.arange(0, 4, 2).float() * (-math.log(10000.0) / 4))
        return (
            pos,
            div,
            torch.linspace(0, 1, x.size(0)),
            torch.linspace(0, 1, steps=3, device=x.device),
            torch.randn(3, 3),
            torch.rand_like(x),
            torch.randint(0, 3, (2,)),
            torch.eye(3),
        )


class C7(nn.Module):
    inputs = X

    def forward(self, x):
        return (
            F.avg_pool2d(x[None], 2),
            F.adaptive_avg_pool2d(x[None], 1),
            F.adaptive_avg_pool2d(x[None], (1, None)),
            F.max_pool2d(x[None], 2, 1),
            F.conv2d(x[None, None], x[None, None], padding=1),
        )


class C8(nn.Module):
    inputs = X

    def forward(self, x):
        return (
            F.layer_norm(x, (3,)),
            F.layer_norm(x, x.shape[-1:]),
            F.layer_norm(x, [x.size(-1)]),
            F.batch_norm(x, torch.zeros(3), torch.ones(3)),
            F.dropout(x, 0.1, self.training),
            F.log_softmax(x, -1),
            F.cross_entropy(x, torch.zeros(3, dtype=torch.long)),
            F.mse_loss(x, x),
            F.embedding(torch.zeros(2, dtype=torch.long), x),
            F.unfold(x[None, None], 2),
            F.grid_sample(x[None, None], torch.zeros(1, 2, 2, 2), align_corners=False),
            F.pixel_shuffle(torch.rand(1, 4, 2, 2), 2),
            F.cosine_similarity(x, x),
            F.glu(torch.rand(2, 2)),
            F.leaky_relu(x, 0.1),
            F.hardtanh(x),
            F.elu(x),
            F.softplus(x),
            F.scaled_dot_product_attention(x[None], x[None], x[None]),
        )


class C9(nn.Module):
    inputs = X

    def forward(self, x):
        return (
            x.flatten(1),
            x.unflatten(1, (3, 1)),
            x.unflatten(1, [3, 1]),
            x.squeeze(),
            x.t(),
            x.T,
            x.mT,
            x.roll(1, 0),
            x.flip(0),
            x.flip([0, 1]),
            x.cumsum(0),
            x.gather(0, torch.zeros(1, 3, dtype=torch.long)),
            x.scatter(0, torch.zeros(1, 3, dtype=torch.long), 1.0),
            x.index_select(0, torch.tensor([0])),
            x.tril(),
            x.diag(),
            x.contiguous(),
            x.detach(),
            x.clone(),
            x.abs().pow(2).sqrt().log1p().exp().clamp(0, 1).clamp_min(0.1),
        )


class D1(nn.Module):
    inputs = X

    def forward(self, x):
        return (
            x.unsqueeze(0).unsqueeze_(0),
            x.add_(1),
            x.mul(2).sub(1).div(2),
            x.true_divide(2),
            x.floor_divide(2),
            torch.div(x, 2, rounding_mode="floor"),
            x.eq(1),
            x.ge(0.5) & x.lt(1),
            ~(x > 0),
            x.any(),
            x.all(1),
            x.bool(),
            x.int(),
            x.half(),
            x.double(),
            x.long(),
        )


class D2(nn.Module):
    inputs = X

    def forward(self, x):
        return x.tolist()


class D3(nn.Module):
    inputs = X

    def forward(self, x):
        n: int = x.sum().int().item()
        return n


class D4(nn.Module):
    inputs = X

    def forward(self, x):
        n = int(x.sum().item())
        for i in range(n):
            x = x + i
        return x


class D5(nn.Module):
    inputs = X

    def forward(self, x):
        for row in x:
            x = x + row
        return x


class D6(nn.Module):
    inputs = X

    def forward(self, x):
        for i, row in enumerate(x):
            x = x + row * i
        for a, b in zip(x, x):
            x = x + a
        return x


class D7(nn.Module):
    inputs = X

    def forward(self, x):
        ys = [r.sum() for r in x]
        return torch.stack(ys)


class D8(nn.Module):
    inputs = X

    def forward(self, x):
        return torch.stack([x[i] for i in range(x.size(0)) if i % 2 == 0])


class D9(nn.Module):
    inputs = X

    def forward(self, x):
        return sum([x, x]), max(x.size(0), 2), min(x.size(0), 4.0)


class UniqueInverse(nn.Module):
    inputs = lambda: (torch.rand(3, 3),)

    def forward(self, x: Tensor):
        values, inverse = torch.unique(x, return_inverse=True, dim=1)
        return values.sum() + inverse.sum()


class UniqueAll(nn.Module):
    inputs = lambda: (torch.rand(3, 3),)

    def forward(self, x: Tensor):
        values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
        return values, inverse, counts


class UniqueIndexesAfterEllipsis(nn.Module):
    inputs = lambda: (torch.rand(3, 3),)

    def forward(self, x: Tensor):
        values, inverse = torch.unique(x, return_inverse=True, dim=1)
        return x[..., inverse, :]


class UniqueCountsTwice(nn.Module):
    inputs = lambda: (torch.rand(3, 3),)

    def forward(self, x: Tensor):
        values, counts = torch.unique_consecutive(x, return_counts=True)
        return values.counted(counts)


class Renewed(nn.Module):
    """A variable whose value comes from itself."""

    inputs = lambda: (torch.rand(2, 3),)

    def forward(self, x: torch.Tensor):
        y = x.sum()
        y = y + 1
        return torch.tensor(y)


class RenewedByTurns(nn.Module):
    inputs = lambda: (torch.rand(2, 3),)

    def forward(self, x: torch.Tensor):
        a = x
        b = a + 1
        a = b * 2
        b = a
        return torch.tensor(b)
