"""The rule table: one module a rule, found by the modules of this package.

A rule module has `NAME` (kebab-case, what is wrong), `SUMMARY` (one line), `SINCE` (the version it came with) and
`check(analysis)`, which yields `Finding`s and
`Note`s. Its section of the tips page has the same name.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterator

from ..analysis import Analysis
from ..report import Finding, Note


@dataclasses.dataclass(frozen=True)
class Rule:
    """One kind of performance problem and the function that finds it."""

    name: str
    summary: str
    since: str
    check: Callable[[Analysis], Iterator[Finding | Note]]


@functools.cache
def all_rules() -> dict[str, Rule]:
    """Every rule by its name, in alphabetical order."""
    rules = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda found: found.name):
        if not module.name.startswith("_"):
            found = importlib.import_module(f"{__name__}.{module.name}")
            rules[found.NAME] = Rule(found.NAME, found.SUMMARY, found.SINCE, found.check)
    return rules
