"""The version of tsguard: a leaf, for every stage may print it."""

__version__ = "0.1.0"
