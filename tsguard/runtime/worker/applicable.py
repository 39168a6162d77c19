"""What an attempt needs that need not be there."""

from __future__ import annotations

import shutil


class NotApplicable(Exception):
    """The backend does not exist for this target, mode, torch or machine; the text says why."""


def need_compiler() -> None:
    """Be sure that there is the C++ compiler that torch calls.

    Raises:
        NotApplicable: there is none.
    """
    from torch._inductor import config

    wanted = [name for name in config.cpp.cxx if name]
    if not any(map(shutil.which, wanted)):
        raise NotApplicable(f"there is no C++ compiler here: torch looks for {' and '.join(wanted)}")
