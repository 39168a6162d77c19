"""Write the JSON Schema of the report, from the classes that the report is made of.

    python tools/report_schema.py

A test holds the shipped ``tsguard/formats/report.schema.json`` against this.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import types
import typing
from pathlib import Path
from typing import Any

from tsguard.report import SCHEMA_VERSION, Cause, Report

TARGET = Path(__file__).parent.parent / "tsguard" / "formats" / "report.schema.json"
PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
# Where the JSON form of a field differs from the class: its name, its shape.
RENAMED = {"passes": "pass"}
COUNTS = {"type": "object", "additionalProperties": {"type": "integer"}}
WRITTEN_OTHERWISE = {
    "environment": {"type": "object", "additionalProperties": {"type": "string"}},
    "files": None,  # counted in the summary
    "fixed": None,
    "known": None,
}
SUMMARY = {
    "type": "object",
    "description": "Counts by severity, by verdict, and of what is fixed or can be.",
    "properties": {
        **{
            name: {"type": "integer"}
            for name in ("files", "targets", "error", "warning", "info", "unknown", "fixed")
        },
        **dict.fromkeys(("script", "trace", "mode", "export", "fixable"), COUNTS),
    },
}
SUMMARY["required"] = list(SUMMARY["properties"])


def schema() -> dict[str, Any]:
    """The schema of a report of this version."""
    definitions: dict[str, Any] = {}
    report = _object(Report, definitions)
    causes = {"type": "array", "items": _value(Cause, definitions)}
    report["properties"] |= {
        "schema_version": {"const": SCHEMA_VERSION},
        "summary": SUMMARY,
        "causes": causes,
    }
    report["required"] += ["schema_version", "summary", "causes"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:tsguard:report:{SCHEMA_VERSION}",
        "title": "tsguard report",
        **report,
        "$defs": dict(sorted(definitions.items())),
    }


def _object(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    properties = {}
    for field in dataclasses.fields(kind):
        written = WRITTEN_OTHERWISE.get(field.name, {}) if kind is Report else {}
        if written is not None:
            properties[RENAMED.get(field.name, field.name)] = written or _value(
                hints[field.name], definitions
            )
    described = {"description": inspect.cleandoc(kind.__doc__)} if _documented(kind) else {}
    return {"type": "object", **described, "properties": properties, "required": list(properties)}


def _documented(kind: type) -> bool:
    return bool(kind.__doc__) and not kind.__doc__.startswith(f"{kind.__name__}(")


def _value(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if dataclasses.is_dataclass(kind):
        if kind.__name__ not in definitions:
            definitions[kind.__name__] = {}  # stands for it while its own fields are read
            definitions[kind.__name__] = _object(kind, definitions)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if kind in PLAIN:
        return {"type": PLAIN[kind]}
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"type": "array", "items": _value(arguments[0], definitions)}
    if origin in (types.UnionType, typing.Union):
        return {"anyOf": [_value(argument, definitions) for argument in arguments]}
    raise TypeError(f"no schema for {kind}")


if __name__ == "__main__":
    TARGET.write_text(json.dumps(schema(), indent=1) + "\n", encoding="utf-8")
