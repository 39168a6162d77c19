"""What every stage passes on: findings, verdicts, attempts, and the report that holds them.

The JSON form of these classes is a contract (``schema_version`` 1): fields may be
added, never renamed or removed.  Lines and columns are 1-based, columns count Unicode
code points, end positions are exclusive, paths are relative to the working folder.
"""

from tsguard.report.attempts import (
    Attempt,
    AttemptError,
    AttemptStatus,
    Breakdown,
    Conclusion,
    Parity,
    Speedup,
    Submodule,
    Variant,
)
from tsguard.report.findings import (
    APPLICABILITIES,
    SEVERITIES,
    Applicability,
    Edit,
    Family,
    Finding,
    Fix,
    Severity,
    is_fixable,
)
from tsguard.report.judgements import (
    Cause,
    Layer,
    ModeJudgement,
    ModeVerdict,
    ReleaseVerdicts,
    ScriptJudgement,
    ScriptVerdict,
    TraceJudgement,
    TraceVerdict,
    Unknown,
)
from tsguard.report.loaders import BatchCost, LoaderReport, LoaderSettings, Throughput
from tsguard.report.whole import (
    SCHEMA_VERSION,
    BaselineEntry,
    BaselineUse,
    Error,
    Packages,
    Purpose,
    Report,
    TargetReport,
)

__all__ = [
    "APPLICABILITIES",
    "SCHEMA_VERSION",
    "SEVERITIES",
    "Applicability",
    "Attempt",
    "AttemptError",
    "AttemptStatus",
    "BaselineEntry",
    "BaselineUse",
    "BatchCost",
    "Breakdown",
    "Cause",
    "Conclusion",
    "Edit",
    "Error",
    "Family",
    "Finding",
    "Fix",
    "Layer",
    "LoaderReport",
    "LoaderSettings",
    "ModeJudgement",
    "ModeVerdict",
    "Packages",
    "Parity",
    "Purpose",
    "ReleaseVerdicts",
    "Report",
    "ScriptJudgement",
    "ScriptVerdict",
    "Severity",
    "Speedup",
    "Submodule",
    "TargetReport",
    "Throughput",
    "TraceJudgement",
    "TraceVerdict",
    "Unknown",
    "Variant",
    "is_fixable",
]
