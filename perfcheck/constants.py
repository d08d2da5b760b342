"""Arrays that are closed over and baked into a program, wherever JAX keeps them, and the variables that hold them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from jax.extend.core import Literal, Var

from .bodies import bodies
from .lineage import Flow
from .program import Frame, Site

_SEARCHED = 20_000
"""Leaves of closed-over trees that are compared before the search for a name ends."""


@dataclasses.dataclass(frozen=True)
class Captured:
    """One closed-over array: its value, its abstract form, its bytes and the first site that uses it, if any."""

    value: Any
    aval: Any
    bytes: int
    site: Site | None


def captured_arrays(flow: Flow) -> list[Captured]:
    """Every array a program closes over, once an object, in order of appearance."""
    found: dict[int, Captured] = {}
    for frame in flow.frames.values():
        for var, value in zip(frame.jaxpr.constvars, frame.constants, strict=False):
            if id(value) not in found:
                found[id(value)] = Captured(value, var.aval, _bytes(var.aval), _first_use(frame, var))
        for eqn in frame.jaxpr.eqns:
            for atom in eqn.invars:
                if type(atom) is Literal and getattr(atom.aval, "shape", ()) and id(atom.val) not in found:
                    found[id(atom.val)] = Captured(atom.val, atom.aval, _bytes(atom.aval), Site(frame, eqn))
    return list(found.values())


def _bytes(aval: Any) -> int:
    size = 1
    for extent in getattr(aval, "shape", ()):
        size *= extent if isinstance(extent, int) else 1
    return size * getattr(getattr(aval, "dtype", None), "itemsize", 0)


def _first_use(frame: Frame, var: Var) -> Site | None:
    """The first equation that uses a value: inside a call if that is where it goes, outside if a call only returns it."""
    for eqn in frame.jaxpr.eqns:
        position = next((k for k, atom in enumerate(eqn.invars) if atom is var), None)
        if position is None:
            continue
        for index, body in enumerate(bodies(eqn)):
            for inner, operand in enumerate(body.operands):
                if operand is var:
                    child = frame.child(eqn, body, index)
                    return _first_use(child, child.jaxpr.invars[inner]) or Site(frame, eqn)
        return Site(frame, eqn)
    position = next((k for k, out in enumerate(frame.jaxpr.outvars) if out is var), None)
    if position is None or frame.parent is None or frame.call is None or frame.body is None:
        return None
    target = frame.body.results[position]
    return None if target is None else _first_use(frame.parent, frame.call.outvars[target])


def names_of(function: Any, arrays: list[Any]) -> dict[int, str]:
    """The variable that holds each array (by `id`), such as "data" or "params['w']", among what a function closes over.

    Looks at closure cells, defaults, bound arguments and the globals its code names, through wrappers and partials.
    """
    wanted = {id(array): array for array in arrays}
    named: dict[int, str] = {}
    looked_at = 0
    for name, value in _variables(function):
        leaves = jax.tree_util.tree_flatten_with_path(value)[0]
        for path, leaf in leaves:
            looked_at += 1
            if looked_at > _SEARCHED:
                return named
            for key, array in wanted.items():
                if key not in named and _is_same(leaf, array):
                    named[key] = name + jax.tree_util.keystr(path)
    return named


def _is_same(leaf: Any, array: Any) -> bool:
    if leaf is array:
        return True
    if isinstance(leaf, np.ndarray) and isinstance(array, np.ndarray):
        return leaf.shape == array.shape and leaf.dtype == array.dtype and np.may_share_memory(leaf, array)
    return False


def _variables(function: Any) -> Iterator[tuple[str, Any]]:
    waiting, seen = [function], set()
    while waiting and len(seen) < 32:
        value = waiting.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        for wrapped in ("__wrapped__", "func", "__func__"):
            inner = getattr(value, wrapped, None)
            if callable(inner):
                waiting.append(inner)
        code = getattr(value, "__code__", None)
        if code is None:
            continue
        pairs = list(zip(code.co_freevars, getattr(value, "__closure__", None) or (), strict=False))
        held = [(name, cell.cell_contents) for name, cell in pairs if _is_filled(cell)]
        names = getattr(value, "__globals__", {})
        held += [(name, names[name]) for name in code.co_names if name in names]
        for name, inner in held:
            if callable(inner) and hasattr(inner, "__code__"):
                waiting.append(inner)
            elif not isinstance(inner, type(jax)):
                yield name, inner


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
