"""tsguard tells what will break in TorchScript before it breaks."""

__version__ = "0.1.0"
