"""Python state that a forward changes: attributes, lists and globals.

The next call of eager sees them, a trace does not.  A change matters when something
reads it: before it is made (a cache, a counter that is used and then counted up), or
after, where the new value rests on the old one.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tsguard.analysis import values as py
from tsguard.analysis.python import library
from tsguard.analysis.trace import holdings
from tsguard.analysis.trace.filled import Cell, Filled
from tsguard.analysis.trace.guards import branches_among, compares, is_within, only_guards, runs_always
from tsguard.analysis.trace.histories import History, show, take_back
from tsguard.analysis.trace.self_assignments import is_in_place, is_only_moved, is_written_into, only_updates
from tsguard.analysis.trace.taken_keys import rests_on
from tsguard.analysis.trace.values import Traced
from tsguard.analysis.trace.walker import Walker
from tsguard.language.rule_names import RuleName

if TYPE_CHECKING:
    from tsguard.analysis.events import Event
    from tsguard.analysis.values import Scope

# How what layers of torch compute with is called, wherever it is kept.
_OF_LAYERS = ("weight", "bias", "in_proj", "running")


def _nothing() -> defaultdict[Cell, History]:
    return defaultdict(History)


@dataclass(slots=True)
class State:
    """The objects that were there before the forward, by identity, and what happens to them.

    ``guards`` are the branches that ask only whether to set attributes, with what they ask, ``asking`` all that ask
    for state, ``settings_up`` what is said of a cell that is set behind such a guard if that is more than one;
    ``held`` keeps alive what the forward replaces: no other may get its identity.
    ``empty`` are the cells that hold an empty container before it.
    ``registered`` are the parameters of the modules that the root reaches through children, and those modules.
    ``filled`` tells what this call has put into dicts,
    ``settings`` what branches ask for that no code in sight changes.  ``used`` are the tensors made before the
    forward that an operation has taken, which are constants of the graph from there on, ``set_up`` those that the
    first call puts where there was none.  ``cells`` tells where a parameter or buffer that was read is held,
    ``originals`` are those that no change came before, ``before`` tells what attributes held that are assigned,
    ``aliases`` are the statements that only name its data (``d = self.weight.data``).  ``layers`` are the
    statements that have called a layer of torch, by identity, ``tables`` what is told of tables that this call
    makes once something reads them.
    """

    owned: dict[int, py.ObjectValue] = field(default_factory=dict)
    registered: set[int] = field(default_factory=set)
    containers: dict[int, Cell] = field(default_factory=dict)
    empty: set[Cell] = field(default_factory=set)
    shared: dict[int, str] = field(default_factory=dict)
    guards: dict[int, set[Cell]] = field(default_factory=dict)
    asking: set[int] = field(default_factory=set)
    histories: defaultdict[Cell, History] = field(default_factory=_nothing)
    held: list[py.Value] = field(default_factory=list)
    filled: Filled = field(default_factory=Filled)
    settings: set[Cell] = field(default_factory=set)
    used: set[int] = field(default_factory=set)
    set_up: dict[int, Cell] = field(default_factory=dict)
    cells: dict[py.TensorValue, Cell] = field(default_factory=dict)
    originals: set[int] = field(default_factory=set)
    before: dict[Cell, py.Value | None] = field(default_factory=dict)
    aliases: set[int] = field(default_factory=set)
    layers: dict[int, set[int]] = field(default_factory=dict)
    tables: dict[Cell, Event] = field(default_factory=dict)
    settings_up: dict[Cell, Event] = field(default_factory=dict)

    def own(self, root: py.Value) -> None:
        """Take note of a module, its submodules and the containers that they hold."""
        if isinstance(root, py.ModuleValue):
            for _, module in library.descendants(root):
                self.registered.update((id(module), *map(id, module.parameters.values())))
        for owner in holdings.reachable(root):
            self.owned[id(owner)] = owner
            for name, value in owner.attributes.items():
                if isinstance(value, (py.ListValue, py.DictValue, py.SetValue)):
                    self.containers[id(value)] = (id(owner), name)
                    if holdings.is_empty(value):
                        self.empty.add((id(owner), name))
                    self.held.append(value)

    def read(self, walker: Walker, owner: py.ObjectValue, name: str, value: py.Value | None) -> None:
        """An attribute is read; ``value`` is None where it is not there, as ``hasattr`` may find."""
        if id(owner) not in self.owned:
            return
        if name == "__dict__" and isinstance(value, py.DictValue):
            self.containers[id(value)] = (id(owner), name)
            self.held.append(value)
        elif not holdings.may_be_state(owner, name, value):
            return
        if isinstance(walker.statement, ast.If) and holdings.is_setting(walker.frames, owner, name):
            self.settings.add((id(owner), name))
        else:
            self._read(walker, (id(owner), name))

    def read_class(self, walker: Walker, owner: py.ClassValue, name: str, value: py.Value | None) -> None:
        """An attribute of a class is read, which all its instances share."""
        if name in owner.members or value is None:
            self._read(walker, (id(owner), name))

    def _read(self, walker: Walker, cell: Cell) -> None:
        if cell in self.tables and not isinstance(walker.statement, ast.If):
            walker.add(self.tables.pop(cell))
        history = self.histories[cell]
        if is_within(walker.enclosing, history.renewed) or self._takes_what_was_filled(walker, cell):
            return
        if isinstance(walker.statement, ast.If):
            self.asking.add(id(walker.statement))
        elif not self._asking(walker):
            history.used = True
        if only_guards(walker.statement, walker.frames):
            history.guards = True
            self.guards.setdefault(id(walker.statement), set()).add(cell)
            return
        reader = id(walker.statement)
        history.readers.add(reader)
        if history.changed is not None and reader != history.changer:
            show(walker, history, history.changed)

    def hold(self, owner: py.Value, name: str, tensor: py.TensorValue) -> None:
        """A parameter or buffer is read, as this tensor."""
        cell = (id(owner), name)
        self.cells[tensor] = cell
        history = self.histories.get(cell)
        if history is None or not (history.changed or history.shown):
            self.originals.add(id(tensor))

    def called(self, walker: Walker, layer: py.ModuleValue) -> None:
        """A layer of torch is called, which reads all that it holds."""
        if id(layer) not in self.owned:
            return
        parts = {id(part) for _, part in library.descendants(layer)}
        for part in parts:
            self.layers.setdefault(part, set()).add(id(walker.statement))
        for cell, history in list(self.histories.items()):
            if cell[0] in parts and self._is_of_layer(cell) and history.changed is not None:
                self._read(walker, cell)

    def _is_of_layer(self, cell: Cell) -> bool:
        """Whether an attribute is what a layer of torch computes with: a tensor, or what its constructor was given."""
        owner = self.owned.get(cell[0])
        is_given = isinstance(owner, py.ModuleValue) and cell[1] in owner.arguments
        return is_given or cell[1].startswith(_OF_LAYERS)

    def fill(self, walker: Walker, container: py.Value, key: py.Value) -> None:
        """Something is put into a dict."""
        cell = self.containers.get(id(container))
        if cell is None or not isinstance(key, py.Const):
            return
        if not rests_on(walker.statement, cell[1]) or self._takes_what_was_filled(walker, cell):
            readers = self.filled.put(cell, key.value, branches_among(walker.enclosing))
            self.histories[cell].readers |= readers - {id(walker.statement)}

    def _takes_what_was_filled(self, walker: Walker, cell: Cell) -> bool:
        """Whether a statement takes of a dict only what this call has put there on every way to it, maybe nothing."""
        if walker.statement is None or cell not in self.containers.values():
            return False
        held = self.owned[cell[0]].attributes.get(cell[1]) if cell[0] in self.owned else None
        return self.filled.covers(cell, held, walker.statement, branches_among(walker.enclosing))

    def write(self, walker: Walker, owner: py.Value, name: str, value: py.Value) -> None:
        """An attribute is assigned."""
        if isinstance(owner, py.ClassValue):
            self._change(walker, (id(owner), name), f"{owner.name}.{name}")
            return
        if id(owner) not in self.owned or not isinstance(owner, py.ObjectValue):
            return
        if self._puts_back(walker, owner, name, value):
            return
        if is_only_moved(walker.statement) or holdings.is_held(owner, name, value):
            return
        if holdings.is_registered(owner, name):
            if not is_in_place(walker.statement):
                # One that is None is no buffer to torch, which an exported program would write into.
                is_absent = isinstance(owner, py.ModuleValue) and owner.buffers.get(name) == py.Const(None)
                rule: RuleName = "state-in-forward" if is_absent else "state-in-forward/buffer"
                self._change(walker, (id(owner), name), f"self.{name}", rule)
            return
        cell = (id(owner), name)
        if isinstance(value, py.Const) and owner.attributes.get(name) == value:
            history = self.histories[cell]
            history.renewed = () if history.is_untouched else history.renewed
            return
        if holdings.is_empty(value) and self._restores(walker, cell):
            return
        if self._is_set_up(walker, cell, value):
            self._set_up(walker, cell, value)
        elif not self._is_table(walker, cell, value):
            self._change(walker, cell, f"self.{name}", is_constant=isinstance(value, py.Const))

    def _set_up(self, walker: Walker, cell: Cell, value: py.Value) -> None:
        if isinstance(value, py.TensorValue):
            self._note_table(walker, cell)
        event = walker.event("state-in-forward", walker.statement, name=f"self.{cell[1]}")
        if event is not None:
            self.settings_up[cell] = event
        self.set_up[id(value)] = cell
        self.held.append(value)

    def change(self, walker: Walker, tensor: py.TensorValue) -> None:
        """A tensor is changed in place: what the first call has set up is another for the next."""
        if id(tensor) in self.set_up:
            cell = self.set_up[id(tensor)]
            self._change(walker, cell, f"self.{cell[1]}")

    def fill_behind(self, walker: Walker, branches: Iterable[ast.AST | None]) -> None:
        """Data is written into state behind these branches: by one call, where eager finds the guard set up then."""
        for branch in branches:
            for cell in self.guards.get(id(branch), ()):
                history = self.histories[cell]
                history.readers.add(id(branch))
                event = history.changed or self.settings_up.get(cell)
                if event is not None:
                    show(walker, history, event)

    def alias(self, walker: Walker, data: ast.AST | None) -> None:
        """The data of a parameter or buffer is taken."""
        if is_written_into(walker.statement, data):
            self.aliases.add(id(walker.statement))

    def change_data(self, walker: Walker, cell: Cell) -> None:
        """Data of a parameter or buffer is written, which no operation of the trace shows."""
        history = self.histories[cell]
        history.readers -= self.aliases
        self._change(walker, cell, f"self.{cell[1]}", "state-in-forward/data")

    def _is_set_up(self, walker: Walker, cell: Cell, value: py.Value) -> bool:
        """Whether a value that hangs on no input is put where there was none: each call finds the same."""
        guard = next((outer for outer in reversed(walker.enclosing) if id(outer) in self.guards), None)
        is_fixed = isinstance(value, (py.Const, py.TensorValue)) and not isinstance(value, Traced)
        is_read = cell in self.histories and self.histories[cell].readers
        return is_fixed and not is_read and isinstance(guard, ast.If) and not guard.orelse

    def _is_table(self, walker: Walker, cell: Cell, value: py.Value) -> bool:
        """Whether a value is kept that hangs on sizes alone, made where what is kept does not do.

        What is made once, because there was none (``if self.table is None``), is the first call's for all.
        """
        if not holdings.is_of_sizes(value):
            return False
        asking = self._asking(walker)
        is_used = cell not in self.histories or self.histories[cell].used
        if not asking:
            return not is_used
        is_table = any(map(compares, asking))
        if is_table and isinstance(value, py.TensorValue):
            self._note_table(walker, cell)
        return is_table

    def _note_table(self, walker: Walker, cell: Cell) -> None:
        """The first call makes what the second, with which torch checks the trace, finds."""
        event = walker.event("kept-table", walker.statement, name=f"self.{cell[1]}")
        if event is not None:
            self.tables[cell] = event

    def _asking(self, walker: Walker) -> list[ast.If]:
        """The branches around the statement that ask for state."""
        return [outer for outer in walker.enclosing if isinstance(outer, ast.If) and id(outer) in self.asking]

    def holds(self, container: py.Value) -> bool:
        """Whether a list or dict was there before the forward."""
        return id(container) in self.containers or id(container) in self.shared

    def keeps(self, walker: Walker, container: py.Value, value: py.Value) -> bool:
        """Whether a dict keeps for later calls of some sizes what hangs on the values of the inputs of this one."""
        shared = self.shared.get(id(container))
        cell = self.containers.get(id(container)) if shared is None else (id(container), shared)
        if cell is None or not holdings.is_of_values(value):
            return False
        history = self.histories.get(cell, History())
        is_read = history.guards or bool(history.readers - {id(walker.statement)})
        return is_read or bool(branches_among(walker.enclosing))

    def shares(self, container: py.Value) -> bool:
        """Whether a list or dict is one of a file's, which the walks of all targets see."""
        return id(container) in self.shared

    def mutate(
        self, walker: Walker, container: py.Value, value: py.Value | None = None, *, clears: bool = False
    ) -> bool:
        """A list or dict is changed in place, maybe to hold a value; True where the walk must leave it as it is."""
        if id(container) in self.containers:
            cell = self.containers[id(container)]
            if value is not None and (is_only_moved(walker.statement) or self._is_table(walker, cell, value)):
                return False
            if clears and self.histories[cell].readers <= {id(walker.statement)}:
                self.histories[cell].renewed = ()
            elif not (clears and self._restores(walker, cell)):
                if value is None:
                    self.histories[cell].readers |= self.filled.wholes.get(cell, set())
                self._change(walker, cell, f"self.{cell[1]}", is_part=True)
        elif id(container) in self.shared:
            name = self.shared[id(container)]
            self._change(walker, (id(container), name), name)
            return True
        return False

    def _change(
        self,
        walker: Walker,
        cell: Cell,
        shown: str,
        rule: RuleName = "state-in-forward",
        *,
        is_constant: bool = False,
        is_part: bool = False,
    ) -> None:
        # What is set where other state asked for it is not set by every call.
        is_kept = not is_constant and any(id(outer) in self.guards for outer in walker.enclosing)
        history = self.histories[cell]
        if self._is_of_layer(cell):
            history.readers |= self.layers.get(cell[0], set())
        if not is_part:
            history.readers |= self.filled.wholes.get(cell, set())
        is_recorded = rule != "state-in-forward/data"
        # What is put into a list or dict leaves there what else it holds.
        renews = history.is_untouched and is_recorded and not is_part
        if renews and not is_kept:
            history.renewed = ()
        if is_within(walker.enclosing, history.renewed) and is_recorded:
            return
        if renews:
            history.renewed = branches_among(walker.enclosing)
        changer = id(walker.statement)
        if cell in self.settings:
            history.readers.add(0)
        event = walker.event(rule, walker.statement, name=shown)
        if event is None:
            return
        if history.readers - {changer} or (changer in history.readers and not only_updates(walker.statement)):
            show(walker, history, event)
        else:
            history.changed, history.changer = event, changer

    def _restores(self, walker: Walker, cell: Cell) -> bool:
        """Whether a cell that is emptied was empty before the forward, whatever it has held meanwhile."""
        history = self.histories.get(cell)
        if history is None or cell not in self.empty or branches_among(walker.enclosing):
            return False
        take_back(walker, history)
        return True

    def _puts_back(self, walker: Walker, owner: py.ObjectValue, name: str, value: py.Value) -> bool:
        """Whether an attribute is assigned what it held before the forward."""
        cell = (id(owner), name)
        before = self.before.setdefault(cell, owner.attributes.get(name))
        if isinstance(value, py.TensorValue) and id(value) in self.originals:
            before = value if self.cells[value] == cell else None
        is_changed = isinstance(value, (py.ListValue, py.DictValue, py.SetValue))  # in place, it may be
        if value is not before or is_changed or not runs_always(walker.statement, walker.enclosing):
            return False
        history = self.histories.get(cell)
        if history is None:
            return True
        told = [*history.shown, *([history.changed] if history.changed is not None else [])]
        if any(event.rule == "state-in-forward/data" for event in told):
            return False  # it is the same tensor, but not what it held
        take_back(walker, history)
        return True

    def look_up(self, walker: Walker, name: str, value: py.Value, scope: Scope) -> None:
        """A name of a container is read; those that belong to a module are shared by all targets."""
        runner = scope
        while runner.parent is not None:
            if name in runner.names:
                return
            runner = runner.parent
        self.share(walker, name, value)

    def share(self, walker: Walker, name: str, value: py.Value) -> None:
        """A container is met that all calls share."""
        self.shared[id(value)] = name
        self.held.append(value)
        self._read(walker, (id(value), name))
