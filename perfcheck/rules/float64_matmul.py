"""float64-matmul: a matmul runs in float64 though the model's inputs are not all float64."""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis import Analysis
from ..report import Finding
from . import _matmul

NAME = "float64-matmul"
SUMMARY = "a matmul runs in float64 that nobody asked for"
SINCE = "0.1"


def check(analysis: Analysis) -> Iterator[Finding]:
    """One finding a cause that widens matmul operands to 64 bits."""
    if analysis.all_float64:
        return
    for group in analysis.groups:
        if group.width == 64:
            yield _matmul.finding(NAME, analysis, group)
