"""Static analysis for TorchScript, and real attempts to script and trace.

``tsguard.lint`` and ``tsguard.check`` are the command line's, for Python: both return a ``Report``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tsguard.public import check, lint
    from tsguard.report import Report
    from tsguard.settings.config import ConfigError
    from tsguard.version import __version__ as __version__

__all__ = ["ConfigError", "Report", "check", "lint"]

# Loaded when they are asked for: who runs `tsguard lint` does not pay for them.
_PLACES = {
    "ConfigError": "settings.config",
    "Report": "report",
    "__version__": "version",
    "check": "public",
    "lint": "public",
    "load_ipython_extension": "notebook",  # what %load_ext tsguard looks for
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'tsguard' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"tsguard.{_PLACES[name]}"), name)
