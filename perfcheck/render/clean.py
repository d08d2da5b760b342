"""Text that came from a model or its source, made safe to print: names and lines of code are nobody's commands."""

from __future__ import annotations

import os
import unicodedata

_UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def clean(text: str) -> str:
    """The text with every control, format and surrogate character written as an escape, and tabs as spaces.

    This takes the power from terminal escapes, line breaks and marks that reverse the direction of writing.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_safe(character) for character in text.expandtabs(4))


def _safe(character: str) -> str:
    if unicodedata.category(character) in _UNSAFE_CATEGORIES:
        code = ord(character)
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return character


def cells(text: str) -> int:
    """Columns a cleaned text takes in a terminal: wide characters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def short_path(file: str) -> str:
    """A path relative to the working directory or to the folder of installed packages it lies in; cleaned."""
    try:
        relative = os.path.relpath(file)
    except (ValueError, OSError):
        relative = file
    for folder in ("site-packages", "dist-packages"):
        _, found, inner = file.partition(f"{os.sep}{folder}{os.sep}")
        if found:
            return clean(inner)
    return clean(file if relative.startswith("..") or file.startswith("<") else relative)
