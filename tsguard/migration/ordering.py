"""The order in which to go: what others are made of first, of those what most are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence


def leaves_first(parts: Mapping[str, Sequence[str]]) -> list[str]:
    """The keys, each after its parts; of those whose parts are done, what most others need comes first.

    Where classes name each other in a circle, the one with the fewest parts left begins.
    """
    users = Counter(part for of_one in parts.values() for part in dict.fromkeys(of_one))
    left = {name: set(of_one) & parts.keys() - {name} for name, of_one in parts.items()}
    position = {name: index for index, name in enumerate(parts)}
    ordered: list[str] = []
    while left:
        ready = [name for name, missing in left.items() if not missing]
        fewest = min(len(missing) for missing in left.values())
        ready = ready or [next(name for name, missing in left.items() if len(missing) == fewest)]
        ready.sort(key=lambda name: (-users[name], position[name]))
        ordered += ready
        for name in ready:
            del left[name]
        for missing in left.values():
            missing.difference_update(ready)
    return ordered
