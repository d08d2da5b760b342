"""A report as plain text: stable, without colour."""

from __future__ import annotations

from collections.abc import Iterable

from ..report import Finding, Report
from .layout import Line, finding_lines, report_lines, summary_lines, verdict as verdict


def report_text(report: Report) -> str:
    """The whole report, the verdict in its first line."""
    return _joined(report_lines(report))


def finding_text(finding: Finding) -> str:
    """One finding, the verdict in its first line."""
    return _joined(finding_lines(finding))


def summary_text(report: Report) -> str:
    """The table of matmuls by module."""
    return _joined(summary_lines(report))


def _joined(lines: Iterable[Line]) -> str:
    return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)
