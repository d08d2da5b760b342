"""From the lineage graph to roots: which widenings started it all, and which matmuls each of them reaches.

A widening whose demand (the value beside it that was already as wide) has a lineage of its own is a consequence of that
lineage. One without is a root. In a loop the first turn decides: what only arrives from the previous turn demands nothing.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from jax.extend.core import Literal

from . import source
from .lineage import Flow, Join, Node, Product, Widening
from .mirror import Mirror
from .program import Atom, Frame, Site


@dataclasses.dataclass(frozen=True)
class Root:
    """A widening that nothing else explains. `demand` is the (frame, atom) beside it that asked for it, if any."""

    widening: Widening
    demand: tuple[Frame, Atom] | None
    hand_written: bool = False

    @property
    def site(self) -> Site:
        return self.widening.site


@dataclasses.dataclass(frozen=True)
class Reached:
    """An affected matmul and the roots it is affected by."""

    product: Product
    roots: tuple[Root, ...]


def find_roots(flow: Flow) -> list[Reached]:
    """Every affected matmul of a program with its roots, in program order. Linear in the part of the graph behind them."""
    if not flow.products:
        return []
    return _Search(flow).reached()


class _Search:
    def __init__(self, flow: Flow):
        self.products = flow.products
        self.mirror = Mirror(flow.root)
        self.starts = [self._start(product) for product in flow.products]
        self.edges: dict[int, list[Node]] = {}
        self.candidates: dict[int, list[_Candidate]] = {}
        self.roots: list[Root] = []

    def reached(self) -> list[Reached]:
        """Number the roots, then flow their sets (as bits of an integer) from early nodes to late ones."""
        ordered = self._behind()
        bits: dict[int, int] = {}
        for node in ordered:
            bits[node.serial] = self._first_turn(node, bits)
        self._further_turns(ordered, bits)
        found = []
        for product, start in zip(self.products, self.starts, strict=True):
            mask = 0
            for node in start:
                mask |= bits[node.serial]
            if mask:
                found.append(Reached(product, tuple(self._named(mask))))
        return found

    def _named(self, mask: int) -> list[Root]:
        named = []
        while mask:
            low = mask & -mask
            named.append(self.roots[low.bit_length() - 1])
            mask ^= low
        return named

    def _start(self, product: Product) -> list[Node]:
        """Nodes that explain a product. In the backward pass a cotangent has the width of the value it belongs to, so a
        transposed product asks the forward product it mirrors."""
        frame = product.site.frame
        mirrored = self.mirror.product(product)
        if mirrored is not None:
            return mirrored
        nodes: list[Node] = [
            frame.nodes[atom] for atom in product.factors if type(atom) is not Literal and atom in frame.nodes
        ]
        return nodes if product.mixed is None else [*nodes, product.mixed]

    def _behind(self) -> list[Node]:
        """All nodes behind the affected products, oldest first."""
        stack = [node for start in self.starts for node in start]
        seen: dict[int, Node] = {}
        while stack:
            node = stack.pop()
            if node.serial in seen:
                continue
            seen[node.serial] = node
            if type(node) is Join:
                stack.extend(node.parents)
                stack.extend(node.back)
            else:
                stack.extend(self._before(node))
        return [seen[serial] for serial in sorted(seen)]

    def _before(self, widening: Widening) -> list[Node]:
        """Older nodes that may explain a widening: its mirror in the forward pass, or values it was brought together with."""
        mirrored = self.mirror.widening(widening)
        if mirrored is not None:
            self.edges[widening.serial] = mirrored
            return mirrored
        candidates = self.candidates[widening.serial] = _candidates(widening)
        return [candidate.node for candidate in candidates if candidate.node is not None]

    def _first_turn(self, node: Node, bits: dict[int, int]) -> int:
        """Roots behind a node when nothing has come round a loop yet; a widening without any becomes a root here."""
        if type(node) is Join:
            return _any(node.parents, bits)
        assert type(node) is Widening
        mirrored = self.edges.get(node.serial)
        if mirrored is not None:
            return _any(mirrored, bits)
        asked = not node.is_product and source.in_user_code(node.site)
        demand = None
        for candidate in self.candidates[node.serial]:
            before = 0 if candidate.node is None else bits.get(candidate.node.serial, 0)
            if before:
                self.edges[node.serial] = [candidate.node]  # type: ignore[list-item]
                return before
            if demand is None and (candidate.together or (not asked and not candidate.literal)):
                demand = (candidate.frame, candidate.atom)
        backward = node.site.phase == "backward" and not node.site.recomputed
        self.roots.append(Root(node, demand, hand_written=backward))
        return 1 << (len(self.roots) - 1)

    def _further_turns(self, ordered: list[Node], bits: dict[int, int]) -> None:
        """Let what comes round each loop join in, until nothing changes."""
        changed = any(type(node) is Join and node.back for node in ordered)
        while changed:
            changed = False
            for node in ordered:
                if type(node) is Join:
                    now = _any(node.parents, bits) | _any(node.back, bits)
                else:
                    now = _any(self.edges.get(node.serial, ()), bits)
                if now | bits[node.serial] != bits[node.serial]:
                    bits[node.serial] |= now
                    changed = True


def _any(nodes: Any, bits: dict[int, int]) -> int:
    mask = 0
    for node in nodes:
        mask |= bits.get(node.serial, 0)
    return mask


@dataclasses.dataclass(frozen=True, slots=True)
class _Candidate:
    """A value a widened one was brought together with: `together` if one expression wrote both, as promotion does."""

    frame: Frame
    atom: Atom
    node: Node | None
    together: bool
    literal: bool


def _candidates(widening: Widening) -> list[_Candidate]:
    """Values that may have demanded a widening, those of the same expression first, values computed from it left out."""
    if widening.beside is not None:
        frame = widening.site.frame
        node = frame.nodes.get(widening.beside) if type(widening.beside) is not Literal else None
        return [_Candidate(frame, widening.beside, node, True, False)]
    if not widening.meetings:
        return []
    here = source.expression(widening.site)
    found = []
    for frame, eqn, atom in widening.meetings:
        literal = type(atom) is Literal
        node = None if literal else frame.nodes.get(atom)
        if node is not None and node.serial > widening.serial:
            continue
        together = frame is widening.site.frame and here == source.expression(Site(frame, eqn))
        if literal and (not together or here is None):
            continue
        found.append(_Candidate(frame, atom, node, together, literal))
    return sorted(found, key=lambda candidate: not candidate.together)
