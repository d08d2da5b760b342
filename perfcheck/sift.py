"""Which findings a user wants to see: those selected, not ignored, not allowed, and within their own code."""

from __future__ import annotations

import dataclasses
import os
import re
import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase

from .config import Settings
from .report import Finding, Location, Note, Suppressed

_COMMENT = re.compile(r"#\s*perfcheck:\s*ignore(?:\[([^\]]*)\])?")


@dataclasses.dataclass(frozen=True)
class Sifted:
    """What is left, what was taken out and by what, and the ignores that took out nothing."""

    findings: tuple[Finding, ...]
    notes: tuple[Note, ...]
    suppressed: tuple[Suppressed, ...]
    unused: tuple[str, ...]


def sift(said: Iterable[Finding | Note], settings: Settings) -> Sifted:
    """Part what the rules said by the settings, comments on the lines and `allow` scopes around them.

    A note goes where the finding it is made of would go, but is not counted.
    """
    findings, notes, suppressed = [], [], []
    used: set[str] = set()
    for item in said:
        finding = item if isinstance(item, Finding) else item.finding
        by = None if finding is None else _taken_out(finding, settings)
        if by is not None:
            used.add(by)
            if isinstance(item, Finding):
                suppressed.append(Suppressed(item, by))
        elif isinstance(item, Finding):
            findings.append(item)
        else:
            notes.append(item)
    unused = tuple(
        f"ignore {pattern!r} of {settings.origin.get(pattern, 'ignore=')}" for pattern in settings.ignore if pattern not in used
    )
    return Sifted(tuple(findings), tuple(notes), tuple(suppressed), unused)


def _taken_out(finding: Finding, settings: Settings) -> str | None:
    """What takes a finding out, or None: the ignore pattern itself, or words for everything else."""
    for pattern in settings.ignore:
        if matches(finding, pattern):
            return pattern
    if settings.select and not any(matches(finding, pattern) for pattern in settings.select):
        return "select"
    if finding.rule in finding.cause.allowed or _all(finding.rule in site.allowed for site in finding.sites):
        return "perfcheck.allow"
    lines = (finding.cause.location, finding.cause.meets)
    if any(_is_ignored(line, finding.rule) for line in lines) or _all(
        _is_ignored(site.location, finding.rule) for site in finding.sites
    ):
        return "comment"
    if settings.within and not any(_lies_within(line, settings.within) for line in (*lines, *finding.cause.places)):
        return "within"
    return None


def _all(answers: Iterable[bool]) -> bool:
    """Whether there are answers and all are yes."""
    answers = list(answers)
    return bool(answers) and all(answers)


def matches(finding: Finding, pattern: str) -> bool:
    """Whether a finding is of the rule a pattern names and lies in the modules it names ("rule@glob").

    A glob matches a module path if it matches any run of its parts: "head" matches Net/head and Net/head/Dense_0.
    """
    rule, at, glob = pattern.partition("@")
    if rule not in ("*", finding.rule):
        return False
    if not at:
        return True
    if finding.cause.module and _in_module(finding.cause.module, glob):
        return True
    return _all(_in_module(site.module, glob) for site in finding.sites)


def _in_module(path: str, glob: str) -> bool:
    parts = path.split("/")
    runs = ("/".join(parts[first:last]) for first in range(len(parts)) for last in range(first + 1, len(parts) + 1))
    return any(fnmatchcase(run, glob) for run in runs)


def _is_ignored(location: Location | None, rule: str) -> bool:
    comment = None if location is None else _COMMENT.search(location.text)
    if comment is None:
        return False
    return comment[1] is None or rule in {name.strip() for name in comment[1].split(",")}


def _lies_within(location: Location | None, within: tuple[str, ...]) -> bool:
    if location is None:
        return False
    file = os.path.abspath(location.file)
    for name in within:
        module = sys.modules.get(name)
        places = list(getattr(module, "__path__", ())) or [getattr(module, "__file__", None) or name]
        if any(file == place or file.startswith(place.rstrip(os.sep) + os.sep) for place in map(os.path.abspath, places)):
            return True
    return False
