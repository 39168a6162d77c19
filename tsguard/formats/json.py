"""The report as JSON, in the shape of ``report.schema.json``."""

from __future__ import annotations

import json

from tsguard.formats import View
from tsguard.report import Report


def render(report: Report, view: View) -> str:
    """The whole report."""
    return json.dumps(report.to_json(), indent=1) + "\n"
