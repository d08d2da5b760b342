"""The graph of lineages: its leaves are widenings, and a value that has a lineage holds one node of it."""

from __future__ import annotations

import dataclasses
from typing import Any

from .program import Atom, Frame, Site


class Widening:
    """An equation whose float output is wider than the float value it converts.

    `operand` is the atom that was converted; `width` the bits of the result. `beside` is the wide factor of a mixed
    matmul, else None. `meetings` are the first few (frame, equation, other operand) where the converted value itself
    was brought together with another value as wide.
    """

    __slots__ = ("beside", "derived", "is_product", "meetings", "operand", "serial", "site", "width")

    def __init__(self, serial: int, site: Site, operand: Atom, width: int, is_product: bool, beside: Atom | None = None):
        self.serial = serial
        self.site = site
        self.operand = operand
        self.width = width
        self.is_product = is_product
        self.beside = beside
        self.meetings: list[tuple[Frame, Any, Atom]] = []
        self.derived: Join | None = None


class Join:
    """The lineage of a value made from several. `back` are nodes that arrive from the previous turn of a loop."""

    __slots__ = ("back", "parents", "serial")

    def __init__(self, serial: int, parents: list[Node]):
        self.serial = serial
        self.parents = parents
        self.back: list[Node] = []


Node = Widening | Join


@dataclasses.dataclass(frozen=True, slots=True)
class Product:
    """A matmul with a widened or a mixed operand: `factors` are its two operands, `mixed` its own widening, if any."""

    site: Site
    factors: tuple[Atom, Atom]
    mixed: Widening | None
    width: int
