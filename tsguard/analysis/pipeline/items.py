"""Work that ``__getitem__`` repeats for every item with the same result."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tsguard.analysis.events import Event, text_of
from tsguard.analysis.pipeline.context import ItemCode, Pipeline
from tsguard.analysis.pipeline.epochs import called
from tsguard.analysis.pipeline.loaders import LoaderLoop
from tsguard.analysis.pipeline.names import is_self
from tsguard.analysis.pipeline.workers import OPENERS
from tsguard.source.walking import children, walked

_STATISTICS = frozenset(
    {"mean", "std", "var", "median", "min", "max", "sum", "amin", "amax", "std_mean", "var_mean"}
)
_READERS = OPENERS | {
    *(
        "numpy.load",
        "numpy.loadtxt",
        "numpy.genfromtxt",
        "torch.load",
        "pandas.read_csv",
        "pandas.read_parquet",
    ),
    *("pandas.read_hdf", "pandas.read_feather", "pandas.read_pickle", "numpy.memmap"),
}
_BUILDERS = ("torchvision.transforms.", "torchaudio.transforms.", "albumentations.")
_WINDOWS = frozenset(f"torch.{kind}_window" for kind in ("hann", "hamming", "blackman", "bartlett", "kaiser"))
_FIXED = frozenset(
    {
        *("torch.nn.functional.interpolate", "torchvision.transforms.functional.resize", "cv2.resize"),
        *("torchvision.transforms.v2.functional.resize", "torch.stft", "torch.fft.fft", "torch.fft.rfft"),
        *(
            "torch.fft.fft2",
            "torch.fft.rfft2",
            "librosa.stft",
            "librosa.feature.melspectrogram",
            "librosa.feature.mfcc",
        ),
    }
)
_LOADED = frozenset(
    {
        *(
            "numpy.load",
            "numpy.array",
            "numpy.stack",
            "numpy.loadtxt",
            "torch.load",
            "torch.tensor",
            "torch.stack",
        ),
        *(
            "torch.from_numpy",
            "torch.rand",
            "torch.randn",
            "numpy.random.rand",
            "numpy.random.randn",
            "torch.cat",
        ),
    }
)


def check(pipeline: Pipeline) -> Iterator[Event]:
    for code in pipeline.item_code:
        if code.role == "item":
            for call, _ in pipeline.calls_in(code.frame):
                yield from _statistics(pipeline, call, code)
                yield from _reopened(pipeline, call, code)
                yield from _fixed_transform(pipeline, call, code)
            yield from _constants(pipeline, code)
    for loop in pipeline.loops:
        yield from _statistics_of_epochs(pipeline, loop)


def _statistics(pipeline: Pipeline, call: ast.Call, code: ItemCode) -> Iterator[Event]:
    """``self.data.mean()``: of all items, for each item."""
    name = called(code.names, call, code.frame)
    summed: ast.expr | None = None
    if name.startswith(("numpy.", "torch.")) or name in ("sum", "min", "max"):
        summed = call.args[0] if call.args and name.rpartition(".")[2] in _STATISTICS else None
        summed = None if name in ("min", "max") and len(call.args) > 1 else summed
    elif isinstance(call.func, ast.Attribute) and call.func.attr in _STATISTICS:
        summed = call.func.value
    if isinstance(summed, ast.Attribute) and is_self(summed.value) and _is_settled(summed.attr, code):
        yield pipeline.event("statistics-repeated", call, call=text_of(call, 40))


def _is_settled(attribute: str, code: ItemCode) -> bool:
    """Whether only ``__init__`` assigns an attribute."""
    cls = code.frame.cls
    places = code.names.attributes(cls).get(attribute, []) if cls is not None else []
    return bool(places) and all(function.name == "__init__" for function, _ in places)


def _statistics_of_epochs(pipeline: Pipeline, loop: LoaderLoop) -> Iterator[Event]:
    """``data.mean()`` in a loop over epochs that leaves ``data`` alone."""
    for call, site in pipeline.calls_in(loop.frame):
        if not set(site.loops) & set(loop.outer) or not isinstance(call.func, ast.Attribute):
            continue
        name = pipeline.names.qualified(call.func, loop.frame)
        summed = call.args[0] if name.startswith(("numpy.", "torch.")) and call.args else call.func.value
        if call.func.attr not in _STATISTICS or not isinstance(summed, ast.Name):
            continue
        value, where = pipeline.names.origin(summed, loop.frame)
        loaded = isinstance(value, ast.Call) and pipeline.names.qualified(value.func, where) in _LOADED
        if loaded and not _is_stored(summed.id, loop):
            yield pipeline.event("statistics-repeated/epoch", call, call=text_of(call, 40))


def _is_stored(name: str, loop: LoaderLoop) -> bool:
    """Whether the loops over epochs bind a name anew, or write into what it stands for."""
    for node in (node for around in loop.outer for node in walked(around)):
        if isinstance(node, (ast.Name, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            root = node.value if isinstance(node, ast.Subscript) else node
            if isinstance(root, ast.Name) and root.id == name:
                return True
    return False


def _reopened(pipeline: Pipeline, call: ast.Call, code: ItemCode) -> Iterator[Event]:
    name = called(code.names, call, code.frame)
    if name not in _READERS or _is_kept(call, code) or not _is_the_same_each_time(call, code):
        return
    if any(isinstance(node, ast.Attribute) for argument in call.args for node in walked(argument)):
        yield pipeline.event("file-reopened", call, call=text_of(call, 40))


def _is_kept(call: ast.Call, code: ItemCode) -> bool:
    """Whether the result goes into an attribute: opened when first needed."""
    for node in walked(code.function):
        if isinstance(node, ast.Assign) and any(part is call for part in walked(node.value)):
            return any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
    return False


def _is_the_same_each_time(call: ast.Call, code: ItemCode) -> bool:
    """Whether a call depends on settled attributes and on names from outside the method alone."""
    arguments = (*call.args, *(keyword.value for keyword in call.keywords))
    for node in (below for argument in arguments for below in walked(argument)):
        if isinstance(node, ast.Call) and called(code.names, node, code.frame).startswith(
            ("random", "numpy.random")
        ):
            return False
        if isinstance(node, ast.Call) and _calls_self(node):
            return False
        if isinstance(node, ast.Name) and not is_self(node):
            found = code.frame.lookup(node.id)
            if found is not None and found[1] is code.frame:
                return False
        if isinstance(node, ast.Attribute) and is_self(node.value) and not _is_settled(node.attr, code):
            return False
    return True


def _calls_self(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and is_self(call.func.value)


def _constants(pipeline: Pipeline, code: ItemCode) -> Iterator[Event]:
    """Transforms and windows that are built for each item from the same arguments."""
    todo: list[ast.AST] = list(code.function.body)
    while todo:
        node = todo.pop(0)
        if isinstance(node, ast.Call):
            name = called(code.names, node, code.frame)
            built = name.startswith(_BUILDERS) and name.rpartition(".")[2][:1].isupper()
            if (
                (built or name in _WINDOWS)
                and not _is_kept(node, code)
                and _is_the_same_each_time(node, code)
            ):
                yield pipeline.event("built-for-each-item", node, call=text_of(node.func, 40))
                continue  # what a Compose holds is part of it
        todo.extend(children(node))


def _fixed_transform(pipeline: Pipeline, call: ast.Call, code: ItemCode) -> Iterator[Event]:
    """A transform with nothing random in it, of an item that is held in memory."""
    if called(code.names, call, code.frame) not in _FIXED or not call.args:
        return
    attribute = _held_item(call.args[0], code)
    rest = ast.Call(call.func, call.args[1:], call.keywords)
    if attribute and _is_the_same_each_time(rest, code) and _is_loaded(attribute, code):
        yield pipeline.event("fixed-transform", call, call=text_of(call.func, 40), attribute=attribute)


def _held_item(expression: ast.expr, code: ItemCode) -> str:
    """The attribute that ``self.name[index]`` takes an item of, through names and conversions."""
    parameters = [parameter.arg for parameter in code.function.args.args]
    for _ in range(10):
        expression, _ = code.names.origin(expression, code.frame)
        if isinstance(expression, ast.Subscript):
            held, index = expression.value, expression.slice
            if (
                isinstance(held, ast.Attribute)
                and is_self(held.value)
                and getattr(index, "id", "") in parameters[1:]
            ):
                return held.attr
            expression = held
        elif isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute):
            name = called(code.names, expression, code.frame)
            if name and not (name == "torch.from_numpy" and expression.args):
                return ""
            expression = expression.args[0] if name else expression.func.value
        else:
            return ""
    return ""


def _is_loaded(attribute: str, code: ItemCode) -> bool:
    cls = code.frame.cls
    places = code.names.attributes(cls).get(attribute, []) if cls is not None else []
    if len(places) != 1 or not isinstance(places[0][1], ast.Call):
        return False
    function, value = places[0]
    frame = code.names.survey.frames.get(function)
    mapped = (
        any(keyword.arg == "mmap_mode" for keyword in value.keywords) if isinstance(value, ast.Call) else True
    )
    return (
        frame is not None
        and isinstance(value, ast.Call)
        and called(code.names, value, frame) in _LOADED
        and not mapped
    )
