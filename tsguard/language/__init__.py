"""The TorchScript language: grammar, types, annotations, operators, modules, matching.

Nothing here knows a project: these are the language's rules, from torch's own sources
(``torch/csrc/jit/frontend``, ``torch/jit/frontend.py``) and tables asked of torch.
"""
