"""mixed-precision-matmul: a matmul runs in a wider float type than the values it was computed from."""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis import Analysis
from ..report import Finding
from . import _matmul

NAME = "mixed-precision-matmul"
SUMMARY = "a matmul runs in a wider float type than its values had"
SINCE = "0.1"


def check(analysis: Analysis) -> Iterator[Finding]:
    """One finding a cause that widens matmul operands to 32 bits."""
    for group in analysis.groups:
        if group.width <= 32:
            yield _matmul.finding(NAME, analysis, group)
