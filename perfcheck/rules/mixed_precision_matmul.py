"""mixed-precision-matmul: a matmul runs in a wider float type than the values it was computed from."""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis import Analysis
from ..report import Finding, Note
from . import _matmul

NAME = "mixed-precision-matmul"
SUMMARY = "a matmul runs in a wider float type than its values had"
SINCE = "0.1"


def check(analysis: Analysis) -> Iterator[Finding | Note]:
    """One finding a cause that widens matmul operands to 32 bits; a note where it is predicted to cost next to nothing."""
    for group in analysis.groups:
        if group.width <= 32:
            yield _matmul.note_if_cheap(_matmul.finding(NAME, analysis, group), analysis.min_slowdown)
