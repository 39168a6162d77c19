"""Files as people write them who use a package: each makes a drawn module by its public name, and calls it.

    python benchmarks/user_files.py drawn.jsonl -o FOLDER
    python benchmarks/label.py FOLDER/drawn.jsonl -o FOLDER/labelled.jsonl --question script
    python benchmarks/score.py FOLDER/labelled.jsonl --question script [--without-packages]

``drawn.jsonl`` is of draw.py.  Written are a file for each of its modules that a package offers, and the
lines of the new targets, for label.py and score.py.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import importlib
import json
import sys
from pathlib import Path
from typing import Any

HEAD = "import math\nfrom typing import Dict, List, Tuple\n\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
NET = """

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = {made}

    def forward(self, {parameters}):
        return self.part({arguments})
"""
TENSOR = "torch.Tensor"
GIVEN = frozenset({"math", "torch", "F", "nn", *dir(builtins)})


def public_place(module: str, name: str) -> str:
    """The outermost package that offers a name of a module."""
    wanted = getattr(importlib.import_module(module), name)
    parts = module.split(".")
    for count in range(1, len(parts)):
        outer = ".".join(parts[:count])
        if getattr(importlib.import_module(outer), name, None) is wanted:
            return outer
    return module


def written(line: dict[str, Any]) -> str:
    """The text of a user's file that makes the drawn module.

    Raises:
        AttributeError, ImportError: no module offers a name that its construction reads.
        ValueError: the module is not of a package.
    """
    module = line["module"]
    if "." not in module:
        raise ValueError(module)
    tree = ast.parse(line["constructor"])
    names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - GIVEN)
    imports = "".join(f"from {public_place(module, name)} import {name}\n" for name in names)
    parameters, arguments = [], []
    for index, text in enumerate(line["inputs"]):
        call = ast.parse(f"f({text})", mode="eval").body
        assert isinstance(call, ast.Call)
        keyword = call.keywords[0].arg if call.keywords else None
        name = keyword or f"x{index}"
        kind = annotation(call.keywords[0].value if call.keywords else call.args[0])
        parameters.append(f"{name}: {kind}" if kind else name)
        arguments.append(f"{name}={name}" if keyword else name)
    body = NET.format(
        made=line["constructor"], parameters=", ".join(parameters), arguments=", ".join(arguments)
    )
    return HEAD + imports + body


def annotation(value: ast.expr) -> str:
    """What a user would write beside a parameter that gets this: nothing beside tensors, and what has no name."""
    kind = _kind(value)
    return "" if kind == TENSOR else kind


def _kind(value: ast.expr) -> str:
    match value:
        case ast.Constant(value=bool() | int() | float() | str() as given):
            return type(given).__name__
        case ast.List(elts=[first, *_]):
            return _of("List", _kind(first))
        case ast.Tuple(elts=[_, *_] as elements):
            return _of("Tuple", *map(_kind, elements))
        case ast.Dict(keys=[ast.expr() as key, *_], values=[item, *_]):
            return _of("Dict", _kind(key), _kind(item))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"))):
            return TENSOR
        case _:
            return ""


def _of(container: str, *items: str) -> str:
    return f"{container}[{', '.join(items)}]" if all(items) else ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("drawn", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    folder = str(options.output.resolve())
    count = 0
    with open(options.output / "drawn.jsonl", "w") as output:
        for line in map(json.loads, options.drawn.read_text().splitlines()):
            if "target" not in line:
                continue
            sys.path[:0] = [path for path in (line["root"],) if path not in sys.path]
            try:
                text = written(line)
            except Exception as error:  # a package that cannot be imported
                print(f"{line['target']}: {type(error).__name__}: {error}", file=sys.stderr)
                continue
            count += 1
            name = f"uses_{line['class'].rpartition('.')[2].lower()}_{count}"
            (options.output / f"{name}.py").write_text(text)
            new = {"folder": folder, "root": folder, "search_paths": [], "module": name, "file": f"{name}.py"}
            new |= {"class": "Net", "target": f"{name}.py:Net", "constructor": "Net()"}
            print(json.dumps({**line, **new}), file=output)
    print(f"{count} files")


if __name__ == "__main__":
    main()
