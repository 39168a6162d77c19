"""Which code is the user's: findings belong where the user can act on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tsguard.project import Target
    from tsguard.project.modules import Module


def is_own(target: Target, module: Module) -> bool:
    """Whether a module belongs to the target's package rather than to a dependency."""
    own = target.module
    if module is own:
        return True
    if module.root is not own.root and module.root != own.root and not _are_nested(own, module):
        return False
    return not own.is_installed or module.name.partition(".")[0] == own.name.partition(".")[0]


def _are_nested(own: Module, module: Module) -> bool:
    """Whether two files of one project are imported from folders of which one holds the other, as without ``__init__.py``."""
    if own.is_installed or module.is_installed:
        return False
    return own.root.is_relative_to(module.root) or module.root.is_relative_to(own.root)
