"""What the names in a file mean, imports inside functions included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tsguard.analysis.python.keeping import Kept
from tsguard.project.modules import Module
from tsguard.project.project import Definition, External, Meaning, Missing
from tsguard.source.statements import statements

if TYPE_CHECKING:
    from tsguard.analysis.python import Program

_SCRIPT_MODULE = "torch.jit.ScriptModule"
_IMPORTS: Kept[Module, dict[str, Meaning]] = Kept()


class ApiNames:
    """The names of one file."""

    def __init__(self, program: Program, module: Module) -> None:
        self.program = program
        self.module = module
        # Every class of a file asks the files of its bases, mostly the same again and again.
        known = _IMPORTS.of(program)
        if module not in known:
            known[module] = dict(self._imported_in_functions())
        self._imports = known[module]

    def meaning(self, expression: ast.expr) -> Meaning | None:
        """What a name or a dotted name leads to; None for any other expression."""
        project = self.program.project
        if isinstance(expression, ast.Name):
            found = project.meaning(self.module, expression.id)
            return found if found is not None else self._imports.get(expression.id)
        if not isinstance(expression, ast.Attribute):
            return None
        owner = self.meaning(expression.value)
        if isinstance(owner, Module):
            return project.meaning(owner, expression.attr)
        if isinstance(owner, (External, Missing)):
            return type(owner)(f"{owner.name}.{expression.attr}")
        return None

    def dotted(self, expression: ast.expr) -> str:
        """The qualified name of something in a described package, as the tables have it; "" for the rest."""
        meaning = self.meaning(expression)
        return self.program.tables.canonical(meaning.name) if isinstance(meaning, External) else ""

    def class_of(self, expression: ast.expr) -> Definition | None:
        """The class of the project that a name leads to."""
        meaning = self.meaning(expression)
        return meaning if isinstance(meaning, Definition) and isinstance(meaning.node, ast.ClassDef) else None

    def ancestry(self, node: ast.ClassDef) -> set[str]:
        """The described classes that a class derives from; "" stands for a base that is not known."""
        found: set[str] = set()
        for base in node.bases:
            cls = self.class_of(base)
            if cls is not None and cls.node is not node and isinstance(cls.node, ast.ClassDef):
                found |= ApiNames(self.program, cls.module).ancestry(cls.node)
            else:
                found.add(self.dotted(base))
        return found

    def is_script_module(self, node: ast.ClassDef) -> bool | None:
        """Whether a class derives from ScriptModule; None where a base is not known."""
        ancestry = self.ancestry(node)
        return True if _SCRIPT_MODULE in ancestry else None if "" in ancestry else False

    def _imported_in_functions(self) -> Iterator[tuple[str, Meaning]]:
        project, module = self.program.project, self.module
        for node in statements(module.file.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    wanted = alias.name if alias.asname else alias.name.partition(".")[0]
                    yield alias.asname or wanted, project.imported(module, wanted)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    meaning = (
                        None
                        if alias.name == "*"
                        else project.member(module, module.absolute(node), alias.name)
                    )
                    if meaning is not None:
                        yield alias.asname or alias.name, meaning
