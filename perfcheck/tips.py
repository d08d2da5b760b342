"""The tips page, by section: the one source of what is said about a rule in every form."""

from __future__ import annotations

import functools
import re
from importlib import resources


@functools.cache
def tips() -> str:
    """The whole page, as Markdown."""
    return resources.files("perfcheck").joinpath("tips.md").read_text(encoding="utf-8")


@functools.cache
def section(rule: str) -> str:
    """The section of a rule without its heading, as Markdown; empty for a rule without one."""
    found = re.search(rf"^## {re.escape(rule)}\n(.*?)(?=^## |\Z)", tips(), re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""
