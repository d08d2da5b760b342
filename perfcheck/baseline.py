"""Adopting perfcheck in an old code base: findings that are known, and only new ones fail.

A finding is known by its rule, model, module path, kind of cause and the cause's own name, never by a line number.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path

from .render.sarif import identity
from .report import CheckError, Finding, Report

_FIELDS = ("model", "rule", "module", "kind", "cause")

Entry = tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Compared:
    """Reports without the findings a baseline knows, and the entries of the baseline that match nothing any more."""

    reports: tuple[tuple[str, Report], ...]
    gone: tuple[Entry, ...]


def entry(name: str, finding: Finding) -> Entry:
    """What a finding of an audit named `name` is known by."""
    return (name, *identity(finding))


def write_baseline(file: Path, reports: Iterable[tuple[str, Report]]) -> int:
    """Write the findings of all reports to a baseline; how many there are."""
    entries = sorted({entry(name, finding) for name, report in reports for finding in report})
    listed = [dict(zip(_FIELDS, one, strict=True)) for one in entries]
    file.write_text(json.dumps({"version": 1, "findings": listed}, indent=2) + "\n", encoding="utf-8")
    return len(entries)


def read_baseline(file: Path) -> set[Entry]:
    """The entries of a baseline. Raises `CheckError` for a file that is none."""
    try:
        return {tuple(one[field] for field in _FIELDS) for one in json.loads(file.read_text(encoding="utf-8"))["findings"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckError(
            f"{file} is no baseline ({error}): write one with perfcheck check ... --write-baseline {file}"
        ) from error


def compare(reports: Iterable[tuple[str, Report]], known: set[Entry]) -> Compared:
    """Take the known findings out of the reports."""
    met: set[Entry] = set()
    left = []
    for name, report in reports:
        new = []
        for finding in report:
            one = entry(name, finding)
            if one in known:
                met.add(one)
            else:
                new.append(finding)
        state = report.state if new or not report.findings else "clean"
        left.append((name, dataclasses.replace(report, findings=tuple(new), state=state)))
    return Compared(tuple(left), tuple(sorted(known - met)))
