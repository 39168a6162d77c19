"""Arguments of layers that their forward has no use for, and those that only look so."""

from torch import nn

X = lambda: (__import__("torch").rand(2, 3, 8, 8),)


class ActivationForStride(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, "relu")

    def forward(self, x):
        return self.conv(x)


class FractionForPadding(nn.Module):
    def __init__(self):
        super().__init__()
        size = 3
        self.conv = nn.Conv2d(3, 4, size, padding=(size - 1) / 2)

    def forward(self, x):
        return self.conv(x)


class FractionForKernel(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.MaxPool2d(4 / 2)

    def forward(self, x):
        return self.pool(x)


class TextForSlope(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.LeakyReLU("relu")

    def forward(self, x):
        return self.act(x)


class FlagForMode(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.GELU(True)

    def forward(self, x):
        return self.act(x)


class TextForPadding(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding="same")

    def forward(self, x):
        return self.conv(x)


class FractionForNorm(nn.Module):
    inputs = X

    def __init__(self):
        super().__init__()
        self.pool = nn.LPPool2d(1.5, 2)

    def forward(self, x):
        return self.pool(x.abs())


class HalfRoundedDown(nn.Module):
    inputs = X

    def __init__(self, size: int = 3):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, size, padding=(size - 1) // 2)

    def forward(self, x):
        return self.conv(x)
