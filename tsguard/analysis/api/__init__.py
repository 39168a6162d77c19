"""How a file uses the torch.jit API: its calls in order, its decorators, its annotations.

A lean walk over the files that mention torch.jit.  Names are resolved through the
project's imports; what a call is given is followed from statement to statement, as
far as the file itself shows it.
"""

from tsguard.analysis.api.questions import events_in, import_failure

__all__ = ["events_in", "import_failure"]
