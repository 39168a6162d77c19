"""Dataclasses with their methods written out: ``python -m tools.written_dataclasses FOLDER``.

mypyc compiles the methods that a class has, and those that ``@dataclass`` adds when it runs stay interpreted:
making, comparing and hashing values was a fifth of what a compiled lint took.  This is done to the copy of the
sources that is compiled, never to those that people read.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import libcst as cst
import pathspec

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Numbers and texts are compared by value; of all else, what is identical is equal, as in tuples.
_PLAIN = frozenset({"bool", "float", "int", "str"})
_OF_THE_DECORATOR = frozenset({"eq", "frozen", "slots"})


def compiled_files(root: Path) -> list[Path]:
    """The files below a folder that its ``pyproject.toml`` has mypyc compile."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    hook = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["mypyc"]
    included, excluded = (
        pathspec.PathSpec.from_lines("gitignore", hook[key]) for key in ("include", "exclude")
    )
    names = ((path, path.relative_to(root).as_posix()) for path in sorted((root / "tsguard").rglob("*.py")))
    return [path for path, name in names if included.match_file(name) and not excluded.match_file(name)]


def write_out(root: Path) -> int:
    """Write out the dataclasses of all files that are compiled; how many there are."""
    sources = Sources(root)
    texts = {path: sources.written(path) for path in compiled_files(root)}
    for path, (text, _) in texts.items():
        path.write_text(text, encoding="utf-8")
    return sum(count for _, count in texts.values())


@dataclass(frozen=True)
class Field:
    """A field of a dataclass, in the words of the ``module`` that declares it."""

    name: str
    annotation: str
    module: str
    default: str | None = None
    factory: str | None = None
    is_compared: bool = True


