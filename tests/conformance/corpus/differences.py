"""Results that TorchScript has otherwise than Python: where that shows, and where it does not."""

from typing import Dict, List

import torch
from torch import Tensor, nn

X = lambda: (torch.tensor([1.5, -2.0, 3.0]),)


class PowerAsFactor(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.level = 3

    def forward(self, x):
        return x * 2**self.level / (x.size(0) ** 2)


class PowerInTensorOfFloats(nn.Module):
    inputs = X

    def forward(self, x):
        return x + torch.tensor([2**3, 0.5, 1.0])[0]


class PowerConverted(nn.Module):
    inputs = X

    def forward(self, x):
        return x[torch.arange(int(2**1))]


class PowerAsPositions(nn.Module):
    inputs = X

    def forward(self, x):
        return x.sum() * torch.arange(2**2)


class PowerAsIndices(nn.Module):
    inputs = X

    def forward(self, x):
        positions = torch.arange(2**1)
        return x[positions]


class PowerReturned(nn.Module):
    inputs = X

    def forward(self, x):
        return x, x.size(0) ** 2


class PowerReturnedAsFloat(nn.Module):
    inputs = X

    def forward(self, x) -> float:
        return float(x.size(0) ** 2)


class RoundedReturned(nn.Module):
    inputs = X

    def forward(self, x):
        half = round(x.size(0) / 2)
        return {"half": half - 1}


class RoundedInText(nn.Module):
    inputs = X

    def forward(self, x):
        return f"{round(2.6)} of {x.size(0)}"


class MaskWithFlag(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.flag = True

    def forward(self, x):
        return x * ((x > 0) & self.flag).float()


class MaskWithFlagAsCount(nn.Module):
    inputs = X

    def forward(self, x, flag: bool = True):
        kept = (x > 0) | flag
        if kept.any():
            x = x / kept.sum()
        return x


class MaskWithFlagAsIndex(nn.Module):
    inputs = X

    def forward(self, x, flag: bool = True):
        kept = ((x > 0) & flag).unsqueeze(0).squeeze(0)
        return x[kept]


class MaskWithFlagInWhere(nn.Module):
    inputs = X

    def forward(self, x, flag: bool = True):
        return torch.where((x > 0) & flag, x, -x)


class FlagsInWhere(nn.Module):
    inputs = X

    def forward(self, x):
        return x.masked_fill(torch.where(x > 0, True, False), 0.0)


class ComparisonsReturned(nn.Module):
    inputs = X

    def forward(self, x):
        return x, x.sum() > 0 and x.sum() < 3


class ComparisonsTested(nn.Module):
    inputs = X

    def forward(self, x):
        inside = 0 < x.sum() < 3
        return -x if inside or (x > 5).any() else x


class ComparisonsAsBool(nn.Module):
    inputs = X

    def forward(self, x) -> bool:
        return bool(x.sum() > 0 and x.sum() < 3)


class TextOfDtypeTested(nn.Module):
    inputs = X

    def forward(self, x):
        return x if "float" in str(x.dtype) else -x


class TextOfDtypeInKey(nn.Module):
    inputs = X

    def forward(self, x):
        found: Dict[str, Tensor] = {}
        found[f"{x.dtype}"] = x
        return found


class TextInMessages(nn.Module):
    inputs = X

    def forward(self, x):
        assert x.size(0) == 3, f"{x.dtype} {x.shape}"
        if x.dim() != 1:
            raise ValueError("not " + str(x) + f"{x.dtype} {{}} {type(x)} %r" % x.size(0))
        print(f"{x.shape} {x.sum().item()}")
        return x


class TextOfNumbers(nn.Module):
    inputs = X

    def forward(self, x):
        return {f"level_{x.size(0)}": x, "device " + str(x.device): x}


class TextOfNames(nn.Module):
    inputs = X

    def forward(self, x, names: List[str] = ("a", "b")):
        return str(names)


class BracesInText(nn.Module):
    inputs = X

    def forward(self, x):
        return f"{{{x.size(0)}}}"


class EmptyTensor(nn.Module):
    inputs = lambda: (torch.zeros(0),)

    def forward(self, x):
        return torch.tensor([], device=x.device) if x.numel() == 0 else x


class TensorOfTensor(nn.Module):
    inputs = X

    def forward(self, x):
        return torch.tensor(x, dtype=torch.float64)


class TensorOfElement(nn.Module):
    inputs = X

    def forward(self, x):
        total = x.sum()
        return torch.tensor(total) + torch.tensor(x[0]) + torch.as_tensor(x)


class SumOfRows(nn.Module):
    inputs = lambda: (torch.ones(2, 3),)

    def forward(self, x):
        return sum(x) * x[:, 0].mean()


class SumOfList(nn.Module):
    inputs = X

    def forward(self, x):
        return sum([x.size(0), 2]) * x


class SortedElements(nn.Module):
    inputs = X

    def forward(self, x):
        return torch.stack(sorted(x))


class TypeUnused(nn.Module):
    inputs = X

    def forward(self, x):
        kind = type(-x)
        return x


class TruthOfContainers(nn.Module):
    inputs = X

    def forward(self, x):
        sizes = {"a": x.size(0)}
        return x if bool([x]) and bool("a") and bool(sizes) else -x


class DictOfPairs(nn.Module):
    inputs = X

    def forward(self, x):
        return dict(zip(["a", "b"], [x, -x])), dict(enumerate([x]))


class ComplexNumbers(nn.Module):
    inputs = X

    def forward(self, x):
        return x * complex(x.size(0), 2.5), complex(1)


class TensorOfReducedAndGivenElements(nn.Module):
    inputs = X

    def kept(self, value):
        return torch.tensor(value)

    def forward(self, x):
        longest = torch.max(x)
        return torch.tensor(longest) + self.kept(x.mean())


class OperandChangedInPlace(nn.Module):
    def inputs():
        return (torch.ones(2), 2, True)

    def forward(self, x, size: int, wanted: bool):
        given = size or x.dim()
        given &= wanted
        return x * 2 if given else x
