"""The walk of a forward in train() and eval() at once: what differs, is random or updates state.

The walk is the Python interpreter of ``analysis.python`` run over the whole closure of a
forward.  What differs between the modes is carried as such, what data decides is followed
both ways, and each layer is asked with the flag that train() and eval() really give it.
"""

from tsguard.analysis.mode.context import ModeInterpreter
from tsguard.analysis.mode.walk import follow

__all__ = ["ModeInterpreter", "follow"]
