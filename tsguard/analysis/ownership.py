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
    if module.root is not own.root and module.root != own.root:
        return False
    return not own.is_installed or module.name.partition(".")[0] == own.name.partition(".")[0]
