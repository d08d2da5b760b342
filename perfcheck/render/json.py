"""A report as plain values, in the form `report.schema.json` describes."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..report import Cause, Finding, Location, Matmul, Note, Report

VERSION = 1
"""Version of the form. It changes when a field goes or means something else, not when one is added."""


def report_dict(report: Report) -> dict[str, Any]:
    """A report as JSON-ready values. Names and source lines are as they were: escape them where you show them."""
    facts = report.program
    return {
        "version": VERSION,
        "model": facts.model,
        "state": report.state,
        "findings": [finding_dict(finding) for finding in report.findings],
        "notes": [_note(note) for note in report.notes],
        "suppressed": [{"by": one.by, "finding": finding_dict(one.finding)} for one in report.suppressed],
        "program": {
            "equations": facts.equations,
            "matmuls": dict(facts.matmuls),
            "flops": [
                {"dtype": dtype, "phase": phase, "flops": count} for (dtype, phase), count in sorted(facts.flops.items())
            ],
            "matmul_seconds": facts.matmul_seconds,
            "target": facts.target,
            "target_reason": facts.target_reason,
            "vjp_error": facts.vjp_error,
        },
    }


def finding_dict(finding: Finding) -> dict[str, Any]:
    """One finding as JSON-ready values."""
    return {
        "rule": finding.rule,
        "message": finding.message,
        "cause": _cause(finding.cause),
        "phases": sorted(finding.phases),
        "impact": dataclasses.asdict(finding.impact),
        "fix": finding.fix,
        "tip": finding.tip,
        "sites": [_matmul(site) for site in finding.sites],
    }


def _cause(cause: Cause) -> dict[str, Any]:
    return {
        "kind": cause.kind,
        "dtype": cause.dtype,
        "description": cause.description,
        "module": cause.module,
        "location": _location(cause.location),
        "meets": _location(cause.meets),
        "library": _location(cause.library),
        "leaves": list(cause.leaves),
        "places": [_location(place) for place in cause.places],
    }


def _matmul(matmul: Matmul) -> dict[str, Any]:
    return {
        "primitive": matmul.primitive,
        "operands": list(matmul.operands),
        "result": matmul.result,
        "dtype": matmul.dtype,
        "phase": matmul.phase,
        "recomputed": matmul.recomputed,
        "module": matmul.module,
        "location": _location(matmul.location),
        "flops": matmul.flops,
        "bytes": matmul.bytes,
        "seconds": matmul.seconds,
        "at_least": matmul.at_least,
        "precision": matmul.precision,
    }


def _location(location: Location | None) -> dict[str, Any] | None:
    return None if location is None else dataclasses.asdict(location)


def _note(note: Note) -> dict[str, Any]:
    return {"rule": note.rule, "message": note.message}
