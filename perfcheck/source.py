"""From an equation to the place in the source that wrote it: the only module that reads tracebacks.

Frames are grouped by whose code they are: JAX's own (never shown), a framework's or the standard library's (shown as the
library line), the user's. Frames of an equation inside a nested jaxpr continue with those of the calls around it.
"""

from __future__ import annotations

import functools
import linecache
import os
import sys
from collections.abc import Sequence
from typing import Any

from . import compat
from .program import Site
from .report import Location

FRAMEWORKS = (
    "flax",
    "haiku",
    "equinox",
    "keras",
    "optax",
    "jaxtyping",
    "beartype",
    "penzai",
    "chex",
    "einops",
    "opt_einsum",
    "numpy",
    "torch",
    "tensorflow_probability",
    "numpyro",
    "distrax",
    "diffrax",
    "lineax",
)
"""Top-level packages that users build models from and seldom mean to edit."""

_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
_TRACING = os.path.join(_OWN_FOLDER, "tracing.py")
_STANDARD_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep

Position = tuple[Any, int]
"""A code object and the index of the instruction in it."""


def _is_internal(file: str) -> bool:
    return file.startswith((compat.JAX_FOLDER, _OWN_FOLDER)) or file.startswith("<frozen ")


@functools.cache
def _folder(package: str) -> str | None:
    module = sys.modules.get(package)
    places = getattr(module, "__path__", None)
    first = next(iter(places), None) if places else None
    return None if first is None else os.path.join(os.path.abspath(first), "")


def is_library(file: str) -> bool:
    """Whether a file belongs to a framework or to Python's standard library."""
    if file.startswith(_STANDARD_LIBRARY):
        rest = file[len(_STANDARD_LIBRARY) :]
        if not rest.startswith(("site-packages", "dist-packages")):
            return True
    for package in FRAMEWORKS:
        if package in sys.modules:
            folder = _folder(package)
            if folder is not None and file.startswith(folder):
                return True
    return False


def own_positions(eqn: Any) -> list[Position]:
    """Frames of one equation outside JAX, innermost first, cut where the trace of its jaxpr began."""
    kept: list[Position] = []
    for code, instruction in compat.raw_frames(eqn):
        file = code.co_filename
        if file == _TRACING or (code.co_name in compat.TRACE_BORDERS and file.startswith(compat.JAX_FOLDER)):
            break
        if not _is_internal(file):
            kept.append((code, instruction))
    return kept


def positions(site: Site) -> list[Position]:
    """Frames of a site outside JAX, innermost first: its own, then those of the calls around it."""
    kept = own_positions(site.eqn)
    for frame in site.frame.path():
        if frame.call is not None:
            kept.extend(own_positions(frame.call))
    return kept


def key(site: Site) -> tuple[tuple[int, int], ...]:
    """A value equal for two sites that the same expression made, reached through the same calls."""
    return tuple((id(code), instruction) for code, instruction in positions(site))


def expression(site: Site) -> tuple[int, int] | None:
    """A value equal for two equations of one frame that the same innermost expression outside JAX made."""
    own = own_positions(site.eqn)
    return (id(own[0][0]), own[0][1]) if own else None


def place(site: Site) -> tuple[Location | None, Location | None]:
    """(user location, library location) of a site. The library location is None where the user's line is innermost.

    Where a model has no line of the user's own, the library's line is given as the user location.
    """
    found = positions(site)
    user = next((position for position in found if not is_library(position[0].co_filename)), None)
    inner = found[: found.index(user)] if user is not None else found
    library = next((position for position in inner if _is_method(position[0])), inner[0] if inner else None)
    if user is None:
        return (None, None) if library is None else (locate(library), None)
    return locate(user), None if library is None else locate(library)


def _is_method(code: Any) -> bool:
    """Whether a frame is a layer's own method rather than a helper of it, by its qualified name."""
    return "." in code.co_qualname and "<" not in code.co_qualname


def in_user_code(site: Site) -> bool:
    """Whether the innermost frame of a site outside JAX is the user's and not a framework's."""
    found = positions(site)
    return bool(found) and not is_library(found[0][0].co_filename)


@functools.lru_cache(maxsize=4096)
def _code_positions(code: Any) -> list[tuple[int | None, int | None, int | None, int | None]]:
    return list(code.co_positions())


def locate(position: Position) -> Location:
    """The location of a frame, with columns counted in characters from 1 and the text of its line."""
    code, instruction = position
    table = _code_positions(code)
    line, end_line, start, end = table[instruction // 2] if instruction // 2 < len(table) else (None,) * 4
    line = line or code.co_firstlineno
    linecache.checkcache(code.co_filename)
    text = linecache.getline(code.co_filename, line).rstrip("\n")
    last = text if not end_line or end_line == line else linecache.getline(code.co_filename, end_line).rstrip("\n")
    return Location(
        file=code.co_filename,
        line=line,
        column=_column(text, start),
        end_line=end_line or line,
        end_column=_column(last, end),
        function=code.co_qualname,
        text=text,
    )


def _column(text: str, offset: int | None) -> int | None:
    """A 1-based column in characters from Python's offset in UTF-8 bytes."""
    if offset is None:
        return None
    return len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace")) + 1


def function_location(function: Any) -> Location | None:
    """Where a Python function is defined, or None for one without Python code."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    text = linecache.getline(code.co_filename, code.co_firstlineno).rstrip("\n")
    line = code.co_firstlineno
    while text.lstrip().startswith("@") and line < code.co_firstlineno + 20:
        line += 1
        text = linecache.getline(code.co_filename, line).rstrip("\n")
    column = len(text) - len(text.lstrip()) + 1
    return Location(code.co_filename, line, column, line, len(text) + 1, code.co_qualname, text)


def module_path(scopes: Sequence[str]) -> str:
    """The path of the module that scopes name, outermost first, joined by slashes."""
    return "/".join(name for scope in scopes for name in scope.split("/") if name)
