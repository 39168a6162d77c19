"""What changes from a table of one torch release to the next, as data.

A change says how a value becomes another one:

- a text, or ``{"=": value}``: that value takes its place;
- a list: the items of the new list, a number standing for the old list's item at that index;
- any other dict: the changes of the members of a dict; ``null`` takes a member away.
"""

from __future__ import annotations

from typing import Any


def changed(old: Any, change: Any) -> Any:
    """The value that a change makes of another one, which is left as it is.  Members come sorted."""
    if isinstance(change, list):
        return [old[item] if isinstance(item, int) else item for item in change]
    if not isinstance(change, dict):
        return change
    if "=" in change:
        return change["="]
    new = dict(old)
    for key, each in change.items():
        if each is None:
            del new[key]
        else:
            new[key] = changed(old.get(key), each)
    return dict(sorted(new.items()))


def change(old: Any, new: Any) -> Any:
    """The change that makes one value the other."""
    if isinstance(new, str):
        return new
    if isinstance(old, dict) and isinstance(new, dict) and "=" not in new:
        members: dict[str, Any] = dict.fromkeys(key for key in old if key not in new)
        for key, value in new.items():
            if key not in old or old[key] != value:
                members[key] = change(old.get(key), value)
        return dict(sorted(members.items()))
    if isinstance(old, list) and isinstance(new, list) and all(isinstance(item, (str, list)) for item in new):
        return [old.index(item) if item in old else item for item in new]
    return {"=": new}
