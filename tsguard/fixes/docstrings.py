"""The types of parameters that docstrings tell, in the styles of Google, NumPy and Sphinx, as TorchScript calls them."""

from __future__ import annotations

import ast
import re

from tsguard.fixes.places import Function

# What people write for a type, in lower case.
_NAMES = {
    "int": "int",
    "integer": "int",
    "float": "float",
    "bool": "bool",
    "boolean": "bool",
    "str": "str",
    "string": "str",
    "tensor": "Tensor",
    "torch.tensor": "Tensor",
    "floattensor": "Tensor",
    "longtensor": "Tensor",
    "torch.floattensor": "Tensor",
    "torch.longtensor": "Tensor",
}
_PLURALS = {"tensors": "tensor", "ints": "int", "integers": "int", "floats": "float", "strings": "str"}
_ASIDE = re.compile(r",?\s*(\*?optional\*?|default\b.*|defaults\b.*|of shape.*|shape.*)$", re.IGNORECASE)
_MARKUP = re.compile(r":\w+:|[`~]")
_CONTAINER = re.compile(r"(list|sequence|tuple|dict)\s*(?:\[(.*)\]|of\s+(.+)|\((.*)\))", re.IGNORECASE)


def documented_type(function: Function, owner: ast.ClassDef | None, parameter: str) -> str | None:
    """The type that the docstring of a function, or of the class that it is ``forward`` of, tells of a parameter."""
    nodes: list[Function | ast.ClassDef] = [function]
    if owner is not None and function.name == "forward":
        nodes.append(owner)
    for node in nodes:
        text = ast.get_docstring(node)
        written = _written(text, parameter) if text else None
        if written is not None:
            return _as_torch(written)
    return None


def _written(text: str, parameter: str) -> str | None:
    """What stands for the type of a parameter in a docstring."""
    name = re.escape(parameter)
    forms = (
        rf"^\s*:type\s+{name}\s*:\s*(?P<type>.+)$",
        rf"^\s*:param\s+(?P<type>[^:]+?)\s+{name}\s*:",
        rf"^\s*[*`]*{name}[*`]*\s*\((?P<type>(?:[^()]|\([^()]*\))+)\)\s*(?::|--|-)",
        rf"^\s*{name}\s*:\s*(?P<type>.+)\n\s+\S",
    )
    for form in forms:
        found = re.search(form, text, re.MULTILINE)
        if found is not None:
            return found["type"]
    return None


def _as_torch(written: str) -> str | None:
    """A type as people write it, as torch prints it; None where it says none."""
    text = _MARKUP.sub("", written).strip().rstrip(".")
    while (shorter := _ASIDE.sub("", text).strip()) != text:
        text = shorter
    none = re.fullmatch(r"(.+?)\s*(?:\||or)\s*none", text, re.IGNORECASE)
    if none is not None:
        inner = _as_torch(none[1])
        return f"Optional[{inner}]" if inner is not None else None
    optional = re.fullmatch(r"optional\[(.+)\]", text, re.IGNORECASE)
    if optional is not None:
        inner = _as_torch(optional[1])
        return f"Optional[{inner}]" if inner is not None else None
    plain = _NAMES.get(text.lower())
    return plain if plain is not None else _container(text)


def _container(text: str) -> str | None:
    found = _CONTAINER.fullmatch(text)
    if found is None:
        return None
    kind, inner = found[1].lower(), found[2] or found[3] or found[4]
    parts = [_as_torch(_PLURALS.get(p.strip().lower(), p.strip())) for p in _split(inner)]
    if not parts or None in parts:
        return None
    told = ", ".join(p for p in parts if p is not None)
    if kind == "tuple":
        # "tuple of ints" says nothing of how many.
        return f"Tuple[{told}]" if found[3] is None else None
    if kind == "dict":
        return f"Dict[{told}]" if len(parts) == 2 else None
    return f"List[{told}]" if len(parts) == 1 else None


def _split(text: str) -> list[str]:
    """The parts between the commas that stand in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]
