"""unstable-state: a function gives a tree back with another dtype, shape or weak type than it took it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from jax.extend.core import Var

from .. import source
from ..analysis import Analysis
from ..cost import array_text
from ..precision import WIDTHS
from ..program import Atom, Frame, Site, State, elements, is_matmul
from ..report import Cause, Finding, Impact

NAME = "unstable-state"
SUMMARY = "a state comes back with another dtype, shape or weak type"
SINCE = "0.1"

_CONVERSIONS = frozenset({"convert_element_type", "reshape", "transpose", "broadcast_in_dim", "squeeze", "copy"})

_LOOKED_BACK = 4000
"""Equations followed back from an output in search of the input it updates."""


@dataclasses.dataclass(frozen=True)
class _Change:
    """A leaf that comes back different: its name, both abstract values, and the site that made the new one, if any."""

    name: str
    before: Any
    after: Any
    out: Atom
    site: Site | None


def check(analysis: Analysis) -> Iterator[Finding]:
    """One finding a cause, however many leaves it changes."""
    by_output: dict[tuple[int, ...], list[State]] = {}
    for state in analysis.program.states:
        by_output.setdefault(tuple(returned for _, returned in state.pairs), []).append(state)
    seen: set[int] = set()
    for states in by_output.values():
        updates = [(state, list(_changes(analysis, state))) for state in states if _is_update(analysis, state)]
        if not updates or any(not changes for _, changes in updates):
            continue  # the output replaces an argument that it agrees with, whatever else has its structure
        changes = [change for change in updates[0][1] if id(change.out) not in seen]
        seen.update(id(change.out) for change in changes)
        yield from _findings(analysis, changes)


def _changes(analysis: Analysis, state: State) -> Iterator[_Change]:
    frame = analysis.flow.root
    for given, returned in state.pairs:
        before, out = frame.jaxpr.invars[given].aval, frame.jaxpr.outvars[returned]
        if _differs(before, out.aval):
            yield _Change(analysis.program.inputs[given].name, before, out.aval, out, _maker(frame, out))


def _differs(before: Any, after: Any) -> bool:
    """Whether one program compiled for `before` cannot take `after`. Integers that become arrays of floats are no state."""
    one, two = getattr(before, "dtype", None), getattr(after, "dtype", None)
    if one is None or two is None:
        return False
    if one != two:
        return bool(WIDTHS[one]) == bool(WIDTHS[two]) or not before.shape
    return before.shape != after.shape or before.weak_type != after.weak_type


def _maker(frame: Frame, atom: Atom) -> Site | None:
    """The equation that computed a value, inside the calls it came from."""
    while isinstance(atom, Var):
        maker = frame.maker(atom)
        if maker is None:
            return None
        inside = frame.result(maker, atom)
        if inside is None:
            return Site(frame, maker)
        frame, atom = inside
    return None


def _is_update(analysis: Analysis, state: State) -> bool:
    """Whether an output leaf is computed from the very leaf it replaces, element by element and outside any backward pass.

    That tells a state from a tree that only looks like one: a gradient, metrics, another set of weights. A function that
    does nothing but cast or reshape its argument updates no state either.
    """
    root = analysis.flow.root
    return any(
        _comes_from(root, root.jaxpr.outvars[returned], root.jaxpr.invars[given])
        for given, returned in state.pairs
        if root.jaxpr.outvars[returned] is not root.jaxpr.invars[given]
    )


def _comes_from(root: Frame, out: Atom, source_var: Var) -> bool:
    waiting: list[tuple[Frame, Atom, bool]] = [(root, out, False)]
    seen: set[tuple[int, int, bool]] = set()
    size = elements(out)
    for _ in range(_LOOKED_BACK):
        if not waiting:
            return False
        frame, atom, worked = waiting.pop()
        if not isinstance(atom, Var) or (id(frame), id(atom), worked) in seen:
            continue
        seen.add((id(frame), id(atom), worked))
        if frame is root and atom is source_var:
            if worked:
                return True
            continue
        maker = frame.maker(atom)
        if maker is None:
            outer = frame.operand(atom)
            if outer is not None and frame.parent is not None:
                waiting.append((frame.parent, outer, worked))
            continue
        inside = frame.result(maker, atom)
        if inside is not None:
            waiting.append((*inside, worked))
        elif not is_matmul(maker) and Site(frame, maker).phase == "forward":
            worked = worked or maker.primitive.name not in _CONVERSIONS
            waiting.extend((frame, operand, worked) for operand in maker.invars if elements(operand) == size)
    return False


def _findings(analysis: Analysis, changes: list[_Change]) -> Iterator[Finding]:
    """Widened leaves by the cause of their widening, all others by what changed and the line that changed it."""
    root = analysis.flow.root
    explained: set[int] = set()
    for change in changes:
        node = root.node(change.out)
        if node is None or change.site is None or id(change.out) in explained:
            continue
        for group in analysis.causes_of([(change.site, [node])]):
            same = [other for other in changes if _same_cause(analysis, other, group)]
            explained.update(id(other.out) for other in (change, *same))
            yield _finding(group.cause, [change, *(other for other in same if other is not change)])
            break
    rest: dict[Any, list[_Change]] = {}
    for change in changes:
        if id(change.out) not in explained:
            where = None if change.site is None else source.place(change.site)[0]
            rest.setdefault((where and (where.file, where.line), _what(change)), []).append(change)
    for alike in rest.values():
        yield _finding(_plain_cause(alike[0]), alike)


def _same_cause(analysis: Analysis, change: _Change, group: Any) -> bool:
    node = analysis.flow.root.node(change.out)
    if node is None or change.site is None:
        return False
    places = {_place(group.cause.meets), *map(_place, group.cause.places)}
    return any(_place(other.cause.meets) in places for other in analysis.causes_of([(change.site, [node])]))


def _place(location: Any) -> Any:
    return None if location is None else (location.file, location.line)


def _what(change: _Change) -> str:
    if change.before.dtype != change.after.dtype:
        return "dtype"
    return "shape" if change.before.shape != change.after.shape else "weak type"


def _plain_cause(change: _Change) -> Cause:
    where, library = (None, None) if change.site is None else source.place(change.site)
    kind = "sample" if _what(change) == "weak type" else "cast"
    return Cause(
        kind=kind,
        dtype=str(change.after.dtype),
        description=f"{change.name} goes in as {_shown(change.before)} and comes out as {_shown(change.after)}",
        location=where,
        meets=where,
        library=library,
        leaves=(change.name,),
    )


def _finding(cause: Cause, changes: list[_Change]) -> Finding:
    first = changes[0]
    more = f", and {len(changes) - 1} more leaves like it" if len(changes) > 1 else ""
    what = _what(first)
    if what == "dtype":
        fix = f"return what came in: new.astype(old.dtype), as in {_base(first.name)}.astype({first.before.dtype})"
        then = "the step compiles again on its second call, and the model changes precision"
    elif what == "shape":
        fix = "return every leaf in the shape it came in"
        then = "the step compiles again on its second call, and lax.scan refuses it as a carry"
    else:
        typed = f"jnp.asarray({_base(first.name)}, jnp.{first.after.dtype})"
        fix = (
            f"start with a strongly typed array, {typed}, not a Python number"
            if first.before.weak_type
            else f"keep the type strong: {typed}"
        )
        then = "the step compiles again on its second call"
    return Finding(
        rule=NAME,
        message=f"{first.name} goes in as {_shown(first.before)} and comes out as {_shown(first.after)}{more}: {then}",
        cause=cause,
        sites=(),
        phases=frozenset({"forward"}),
        impact=Impact(),
        fix=fix,
        tip=f"tips.md#{NAME}",
    )


def _base(name: str) -> str:
    return name or "leaf"


def _shown(aval: Any) -> str:
    return ("weak " if aval.weak_type else "") + array_text(aval)
