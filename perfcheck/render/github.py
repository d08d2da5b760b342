"""Reports as GitHub workflow annotations."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..report import Finding, Report
from .clean import clean


def github_lines(reports: Iterable[Report]) -> str:
    """One `::warning` line a finding, the most costly first: GitHub shows only the first few of a step."""
    findings = [finding for report in reports for finding in report.findings]
    return "\n".join(_line(finding) for finding in sorted(findings, key=lambda finding: -finding.impact.slowdown))


def _line(finding: Finding) -> str:
    where = finding.cause.location or finding.cause.meets
    properties = {"title": finding.rule}
    if where is not None:
        relative = os.path.relpath(where.file) if os.path.isabs(where.file) else where.file
        properties |= {"file": where.file if relative.startswith("..") else relative, "line": str(where.line)}
        if where.end_line:
            properties["endLine"] = str(where.end_line)
        if where.column is not None and where.end_column is not None and where.end_line in (None, where.line):
            properties |= {"col": str(where.column), "endColumn": str(where.end_column)}
    text = f"{finding.message}: {finding.cause.description}. {finding.fix}. See {finding.tip}"
    listed = ",".join(
        f"{key}={_escaped(clean(value)).replace(':', '%3A').replace(',', '%2C')}" for key, value in properties.items()
    )
    return f"::warning {listed}::{_escaped(clean(text))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
