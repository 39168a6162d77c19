"""Fixes of layers under ``weight_norm`` and ``spectral_norm``: their hooks become functions, which torch.jit.script compiles.

What the hooks of torch do is in torch/nn/utils/weight_norm.py and spectral_norm.py. Names in the state dict, gradients and
the order of random numbers stay.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tsguard.fixes.composing import unsafe
from tsguard.fixes.edits import between, insertion
from tsguard.fixes.imports import imported, is_of_torch, torch_imported
from tsguard.fixes.pieces import rewritten
from tsguard.fixes.places import functions_around
from tsguard.report import Edit, Fix
from tsguard.source import SourceFile
from tsguard.source.functions import first_line

if TYPE_CHECKING:
    from tsguard.analysis.events import Event
    from tsguard.project.modules import Module

_WEIGHT = """
def set_normed_weight(self, inputs: Tuple[torch.Tensor]) -> None:
    self.weight = torch._weight_norm(self.weight_v, self.weight_g, {dim})


"""
# Compiled code calls the hook of a transposed convolution with fewer arguments than the hook's type has to name.
_TRANSPOSED = """
class NormedConvTranspose{n}d(torch.nn.ConvTranspose{n}d):
    def forward(self, x, output_size: Optional[List[int]] = None):
        assert output_size is None
        weight = torch._weight_norm(self.weight_v, self.weight_g, 0)
        return torch.nn.functional.conv_transpose{n}d(
            x, weight, self.bias, self.stride, self.padding, self.output_padding, self.groups, self.dilation
        )


"""
_NORMED_TRANSPOSED = """
    if isinstance(module, torch.nn.ConvTranspose{n}d):
        module.__class__ = NormedConvTranspose{n}d
        return module
"""
_PLAIN_TRANSPOSED = """
    if isinstance(module, NormedConvTranspose{n}d):
        module.__class__ = torch.nn.ConvTranspose{n}d
        return module
