"""Private names: ``self.__weights`` in a class ``Net`` is ``self._Net__weights``.

Source: the Python language reference, "Identifiers (Names)".  TorchScript reads the name as it is written.
"""

from __future__ import annotations


def is_private(name: str) -> bool:
    """Whether Python keeps a name of a class body under another name."""
    return name.startswith("__") and not name.endswith("__")


def mangled(name: str, cls: str) -> str:
    """The name under which Python keeps a private one that is written in a class."""
    stem = cls.lstrip("_")
    return f"_{stem}{name}" if stem and is_private(name) else name
