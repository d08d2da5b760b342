"""host-callback: the program calls Python on the host while it runs."""

from __future__ import annotations

from collections.abc import Iterator

from .. import source
from ..analysis import Analysis
from ..program import Frame, Site
from ..report import Cause, Finding, Impact, Note

NAME = "host-callback"
SUMMARY = "the program calls Python on the host while it runs"
SINCE = "0.1"

_WORDS = {
    "debug_callback": "jax.debug.callback",
    "debug_print": "jax.debug.print",
    "pure_callback": "jax.pure_callback",
    "io_callback": "jax.experimental.io_callback",
}

_COSTS = {
    "debug_callback": "its arguments are copied to the host each time",
    "debug_print": "its arguments are copied to the host each time",
    "pure_callback": "the device waits for the host each time, and the result is copied back",
    "io_callback": "the device waits for the host each time, and the result is copied back",
}


def check(analysis: Analysis) -> Iterator[Finding | Note]:
    """One finding a line that calls the host; a note where a `cond` decides whether it does."""
    by_place: dict[object, list[Site]] = {}
    for site in analysis.flow.callbacks:
        where = source.place(site)[0]
        by_place.setdefault((where.file, where.line) if where else id(site.eqn), []).append(site)
    for sites in by_place.values():
        found = _finding(sites)
        if all(_is_conditional(site.frame) for site in sites):
            yield Note(f"{NAME}: {found.message}, under a condition", NAME, found)
        else:
            yield found


def _finding(sites: list[Site]) -> Finding:
    first = sites[0]
    name = first.eqn.primitive.name
    where, library = source.place(first)
    called = _WORDS.get(name) or str(name)
    ordered = any("rdered" in str(effect) and "Unordered" not in str(effect) for effect in first.eqn.effects)
    order = ", in order with every other ordered effect" if ordered or first.eqn.params.get("ordered") else ""
    times = _times(sites)
    return Finding(
        rule=NAME,
        message=f"the host is called {times} a step{order}: {_COSTS.get(name, 'the device waits for the host each time')}",
        cause=Cause(
            kind="callback",
            dtype="",
            description=f"{called} in `{where.expression}`" if where else called,
            location=where,
            meets=where,
            module=source.module_path(first.scopes()),
            library=library,
        ),
        sites=(),
        phases=frozenset(site.phase for site in sites),
        impact=Impact(),
        fix="take it out, or guard it with jax.lax.cond so that it runs every few hundred steps; return values from the loop "
        "and print them after the step"
        if name.startswith("debug")
        else "compute it with jax.numpy, or outside the step",
        tip=f"tips.md#{NAME}",
    )


def _times(sites: list[Site]) -> str:
    trips = [site.frame.trips for site in sites]
    known = sum(count or 1 for count in trips)
    text = "once" if known == 1 else f"{known} times"
    return f"at least {text}" if None in trips else text


def _is_conditional(frame: Frame) -> bool:
    return any(around.call is not None and around.call.primitive.name == "cond" for around in frame.path())
