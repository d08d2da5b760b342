"""A report as HTML, for notebooks and as a page: no script, no id, no outside resource, everything escaped.

jinja2 and markdown-it are imported here only, when something is rendered. Rendering never raises: a finding that cannot be
shown is said in a line of text, and so is a report. What is listed is capped, so that a page stays one a browser can hold.
"""

from __future__ import annotations

import functools
import html
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from ..report import Cause, Finding, Location, Matmul, Report
from ..tips import section
from .clean import clean, short_path
from .layout import affected, by_module, dtype_shares, percent, place_key, priced_for, slowdown_words, suppressed_words, verdict

_FINDINGS_SHOWN = 50
_SITES_SHOWN = 50
_ROWS_SHOWN = 1000
_MODULES_SHOWN = 100
_NOTES_SHOWN = 100
_PLACES_SHOWN = 3

T = TypeVar("T")


def report_html(report: Report) -> str:
    """A fragment for a notebook cell: its style, and the report."""
    try:
        return f"{_macros().style()}\n{section_html(report.program.model, report)}"
    except Exception as error:
        return _failed("the report", error)


def section_html(name: str, report: Report) -> str:
    """One report under a name, without its style."""
    try:
        return str(
            _macros().report_section(
                report,
                name,
                _or("", verdict, report),
                _or({}, dtype_shares, report),
                list(_findings(report.findings)),
                _or([], _modules, report),
                _or("", suppressed_words, report),
                [_or("a note that cannot be shown", str, note) for note in report.notes[:_NOTES_SHOWN]],
            )
        )
    except Exception as error:
        return _failed(name, error)


def _or(default: T, function: Callable[[Any], T], value: Any) -> T:
    """What a function gives, or the default where it raises: one broken part hides no other."""
    try:
        return function(value)
    except Exception:
        return default


def _failed(name: str, error: Exception) -> str:
    """A line in place of a report that cannot be shown. It is built without the template, which may be what failed."""
    text = html.escape(_printable(f"{name} cannot be shown: {type(error).__name__}"))
    return f'<div class="perfcheck-report"><p>{text}</p></div>'


def page_html(reports: Iterable[tuple[str, Report]]) -> str:
    """A page of its own with one section for each (name, report)."""
    return page_of(section_html(name, report) for name, report in reports)


def page_of(sections: Iterable[str]) -> str:
    """A page of its own made of sections that `section_html` gave."""
    body = "\n".join(sections)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>perfcheck</title>\n'
        f"{_macros().style()}\n<style>body {{ color-scheme: light dark; margin: 0 auto; max-width: 62rem; }}</style>\n"
        f"</head>\n<body>\n{body}\n</body>\n</html>"
    )


@functools.cache
def _macros() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader("perfcheck.render", "."), autoescape=True, undefined=StrictUndefined)
    environment.globals |= {
        "clean": _printable,
        "percent": percent,
        "pieces": _pieces,
        "short_path": short_path,
        "affected": affected,
        "also_at": _also_at,
        "place_of": place_key,
        "priced_for": priced_for,
        "slowdown": slowdown_words,
        "tone": _tone,
        "places_shown": _PLACES_SHOWN,
    }
    return environment.get_template("report.html.jinja").make_module()


def _printable(value: Any) -> str:
    """Cleaned text, line by line."""
    return " ".join(clean(line) for line in str(value).splitlines())


def _findings(findings: tuple[Finding, ...]) -> Iterator[Any]:
    """Each finding as HTML: those that cannot be rendered as a line of text, those beyond the cap as their number."""
    from markupsafe import Markup

    rows = min(_SITES_SHOWN, _ROWS_SHOWN // max(1, min(len(findings), _FINDINGS_SHOWN)))
    for finding in findings[:_FINDINGS_SHOWN]:
        try:
            yield Markup(_macros().finding_section(finding, _tip(finding.rule), rows))
        except Exception as error:
            rule, message = getattr(finding, "rule", "a finding"), getattr(finding, "message", "")
            yield Markup("<p>{}</p>").format(_printable(f"{rule} cannot be shown: {type(error).__name__}: {message}"))
    if len(findings) > _FINDINGS_SHOWN:
        yield Markup("<p>and {} more findings: report.print() shows all</p>").format(len(findings) - _FINDINGS_SHOWN)


def _also_at(cause: Cause) -> list[Location]:
    """The lines the cause meets something on, without those that are shown anyway."""
    shown = {place_key(cause.location), place_key(cause.meets)}
    return [place for place in cause.places if place_key(place) not in shown]


@functools.cache
def _tip(rule: str) -> Any:
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    return Markup(MarkdownIt("commonmark", {"html": False}).render(section(rule)))


def _pieces(location: Location) -> list[tuple[str, bool]]:
    """The source line in parts, and whether each is the expression that is meant."""
    text = location.text
    start = len(text) - len(text.lstrip())
    if location.column is None:
        return [(clean(text.strip()), False)]
    end = location.end_column if location.end_line == location.line and location.end_column else len(text) + 1
    cut = max(start, location.column - 1)
    return [(clean(text[start:cut]), False), (clean(text[cut : end - 1]), True), (clean(text[end - 1 :].rstrip()), False)]


def _tone(dtype: str) -> int:
    """The number of a dtype's colour: by its bits, so that a colour means the same in a faulty report and in the mended one."""
    bits = "".join(filter(str.isdigit, dtype.partition("_")[0]))
    return {"16": 0, "32": 1, "64": 2}.get(bits, 3)


def _modules(report: Report) -> list[tuple[str, ...]]:
    """Rows of the table of matmuls by module, the most costly first; the last says how many are left out."""
    found = sorted(by_module(report).items(), key=lambda item: -_seconds(item[1]))
    rows = [
        (
            module or "(no module)",
            str(len(matmuls)),
            f"{sum(one.flops for one in matmuls):.3g}" + ("+" if any(one.at_least for one in matmuls) else ""),
            ", ".join(sorted({one.dtype for one in matmuls})),
            f"{_seconds(matmuls):.3g}",
        )
        for module, matmuls in found[:_MODULES_SHOWN]
    ]
    if len(found) > _MODULES_SHOWN:
        rows.append((f"and {len(found) - _MODULES_SHOWN} more", "", "", "", ""))
    return rows


def _seconds(matmuls: list[Matmul]) -> float:
    return sum(one.seconds for one in matmuls)