"""
_WEIGHT_NORM = '''
def scriptable_weight_norm(module):
    """torch.nn.utils.weight_norm with a hook that torch.jit.script compiles."""
    weight = module.weight
    del module.weight
    module.weight_g = torch.nn.Parameter(torch.norm_except_dim(weight, 2, {dim}).data)
    module.weight_v = torch.nn.Parameter(weight.data)
    module.weight = torch._weight_norm(module.weight_v, module.weight_g, {dim})
    {transposed}module.register_forward_pre_hook(set_normed_weight)
    return module


'''
_REMOVE = '''
def remove_scriptable_weight_norm(module):
    """What torch.nn.utils.remove_weight_norm does, for scriptable_weight_norm."""
    if not hasattr(module, "weight_g"):
        raise ValueError(f"weight_norm of 'weight' not found in {module}")
    weight = torch._weight_norm(module.weight_v, module.weight_g, {dim})
    del module.weight, module.weight_g, module.weight_v
    module.weight = torch.nn.Parameter(weight.data)
    {transposed}module._forward_pre_hooks.clear()
    return module


'''
_SPECTRAL_NORM = '''
def set_spectral_weight(self, inputs: Tuple[torch.Tensor]) -> None:
    matrix = self.weight_orig.flatten(1)
    if self.training:
        with torch.no_grad():
            v = torch.nn.functional.normalize(torch.mv(matrix.t(), self.weight_u), dim=0, eps=1e-12)
            self.weight_v.copy_(v)
            self.weight_u.copy_(torch.nn.functional.normalize(torch.mv(matrix, v), dim=0, eps=1e-12))
    sigma = torch.dot(self.weight_u.clone(), torch.mv(matrix, self.weight_v.clone()))
    self.weight = self.weight_orig / sigma


def scriptable_spectral_norm(module):
    """torch.nn.utils.spectral_norm with a hook that torch.jit.script compiles."""
    weight = module.weight
    rows, columns = weight.flatten(1).shape
    u = torch.nn.functional.normalize(weight.detach().new_empty(rows).normal_(), dim=0, eps=1e-12)
    v = torch.nn.functional.normalize(weight.detach().new_empty(columns).normal_(), dim=0, eps=1e-12)
    del module.weight
    module.weight_orig = weight
    module.weight = weight.data
    module.register_buffer("weight_u", u)
    module.register_buffer("weight_v", v)
    module.register_forward_pre_hook(set_spectral_weight)
    return module


'''


def hook_by_function(event: Event) -> Fix | None:
    """``weight_norm(conv)`` becomes ``scriptable_weight_norm(conv)``, which the file defines; so with ``spectral_norm``.

    Unsafe: ``remove_weight_norm`` of another file does not find these hooks.
    """
    kind = event.facts["hook"].rpartition(".")[2]
    module = event.module
    if kind not in ("weight_norm", "spectral_norm"):
        return None
    if kind == "spectral_norm" and _transposed(module.file):
        return None
    calls = _calls(module, kind)
    removals = _calls(module, f"remove_{kind}")
    first = first_definition(module.file)
    aliases = _aliases(module, kind)
    calls_all = [*calls, *(c for alias in aliases for c in _calls_by(module.file, alias.node))]
    if not calls_all or first is None or not all(map(_is_plain, calls_all)):
        return None
    dims = {dim for call in calls_all if (dim := _dimension(call)) is not None}
    if len(dims) != 1 or (dims != {0} and (kind != "weight_norm" or _transposed(module.file))):
        return None
    if removals and kind != "weight_norm":
        return None
    names = ["List", "Optional", "Tuple"] if _transposed(module.file) else ["Tuple"]
    imports, torch = imported(module, "typing", names, first), torch_imported(module, first)
    renamed = [_renamed(module.file, call, f"scriptable_{kind}") for call in calls]
    renamed += [_renamed(module.file, call, f"remove_scriptable_{kind}") for call in removals]
    renamed += [rewritten(module.file, alias.function, f"scriptable_{kind}") for alias in aliases]
    # What was renamed is not defined twice.
    text = _helpers(module.file, kind, dims.pop(), bool(removals)).replace("\n", module.file.newline)
    added = insertion(module.file, first, 1, text)
    return unsafe(f"Compute the weight of {kind} in a function", imports, torch, added, renamed)


def _renamed(file: SourceFile, call: ast.Call, name: str) -> Edit | None:
    """The same call of another function, without the name of the parameter."""
    if len(call.args) == 1 and not call.keywords:
        return rewritten(file, call.func, name)
    return rewritten(file, call, f"{name}({between(file, file.span(call.args[0]))})")


def _helpers(file: SourceFile, kind: str, dim: int, removed: bool) -> str:
    if kind == "spectral_norm":
        return _SPECTRAL_NORM.lstrip()
    dimensions = _transposed(file)
    classes = [_TRANSPOSED.lstrip().replace("{n}", n) for n in dimensions]
    made = _with_cases(_WEIGHT_NORM, _NORMED_TRANSPOSED, dimensions)
    undone = _with_cases(_REMOVE, _PLAIN_TRANSPOSED, dimensions) if removed else ""
    return "".join((_WEIGHT.lstrip(), *classes, made, undone)).replace("{dim}", str(dim))


def _with_cases(text: str, case: str, dimensions: list[str]) -> str:
    cases = [case.strip().replace("{n}", n) + "\n    " for n in dimensions]
    return text.lstrip().replace("{transposed}", "".join(cases))


def _transposed(file: SourceFile) -> list[str]:
    """The numbers of dimensions of the transposed convolutions that a file makes."""
    nodes = [n for n in ast.walk(file.tree) if isinstance(n, (ast.Attribute, ast.Name))]
    names = {n.attr if isinstance(n, ast.Attribute) else n.id for n in nodes}
    return [n for n in "123" if f"ConvTranspose{n}d" in names]


def _calls(module: Module, name: str) -> list[ast.Call]:
    """The calls of a function of ``torch.nn.utils`` in a file."""
    return [n for n in ast.walk(module.file.tree) if isinstance(n, ast.Call) and _is(module, n.func, name)]


def _is(module: Module, node: ast.expr, name: str) -> bool:
    """Whether an expression is a function of ``torch.nn.utils``, by its own name or by that of an import."""
    dotted = ast.unparse(node)
    if not isinstance(node, (ast.Name, ast.Attribute)) or not is_of_torch(module, dotted):
        return False
    imports = [b.node for b in module.bindings.get(dotted, []) if isinstance(b.node, ast.ImportFrom)]
    meant = [a.name for i in imports for a in i.names if (a.asname or a.name) == dotted]
    return (meant[-1] if meant else dotted.rpartition(".")[2]) == name


@dataclass(frozen=True, slots=True)
class _Alias:
    """``norm = spectral_norm``, or ``norm = spectral_norm if hard else weight_norm``: the function by another name."""

    node: ast.Assign
    function: ast.expr


def _aliases(module: Module, name: str) -> list[_Alias]:
    """The assignments that give a function of ``torch.nn.utils`` another name."""
    nodes = [n for n in ast.walk(module.file.tree) if isinstance(n, ast.Assign) and len(n.targets) == 1]
    return [
        _Alias(n, function)
        for n in nodes
        if isinstance(n.targets[0], ast.Name)
        for function in ([n.value.body, n.value.orelse] if isinstance(n.value, ast.IfExp) else [n.value])
        if _is(module, function, name)
    ]


def _calls_by(file: SourceFile, alias: ast.Assign) -> list[ast.Call]:
    """The calls by that name in the function that the assignment stands in."""
    functions = functions_around(file, file.span(alias))
    nodes = ast.walk(functions[0] if functions else file.tree)
    called = ast.unparse(alias.targets[0])
    return [n for n in nodes if isinstance(n, ast.Call) and ast.unparse(n.func) == called]


def _is_plain(call: ast.Call) -> bool:
    """Whether a call norms the weight by a dimension that is written there, or by the first, as is the default."""
    named = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "name")]
    others = [k for k in call.keywords if k.arg not in ("name", "dim")]
    texts = all(isinstance(n, ast.Constant) and n.value == "weight" for n in named)
    plain = texts and not others and len(call.args) in (1, 2, 3) and not isinstance(call.args[0], ast.Starred)
    return plain and _dimension(call) is not None


def _dimension(call: ast.Call) -> int | None:
    """The dimension that a call keeps, -1 for none; None where it is computed."""
    given = [*call.args[2:], *(k.value for k in call.keywords if k.arg == "dim")]
    if not given:
        return 0
    try:
        dim = ast.literal_eval(given[0])
    except ValueError:
        return None
    return -1 if dim is None else dim if isinstance(dim, int) else None


def first_definition(file: SourceFile) -> int | None:
    """The line of the first class or function of the file."""
    for node in file.tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            return first_line(node)
    return None
