"""A report as HTML, for notebooks and as a page: no script, no id, no outside resource, everything escaped.

jinja2 and markdown-it are imported here only, when something is rendered. Rendering never raises: a finding that cannot be
shown is said in a line of text.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

from ..report import Finding, Location, Matmul, Report
from ..tips import section
from .clean import clean, short_path
from .layout import by_module, dtype_shares, percent, verdict

_SITES_SHOWN = 50
_MODULES_SHOWN = 100


def report_html(report: Report) -> str:
    """A fragment for a notebook cell: its style, and the report."""
    return f"{_macros().style()}\n{section_html(report.program.model, report)}"


def section_html(name: str, report: Report) -> str:
    """One report under a name, without its style."""
    macros = _macros()
    return str(
        macros.report_section(
            report, name, verdict(report), dtype_shares(report), list(_findings(report.findings)), _modules(report)
        )
    )


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
        "shown": _SITES_SHOWN,
    }
    return environment.get_template("report.html.jinja").make_module()


def _printable(value: Any) -> str:
    """Cleaned text, line by line."""
    return " ".join(clean(line) for line in str(value).splitlines())


def _findings(findings: Iterable[Finding]) -> Iterator[tuple[Finding | None, Any, str]]:
    """(finding, tip, "") for each finding, or (None, "", what to say) for one that cannot be rendered."""
    for finding in findings:
        try:
            tip = _tip(finding.rule)
            _macros().finding_section(finding, tip)
            yield finding, tip, ""
        except Exception as error:
            yield None, "", f"{getattr(finding, 'rule', 'a finding')} cannot be shown: {type(error).__name__}"


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
    cut = location.column - 1
    return [(clean(text[start:cut]), False), (clean(text[cut : end - 1]), True), (clean(text[end - 1 :].rstrip()), False)]


def _modules(report: Report) -> list[tuple[str, ...]]:
    """Rows of the table of matmuls by module, the most costly first."""
    found = sorted(by_module(report).items(), key=lambda item: -_seconds(item[1]))
    return [
        (
            module or "(no module)",
            str(len(matmuls)),
            f"{sum(one.flops for one in matmuls):.3g}",
            ", ".join(sorted({one.dtype for one in matmuls})),
            f"{_seconds(matmuls):.3g}",
        )
        for module, matmuls in found[:_MODULES_SHOWN]
    ]


def _seconds(matmuls: list[Matmul]) -> float:
    return sum(one.seconds for one in matmuls)
