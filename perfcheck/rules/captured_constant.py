"""captured-constant: a large array is closed over and baked into the program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import source
from ..analysis import Analysis
from ..constants import Captured, captured_arrays, names_of
from ..cost import array_text
from ..report import Cause, Finding, Impact

NAME = "captured-constant"
SUMMARY = "a large array is closed over and baked into the program"
SINCE = "0.1"

LARGE = 1 << 20
"""Bytes from which one array is worth a finding."""

LARGE_TOGETHER = 16 << 20
"""Bytes from which many smaller arrays are worth one together."""


def check(analysis: Analysis) -> Iterator[Finding]:
    """One finding a variable that holds large arrays (or a line that uses them); one for many small ones."""
    captured = captured_arrays(analysis.flow)
    total = sum(array.bytes for array in captured)
    large = [array for array in captured if array.bytes >= LARGE]
    if not large and total >= LARGE_TOGETHER:
        large = captured
    if not large:
        return
    names = names_of(analysis.program.function, [array.value for array in large])
    groups: dict[object, list[Captured]] = {}
    for array in large:
        groups.setdefault(_key(array, names), []).append(array)
    for arrays in sorted(groups.values(), key=lambda arrays: -sum(array.bytes for array in arrays)):
        yield _finding(analysis, arrays, names, total)


def _key(array: Captured, names: dict[int, str]) -> object:
    name = names.get(id(array.value))
    if name is not None:
        return re.split(r"[.\[]", name)[0]
    where = None if array.site is None else source.place(array.site)[0]
    return (where.file, where.line) if where else "unknown"


def _finding(analysis: Analysis, arrays: list[Captured], names: dict[int, str], total: int) -> Finding:
    largest = max(arrays, key=lambda array: array.bytes)
    where, library = (None, None) if largest.site is None else source.place(largest.site)
    own = sum(array.bytes for array in arrays)
    known = [names[id(array.value)] for array in arrays if id(array.value) in names]
    name = f" {known[0]}" if known else ""
    more = f" and {len(arrays) - 1} more" if len(arrays) > 1 else ""
    variable = re.split(r"[.\[]", known[0])[0] if known else "the array"
    return Finding(
        rule=NAME,
        message=f"{_megabytes(own)} of constants are baked into the program ({_megabytes(total)} in all)",
        cause=Cause(
            kind="constant",
            dtype=str(largest.aval.dtype),
            description=f"{array_text(largest.aval)} closed over as{name}{more}"
            if name
            else f"{array_text(largest.aval)} closed over{more}",
            location=where,
            meets=where,
            module="" if largest.site is None else source.module_path(largest.site.scopes()),
            library=library,
            leaves=tuple(known),
        ),
        sites=(),
        phases=frozenset({"forward"} if largest.site is None else {array.site.phase for array in arrays if array.site}),
        impact=Impact(extra_bytes=own),
        fix=f"pass {variable} as an argument of the jitted function: as a constant it is copied into every compiled program, "
        "kept beside the original, and compared again at each compilation",
        tip=f"tips.md#{NAME}",
    )


def _megabytes(count: int) -> str:
    return f"{count / 2**20:.1f} MiB"
