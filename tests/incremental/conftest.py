"""What tests of judging again need: which targets are really judged."""

from __future__ import annotations

import pytest


@pytest.fixture
def judged(monkeypatch):
    """The names of the targets that are judged, as they are."""
    names: list[str] = []
    import tsguard.inspection.inspecting as inspection

    judge = inspection._judge

    def noted(program, target, job, purpose):
        names.append(target.qualname)
        return judge(program, target, job, purpose)

    monkeypatch.setattr(inspection, "_judge", noted)
    return names