class Sources:
    """The modules below a folder, by their names."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._trees: dict[str, ast.Module | None] = {}

    def written(self, path: Path) -> tuple[str, int]:
        """The text of a file with its dataclasses written out, and how many these are."""
        module = ".".join(path.relative_to(self._root).with_suffix("").parts)
        tree = self._tree(module)
        assert tree is not None
        methods: dict[str, str] = {}
        imports: set[str] = set()
        for cls in filter(is_dataclass, tree.body):
            assert isinstance(cls, ast.ClassDef)
            if not any(isinstance(part, ast.FunctionDef) and part.name == "__init__" for part in cls.body):
                methods[cls.name] = self._methods(module, cls)
                imports.update(self._missing(module, cls))
        text = path.read_text(encoding="utf-8")
        if not methods:
            return text, 0
        return cst.parse_module(text).visit(_Writer(methods, sorted(imports))).code, len(methods)

    def _tree(self, module: str) -> ast.Module | None:
        if module not in self._trees:
            base = self._root.joinpath(*module.split("."))
            paths = (base.with_suffix(".py"), base / "__init__.py")
            path = next((path for path in paths if path.exists()), None)
            self._trees[module] = None if path is None else ast.parse(path.read_text(encoding="utf-8"))
        return self._trees[module]

    def _methods(self, module: str, cls: ast.ClassDef) -> str:
        fields = self._fields(module, cls)
        own = {part.name for part in cls.body if isinstance(part, ast.FunctionDef)}
        options = _options(cls)
        is_compared = options.get("eq", True) and "__eq__" not in own
        is_hashed = is_compared and options.get("frozen", False) and "__hash__" not in own
        kept = [name for base in self._bases(module, cls) for name in _slots(base)]
        lines = [f"def __init__({', '.join(['self', *map(_parameter, fields)])}) -> None:"]
        lines += [f"    self.{field.name} = {_given(field)}" for field in fields]
        lines += [f"    self.{name} = 0" for name in kept]
        lines += ["    self.__post_init__()"] if "__post_init__" in own else []
        lines += [] if len(lines) > 1 else ["    pass"]
        compared = [field for field in fields if field.is_compared]
        if is_compared:
            tests = [f"isinstance(other, {cls.name})", "type(other) is type(self)", *map(_equal, compared)]
            lines += ["def __eq__(self, other: object) -> bool:", f"    return {' and '.join(tests)}"]
        if is_hashed:
            computed = f"hash(({''.join(f'self.{field.name}, ' for field in compared)}))"
            lines += ["def __hash__(self) -> int:"]
            lines += (
                [
                    "    if self._hash == 0:",
                    f"        self._hash = {computed}",
                    "    return self._hash",
                ]
                if "_hash" in kept
                else [f"    return {computed}"]
            )
        return "\n".join(lines)

    def _fields(self, module: str, cls: ast.ClassDef) -> list[Field]:
        """The fields of a dataclass, those of its bases first."""
        found: dict[str, Field] = {}
        for base in cls.bases:
            home = self._class(module, base)
            for field in self._fields(*home) if home is not None and is_dataclass(home[1]) else ():
                found[field.name] = field
        for part in cls.body:
            if isinstance(part, ast.AnnAssign) and not ast.unparse(part.annotation).startswith("ClassVar"):
                field = _field(part, module)
                found[field.name] = field
        return list(found.values())

    def _bases(self, module: str, cls: ast.ClassDef) -> Iterator[ast.ClassDef]:
        for base in cls.bases:
            home = self._class(module, base)
            if home is not None:
                yield home[1]
                yield from self._bases(*home)

    def _class(self, module: str, named: ast.expr) -> tuple[str, ast.ClassDef] | None:
        """The class that an expression of a module names, and the module that defines it."""
        if isinstance(named, ast.Subscript):
            return self._class(module, named.value)
        if isinstance(named, ast.Attribute):
            owner = self._origin(module, ast.unparse(named.value))
            return None if owner is None else self._class(".".join(owner), ast.Name(named.attr))
        assert isinstance(named, ast.Name)
        tree = self._tree(module)
        for node in tree.body if tree is not None else ():
            if isinstance(node, ast.ClassDef) and node.name == named.id:
                return module, node
        origin = self._origin(module, named.id)
        return None if origin is None else self._class(origin[0], ast.Name(origin[1]))

    def _origin(self, module: str, name: str) -> tuple[str, str] | None:
        """The module and the name there of what a module imports under a name."""
        tree = self._tree(module)
        for node in ast.walk(tree) if tree is not None else ():
            for alias in node.names if isinstance(node, ast.ImportFrom) else ():
                if (alias.asname or alias.name) == name:
                    return str(getattr(node, "module", "")), alias.name
        return None

    def _missing(self, module: str, cls: ast.ClassDef) -> Iterator[str]:
        """Imports of what the fields of bases name and this module does not."""
        for field in self._fields(module, cls):
            words = (field.annotation, field.default, field.factory) if field.module != module else ()
            for word in filter(None, words):
                for node in ast.walk(ast.parse(word)):
                    if isinstance(node, ast.Name) and not self._binds(module, node.id):
                        yield from self._import(field.module, node.id)

    def _binds(self, module: str, name: str) -> bool:
        return bool(list(self._import(module, name)))

    def _import(self, module: str, name: str) -> Iterator[str]:
        """The import that gives a name the meaning that it has in a module; none for a builtin."""
        origin = self._origin(module, name)
        tree = self._tree(module)
        assert tree is not None
        if origin is not None:
            yield f"from {origin[0]} import {origin[1]}" + (f" as {name}" if origin[1] != name else "")
        for node in tree.body:
            if isinstance(node, ast.Import) and any(alias.name == name for alias in node.names):
                yield f"import {name}"
            targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
            if getattr(node, "name", None) == name or any(getattr(t, "id", None) == name for t in targets):
                yield f"from {module} import {name}"


def is_dataclass(node: ast.AST) -> bool:
    """Whether a class is defined under ``@dataclass(...)``."""
    return isinstance(node, ast.ClassDef) and any(map(_is_decorator, node.decorator_list))


def _is_decorator(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "dataclass"


def _options(cls: ast.ClassDef) -> dict[str, Any]:
    decorator = next(filter(_is_decorator, cls.decorator_list))
    assert isinstance(decorator, ast.Call)
    return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in decorator.keywords}


def _slots(cls: ast.ClassDef) -> tuple[str, ...]:
    """What a class that is no dataclass keeps with its instances, as their hash."""
    for part in cls.body if not is_dataclass(cls) else ():
        if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == "__slots__":
            slots: tuple[str, ...] = ast.literal_eval(part.value)
            return slots
    return ()


def _field(node: ast.AnnAssign, module: str) -> Field:
    name, annotation = ast.unparse(node.target), ast.unparse(node.annotation)
    if not isinstance(node.value, ast.Call) or ast.unparse(node.value.func) != "field":
        default = None if node.value is None else ast.unparse(node.value)
        return Field(name, annotation, module, default)
    told = {str(keyword.arg): ast.unparse(keyword.value) for keyword in node.value.keywords}
    assert told.keys() <= {"default", "default_factory", "compare", "repr"}, f"{module}: {name}"
    is_compared = told.get("compare") != "False"
    return Field(name, annotation, module, told.get("default"), told.get("default_factory"), is_compared)


def _parameter(field: Field) -> str:
    if field.factory is not None:
        return f"{field.name}: {field.annotation} | None = None"
    default = "" if field.default is None else f" = {field.default}"
    return f"{field.name}: {field.annotation}{default}"


def _given(field: Field) -> str:
    made = f"{field.factory}() if {field.name} is None else {field.name}"
    return field.name if field.factory is None else made


def _equal(field: Field) -> str:
    ours, theirs = f"self.{field.name}", f"other.{field.name}"
    same = f"{ours} == {theirs}"
    return same if field.annotation in _PLAIN else f"({ours} is {theirs} or {same})"


class _Writer(cst.CSTTransformer):
    """Adds methods to classes, by name, and imports behind that of the future."""

    def __init__(self, methods: dict[str, str], imports: list[str]) -> None:
        super().__init__()
        self._methods = methods
        self._imports = imports

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        body = list(updated_node.body)
        last = max(i for i, node in enumerate(body) if _imports_future(node))
        body[last + 1 : last + 1] = [cst.parse_statement(line) for line in self._imports]
        return updated_node.with_changes(body=body)

    def leave_ClassDef(self, original_node: cst.ClassDef, updated_node: cst.ClassDef) -> cst.ClassDef:
        methods = self._methods.get(updated_node.name.value)
        if methods is None or not isinstance(updated_node.body, cst.IndentedBlock):
            return updated_node
        added = cst.parse_module(methods + "\n").body
        block = updated_node.body.with_changes(body=[*updated_node.body.body, *added])
        decorators = [
            decorator.with_changes(decorator=_left_to_do(decorator.decorator))
            for decorator in updated_node.decorators
        ]
        return updated_node.with_changes(body=block, decorators=decorators)


def _imports_future(node: cst.BaseStatement | cst.SimpleStatementLine) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and any(
        isinstance(part, cst.ImportFrom)
        and isinstance(part.module, cst.Name)
        and part.module.value == "__future__"
        for part in node.body
    )


def _left_to_do(decorator: cst.BaseExpression) -> cst.BaseExpression:
    """``dataclass(...)`` that adds neither ``__init__`` nor comparisons, and freezes nothing that the first assigns."""
    if (
        not isinstance(decorator, cst.Call)
        or not isinstance(decorator.func, cst.Name)
        or decorator.func.value != "dataclass"
    ):
        return decorator
    kept = [arg for arg in decorator.args if arg.keyword and arg.keyword.value not in _OF_THE_DECORATOR]
    told = [cst.parse_expression(f"f({name}=False)") for name in ("init", "eq")]
    args = [*kept, *(call.args[0] for call in told if isinstance(call, cst.Call))]
    return decorator.with_changes(args=[arg.with_changes(comma=cst.MaybeSentinel.DEFAULT) for arg in args])


if __name__ == "__main__":
    print(f"{write_out(Path(sys.argv[1]).resolve())} dataclasses written out")
