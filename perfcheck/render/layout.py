"""A report as lines of styled spans: what every text form says, before it is known how it will look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from ..report import Cause, Finding, Impact, Location, Matmul, Report
from .clean import cells, clean, short_path

Style = Literal["plain", "rule", "place", "code", "mark", "dim", "fix", "good", "bar", "tip"]
Span = tuple[str, Style]
Line = tuple[Span, ...]

BAR = 24
"""Cells of a bar of dtypes."""

BLOCKS = "░▒▓█"

_SHOWN_MODULES = 6


def verdict(report: Report) -> str:
    """What an audit came to, in one line."""
    matmuls = report.program.matmuls
    total = sum(matmuls.values())
    phases = f"{matmuls['forward']} forward, {matmuls['backward']} backward"
    count = len(report.findings)
    if report.state == "findings":
        return f"{count} finding{'s' if count != 1 else ''} in {_matmuls(total)} ({phases})"
    if report.state == "clean":
        return f"no findings in {_matmuls(total)}: {phases}"
    if report.state == "could not check":
        return f"no findings in {_matmuls(matmuls['forward'])} forward; the backward pass could not be checked"
    return f"nothing to check: no matmul in {report.program.equations} equations"


def report_lines(report: Report) -> Iterator[Line]:
    """Every line of a report."""
    name = clean(report.program.model)
    yield ((f"{name}: ", "plain"), (verdict(report), "rule" if report.findings else "good"))
    if report.program.vjp_error is not None:
        yield ((f"backward pass not checked: {clean(report.program.vjp_error)}", "dim"),)
    if report.findings:
        yield from dtype_lines(report)
    for finding in report.findings:
        yield ()
        yield from finding_lines(finding)
    if report.notes or report.suppressed:
        yield ()
    if report.suppressed:
        yield ((f"suppressed: {suppressed_words(report)}", "dim"),)
    for note in report.notes:
        yield ((f"note: {clean(str(note))}", "dim"),)


def suppressed_words(report: Report) -> str:
    """What was taken out: how many findings of each rule, and by what."""
    counts = Counter((one.by, one.finding.rule) for one in report.suppressed)
    return ", ".join(f"{count} {rule} by {clean(by)}" for (by, rule), count in counts.items())


def dtype_lines(report: Report) -> Iterator[Line]:
    """A bar a phase: how the matmul FLOPs divide between dtypes, the narrowest first."""
    for phase, shares in dtype_shares(report).items():
        widths = _bar_widths([share for _, share in shares])
        yield (
            (f"  {phase:<8} ", "plain"),
            *((BLOCKS[rank % len(BLOCKS)] * width, "bar") for rank, width in enumerate(widths)),
            (
                "  "
                + ", ".join(
                    f"{BLOCKS[rank % len(BLOCKS)]} {dtype} {percent(share)}" for rank, (dtype, share) in enumerate(shares)
                ),
                "plain",
            ),
        )


def dtype_shares(report: Report) -> dict[str, list[tuple[str, float]]]:
    """For each phase that has matmuls, (dtype, share of that phase's matmul FLOPs), the narrowest dtype first."""
    found: dict[str, list[tuple[str, float]]] = {}
    for phase in ("forward", "backward"):
        counts = {dtype: flops for (dtype, where), flops in report.program.flops.items() if where == phase}
        total = sum(counts.values())
        if total:
            ordered = sorted(counts, key=lambda dtype: (int("".join(filter(str.isdigit, dtype.split("_")[0])) or 0), dtype))
            found[phase] = [(dtype, counts[dtype] / total) for dtype in ordered]
    return found


def _bar_widths(shares: list[float]) -> list[int]:
    """Cells of each part of a bar: in proportion, none of a part that exists empty."""
    return [max(1, round(BAR * share)) for share in shares]


def finding_lines(finding: Finding) -> Iterator[Line]:
    """The lines of one finding, the verdict first."""
    yield ((finding.rule, "rule"), (f": {clean(finding.message)}", "plain"))
    yield from _cause_lines(finding.cause)
    if finding.sites:
        yield ((f"  {'runs' if finding.rule == 'highest-precision' else 'widens'} {affected(finding)}", "plain"),)
    if finding.impact.target:
        yield ((f"  predicted {slowdown_words(finding.impact)}", "plain"),)
    yield (("  fix: ", "fix"), (clean(finding.fix), "plain"))
    yield (("  tip: ", "dim"), (clean(finding.tip), "tip"))


def _cause_lines(cause: Cause) -> Iterator[Line]:
    where = f" in {clean(cause.module)}" if cause.module else ""
    said = f"{clean(cause.description)}{where}"
    main = cause.location or cause.meets
    if main is None:
        yield ((f"  {said}", "plain"),)
    else:
        yield from _excerpt(main, said)
        if cause.meets is not None and cause.meets != main and place_key(cause.meets) != place_key(main):
            yield from _excerpt(cause.meets, "meets here")
    others = [
        place for place in cause.places if main is None or place_key(place) not in (place_key(main), place_key(cause.meets))
    ]
    if others:
        shown = ", ".join(_short(place) for place in others[:3]) + (", ..." if len(others) > 3 else "")
        yield ((f"  also at {shown}", "dim"),)
    if cause.library is not None:
        yield ((f"  through {_short(cause.library)} in {clean(cause.library.function)}", "dim"),)


def _excerpt(location: Location, label: str) -> Iterator[Line]:
    """A source line, and under it the expression marked, with a label."""
    head = f"  {_short(location)}  "
    text = clean(location.text)
    stripped = text.lstrip()
    if not stripped or location.column is None:
        yield ((head, "place"), (stripped, "code"))
        yield ((f"      {label}", "plain"),)
        return
    before = clean(location.text[: location.column - 1])
    end = location.end_column if location.end_line == location.line and location.end_column else len(location.text) + 1
    marked = clean(location.text[: end - 1])
    indent = len(text) - len(stripped)
    start = cells(before[indent:])
    length = max(1, cells(marked[indent:]) - start)
    yield ((head, "place"), (stripped, "code"))
    yield ((" " * (cells(head) + start), "plain"), ("^" * length, "mark"), (f" {label}", "plain"))


def affected(finding: Finding) -> str:
    """The matmuls of a finding in words: how many by phase, their share of FLOPs, their modules."""
    phases = [f"{count} {phase}" for phase in ("forward", "backward") if (count := _count(finding, phase))]
    total = len(finding.sites)
    text = f"{' and '.join(phases)} matmul{'s' if total != 1 else ''}"
    if finding.impact.flops:
        text += f", {percent(finding.impact.share)} of matmul FLOPs"
    modules = list(dict.fromkeys(clean(site.module) for site in finding.sites if site.module))
    if modules:
        text += ": " + ", ".join(modules[:_SHOWN_MODULES]) + (", ..." if len(modules) > _SHOWN_MODULES else "")
    return text


def slowdown_words(impact: Impact) -> str:
    """The predicted slowdown in words, with its target."""
    if impact.slowdown < 1.005:
        return f"no slower matmuls on {clean(impact.target)}"
    return f"{impact.slowdown:.2f}x slower matmuls on {clean(impact.target)}"


def percent(share: float) -> str:
    """A share in percent, with a decimal where it is small."""
    return f"{share:.0%}" if share >= 0.1 or share == 0 else f"{share:.2g}%" if share < 1e-5 else f"{100 * share:.2g}%"


def _count(finding: Finding, phase: str) -> int:
    return sum(site.phase == phase for site in finding.sites)


def _matmuls(count: int) -> str:
    return f"{count} matmul{'s' if count != 1 else ''}"


def place_key(location: Location | None) -> tuple[str, int] | None:
    """A value equal for two locations on one source line."""
    return None if location is None else (location.file, location.line)


def _short(location: Location) -> str:
    column = f":{location.column}" if location.column is not None else ""
    return f"{short_path(location.file)}:{location.line}{column}"


def summary_lines(report: Report) -> Iterator[Line]:
    """A table of the matmuls by module, the most costly first, and a bar of dtypes a phase."""
    yield ((f"{clean(report.program.model)}: ", "plain"), (verdict(report), "rule" if report.findings else "good"))
    yield from dtype_lines(report)
    yield ((f"  {report.program.matmul_seconds:.3g} s of matmuls predicted on {priced_for(report)}", "plain"),)
    rows = [("module", "matmuls", "FLOPs", "dtypes", "seconds")]
    for module, matmuls in sorted(by_module(report).items(), key=lambda item: -sum(one.seconds for one in item[1])):
        rows.append(
            (
                clean(module) or "(no module)",
                str(len(matmuls)),
                f"{sum(one.flops for one in matmuls):.3g}" + ("+" if any(one.at_least for one in matmuls) else ""),
                ", ".join(sorted({one.dtype for one in matmuls})),
                f"{sum(one.seconds for one in matmuls):.3g}",
            )
        )
    widths = [max(cells(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        text = "  ".join(cell + " " * (width - cells(cell)) for cell, width in zip(row, widths, strict=True))
        yield ((f"  {text.rstrip()}", "plain" if number else "dim"),)


def by_module(report: Report) -> dict[str, list[Matmul]]:
    """The matmuls of each module path, in program order."""
    found: dict[str, list[Matmul]] = {}
    for matmul in report.matmuls:
        found.setdefault(matmul.module, []).append(matmul)
    return found


def priced_for(report: Report) -> str:
    """The target of a report, and why that one where the user did not choose it."""
    reason = report.program.target_reason
    return clean(report.program.target) + (f" ({reason})" if reason != "given" else "")
