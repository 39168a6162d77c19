"""What ``torch.export`` does with the forward that the trace walk follows.

torch.export (not strict) runs the forward as Python does, as torch.jit.trace does, with tensors
that have no data: what asks for some is refused.  So there is no walk of its own: the tracer's
handlers tell these files what they meet, and what it means for export is recorded beside its events.
"""
