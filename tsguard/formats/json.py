"""The report as JSON, in the shape of ``report.schema.json``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tsguard.formats import View
from tsguard.report import Report


def render(report: Report, view: View) -> str:
    """The whole report."""
    fields = (f"\n {json.dumps(name)}: {_indented(value)}" for name, value in report.to_json_fields())
    return f"{{{','.join(fields)}\n}}\n"


def _indented(value: Any) -> str:
    """A field as ``json.dumps`` writes it; the items of a list are made and written one by one."""
    if not isinstance(value, Iterator):
        return json.dumps(value, indent=1).replace("\n", "\n ")
    items = ",".join("\n  " + json.dumps(item, indent=1).replace("\n", "\n  ") for item in value)
    return f"[{items}\n ]" if items else "[]"
