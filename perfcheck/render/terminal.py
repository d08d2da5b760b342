"""A report on a terminal, in colour. rich is imported here only, when something is rendered."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ..report import Report
from .layout import Style, report_lines
from .text import report_text

_STYLES: dict[Style, str] = {
    "plain": "",
    "rule": "bold red",
    "place": "cyan",
    "code": "",
    "mark": "bold yellow",
    "dim": "dim",
    "fix": "bold green",
    "good": "bold green",
    "bar": "blue",
    "tip": "dim",
}

_TIPS = (Path(__file__).parent.parent / "tips.md").as_uri()


def report_renderable(report: Report) -> Any:
    """The report as a `rich.text.Text`. Spans are never parsed as markup."""
    from rich.text import Text

    whole = Text(no_wrap=False)
    for number, line in enumerate(report_lines(report)):
        if number:
            whole.append("\n")
        for text, style in line:
            whole.append(text, style=f"dim link {_TIPS}#{text.partition('#')[2]}" if style == "tip" else _STYLES[style])
    return whole


def write(report: Report, file: Any = None) -> None:
    """Write the report to `file`: in colour where that is a terminal, as plain text elsewhere."""
    file = sys.stdout if file is None else file
    if not getattr(file, "isatty", lambda: False)():
        file.write(report_text(report) + "\n")
        return
    from rich.console import Console

    Console(file=file, soft_wrap=True, highlight=False).print(report_renderable(report))
