"""The way back from a wide value to where it got its width, through the borders of calls."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterator
from typing import Any

from jax.extend.core import Var

from .precision import atom_width
from .program import CALLBACKS, Atom, Frame, elements

_STEPS = 10_000
"""Equations followed back before the search ends where it stands."""


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """One value on the way back. `maker` is the equation of `frame` that computes it: None for an input or a constant of
    the frame, and for a literal. `is_last` marks the value whose width comes from nothing wider before it.
    """

    frame: Frame
    atom: Atom
    maker: Any
    is_last: bool


def way_back(frame: Frame, atom: Atom) -> Iterator[Step]:
    """The values that a value has its width from, nearest first: of several operands as wide, the largest."""
    bits = atom_width(atom)
    for _ in range(_STEPS):
        if not isinstance(atom, Var):
            yield Step(frame, atom, None, True)
            return
        maker = frame.maker(atom)
        if maker is None:
            outer = frame.operand(atom)
            yield Step(frame, atom, None, outer is None)
            if outer is None or frame.parent is None:
                return
            frame, atom = frame.parent, outer
            continue
        inside = frame.result(maker, atom)
        if inside is not None:
            frame, atom = inside
            continue
        wide = [operand for operand in maker.invars if isinstance(operand, Var) and atom_width(operand) == bits]
        is_last = not wide or maker.primitive.name in CALLBACKS
        yield Step(frame, atom, maker, is_last)
        if is_last:
            return
        atom = max(wide, key=elements)


def last(frame: Frame, atom: Atom) -> Step:
    """The last value on the way back from a value, or the value itself."""
    ends = deque(way_back(frame, atom), maxlen=1)
    return ends[0] if ends else Step(frame, atom, None, False)
