"""The analysis: abstract objects as constructors build them, and the walks that follow the code.

``python`` evaluates source by Python's rules over abstract values: it builds the
module that a constructor would build, and follows a forward as tracing would run it.
``script`` compiles the closure of that module by TorchScript's rules.  Both report
events and know nothing of how rules word them.
"""
