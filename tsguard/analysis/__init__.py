"""What the code does: objects as constructors leave them, and two walks over it.

``python`` evaluates source by Python's rules over abstract values: it builds the
module that a constructor would build, and follows a forward as tracing would run it.
``script`` compiles the closure of that module by TorchScript's rules.  Both report
events and know nothing of how rules word them.
"""
