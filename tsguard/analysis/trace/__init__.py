"""The walk of a forward as ``torch.jit.trace`` runs it.

Tracing runs Python, so this walk is the Python interpreter of ``analysis.python`` with
inputs of unknown content.  Each value knows whether the trace goes on following it (a
tensor, a size), or whether Python has made a constant of it, and where it comes from.
Source: torch 2.13, observed; which forms keep a size symbolic was asked of torch.

Nothing is imported here: the interpreter, on which the walk rests, asks the rules of shapes in this package.
"""
