"""Reports as one SARIF 2.1.0 log, as GitHub's code scanning takes it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from typing import Any

from ..report import Finding, Location, Report
from ..tips import section
from .clean import clean

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_HOME = "https://pypi.org/project/perfcheck/"


def sarif_log(reports: Iterable[Report]) -> dict[str, Any]:
    """A log with one run that holds the findings of all reports. Paths are relative to the working directory."""
    from .. import __version__
    from ..rules import all_rules

    rules = list(all_rules().values())
    index = {rule.name: number for number, rule in enumerate(rules)}
    results = [_result(report.program.model, finding, index) for report in reports for finding in report.findings]
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "perfcheck",
                        "version": __version__,
                        "informationUri": _HOME,
                        "rules": [_rule(rule.name, rule.summary) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "the folder perfcheck was run in"}}},
                "results": results,
            }
        ],
    }


def _rule(name: str, summary: str) -> dict[str, Any]:
    text = section(name)
    return {
        "id": name,
        "name": "".join(part.capitalize() for part in name.split("-")),
        "shortDescription": {"text": summary},
        "fullDescription": {"text": summary},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": "warning"},
    }


def _result(model: str, finding: Finding, index: dict[str, int]) -> dict[str, Any]:
    cause = finding.cause
    main = cause.location or cause.meets
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": "warning",
        "message": {"text": clean(f"{finding.message}: {cause.description}. {finding.fix}.")},
        "partialFingerprints": {"perfcheck/v1": fingerprint(model, finding)},
        "locations": [_location(main)] if main else [],
    }
    related = [(cause.meets, "meets here")] if cause.meets and cause.meets != main else []
    related += [(place, "meets here too") for place in cause.places if place not in (main, cause.meets)]
    related += [(site.location, f"{site.phase} matmul in {site.dtype}") for site in finding.sites if site.location][:20]
    if related:
        result["relatedLocations"] = [
            {"id": number, **_location(where), "message": {"text": clean(words)}}
            for number, (where, words) in enumerate(related, 1)
            if where
        ]
    return result


def fingerprint(model: str, finding: Finding) -> str:
    """A value that stays the same when lines move: of the rule, the model, the module path and the cause's own name."""
    return hashlib.sha256("\0".join((*identity(finding), model)).encode()).hexdigest()[:32]


def identity(finding: Finding) -> tuple[str, str, str, str]:
    """What a finding is known by when lines move: rule, module path, kind of cause, and the cause's own name."""
    cause = finding.cause
    where = cause.location or cause.meets
    name = cause.leaves[0] if cause.leaves else where.expression if where else ""
    return finding.rule, cause.module, cause.kind, name


def _location(location: Location) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": location.line}
    if location.column is not None:
        region["startColumn"] = location.column
        if location.end_line and location.end_column:
            region["endLine"] = location.end_line
            region["endColumn"] = location.end_column
    if location.text:
        region["snippet"] = {"text": clean(location.text)}
    return {"physicalLocation": {"artifactLocation": _artifact(location.file), "region": region}}


def _artifact(file: str) -> dict[str, Any]:
    from urllib.parse import quote

    relative = os.path.relpath(file) if os.path.isabs(file) else file
    if relative.startswith(".."):
        return {"uri": "file://" + quote(file)}
    return {"uri": quote(relative.replace(os.sep, "/")), "uriBaseId": "%SRCROOT%"}
