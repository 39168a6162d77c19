"""Which rules a run reports: ``select``, ``extend-select`` and ``ignore``, the narrowest selector first."""

from __future__ import annotations

from tsguard import rules
from tsguard.report.likely import nearest
from tsguard.report.records import dataclass

# What `select` leaves on: a file that was not judged must not pass for a clean one.
_ALWAYS = frozenset({"TSG001", "TSG002", "TSG004", "TSG005"})


class UnknownSelector(LookupError):
    """A selector fits no rule; the message names the nearest."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The choices made in one place; a later layer overrules an earlier one.

    Each selector is one that ``rules.covers`` knows.  ``select`` is None where the place does not say.
    """

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def decide(self, code: str, before: bool) -> bool:
        """Whether a code is on after this layer, given whether it was before."""
        state = before if self.select is None else code in _ALWAYS
        chosen = _longest(code, (*(self.select or ()), *self.extend_select))
        refused = _longest(code, self.ignore)
        return state if chosen == refused == -1 else chosen > refused


@dataclass(frozen=True, slots=True)
class Selection:
    """The configuration's choices, then the command line's."""

    layers: tuple[Layer, ...] = ()

    def selects(self, code: str) -> bool:
        """Whether findings of this code are reported."""
        state = True
        for layer in self.layers:
            state = layer.decide(code, state)
        return state

    def then(self, layer: Layer) -> Selection:
        """This selection, overruled by another layer."""
        return Selection((*self.layers, layer))


def _longest(code: str, selectors: tuple[str, ...]) -> int:
    return max((len(s) for s in selectors if rules.covers(s, code)), default=-1)


def selector(text: str) -> str:
    """The selector that a text stands for: a code, its beginning, a rule's name, a family's, or ALL.

    Raises:
        UnknownSelector: it fits no rule.
    """
    written = text.strip().upper()
    if written in ("ALL", "TSG"):
        return ""
    for family, name in rules.FAMILIES.items():
        if written == name.upper():
            return family
    if written.startswith("TSG") and any(rules.covers(written, code) for code in rules.pages()):
        return written
    try:
        return rules.rule(text.strip()).code
    except rules.UnknownRule:
        raise UnknownSelector(f"no rule has the code or name {text!r}{nearest_rule(text)}") from None


def nearest_rule(text: str) -> str:
    """``; did you mean 'TSG101'?`` where a code or name is near, else nothing."""
    if text[-1:].isdigit():
        # Of another family, a code is not near, however alike the digits.
        wanted = text.upper()
        known = [code for code in rules.pages() if wanted.startswith(code[:4])]
    else:
        wanted = text.lower()
        known = [page.stem.partition("-")[2] for page in rules.pages().values()]
    near = nearest(wanted, known, alike=0.6)
    return f"; did you mean {near[0]!r}?" if near else "; `tsguard rules` lists them"
