"""What the base classes of torch.nn's losses keep of their arguments: they are in no table of layers."""

from __future__ import annotations

from tsguard.analysis.values import NONE, Const, ModuleValue, TensorValue, Unknown, Value, is_none

# Source: torch/nn/modules/loss.py, _Loss and _WeightedLoss.
_PARAMETERS = {
    "torch.nn.modules.loss._Loss": ("size_average", "reduce", "reduction"),
    "torch.nn.modules.loss._WeightedLoss": ("weight", "size_average", "reduce", "reduction"),
}


def initialize(module: ModuleValue, base: str, args: list[Value], kwargs: dict[str, Value]) -> None:
    """Run the constructor of such a base on a module of a derived class; nothing for other bases."""
    parameters = _PARAMETERS.get(base)
    if parameters is None:
        return
    given = {**dict(zip(parameters, args, strict=False)), **kwargs}
    is_legacy = any(not is_none(given.get(name, NONE)) for name in ("size_average", "reduce"))
    reduction = given.get("reduction", Const("mean"))
    module.attributes["reduction"] = Unknown(hint="str") if is_legacy else reduction
    if "weight" in parameters:
        weight = given.get("weight", NONE)
        module.buffers["weight"] = TensorValue("buffer") if isinstance(weight, TensorValue) else weight
