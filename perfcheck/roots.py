"""From the lineage graph to roots: which widenings started it all, and which matmuls each of them reaches.

A widening whose demand (the value beside it that was already as wide) has a lineage of its own is a consequence of that
lineage. One without is a root. In a loop the first turn decides: what only arrives from the previous turn demands nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from jax.extend.core import Literal, Var

from . import source
from .ancestry import way_back
from .mirror import Mirror
from .nodes import Join, Node, Product, Widening
from .order import strongly_connected
from .program import Atom, Frame, Program, Site, elements, is_matmul


@dataclasses.dataclass(frozen=True)
class Root:
    """A widening that nothing else explains. `demand` is the (frame, atom) beside it that asked for it, if any.

    `hand_written` marks one in a backward rule. `joins_stream` marks one that only brings a value up to the model's own
    stream of activations (the sample, or what wide matmuls computed from it): the stream is wide with and without it.
    """

    widening: Widening
    demand: tuple[Frame, Atom] | None
    hand_written: bool = False
    joins_stream: bool = False

    @property
    def site(self) -> Site:
        return self.widening.site


@dataclasses.dataclass(frozen=True)
class Reached:
    """A site that uses widened values, such as an affected matmul, and the roots it is affected by."""

    site: Site
    roots: tuple[Root, ...]


def product_nodes(product: Product, mirror: Mirror) -> list[Node]:
    """Nodes that explain a product. In the backward pass a cotangent has the width of the value it belongs to, so a
    transposed product asks the forward product it mirrors.
    """
    mirrored = mirror.product(product)
    if mirrored is not None:
        return mirrored
    nodes: list[Node] = [node for atom in product.factors if (node := product.site.frame.node(atom)) is not None]
    return nodes if product.mixed is None else [*nodes, product.mixed]


def affected_products(program: Program, mirror: Mirror, products: list[Product]) -> list[Reached]:
    """The affected matmuls among products with a widened or mixed factor, with their roots, in program order.

    A product of two factors that are wide anyway is not affected by what merely joined their stream on the way.
    """
    found = find_roots(program, mirror, [(product.site, product_nodes(product, mirror)) for product in products])
    direct = {_place(product.site) for product in products if _widens_a_factor(product)}

    def is_affected(reached: Reached) -> bool:
        if not all(root.joins_stream for root in reached.roots):
            return True
        forward = mirror.forward(reached.site)
        return _place(reached.site) in direct if forward is None else _place(forward) in direct

    return [reached for reached in found if is_affected(reached)]


def _place(site: Site) -> tuple[int, int]:
    return id(site.frame), id(site.eqn)


def _widens_a_factor(product: Product) -> bool:
    """Whether a factor was brought up just to be multiplied: unequal dtypes, or the converted value itself."""
    nodes = [product.site.frame.node(atom) for atom in product.factors]
    return product.mixed is not None or any(type(node) is Widening for node in nodes)


def find_roots(program: Program, mirror: Mirror, uses: list[tuple[Site, list[Node]]]) -> list[Reached]:
    """The sites of `uses` that have roots, with them. Linear in the part of the graph behind the nodes given."""
    return _Search(program, mirror, uses).reached() if uses else []


class _Search:
    def __init__(self, program: Program, mirror: Mirror, uses: list[tuple[Site, list[Node]]]):
        self.program = program
        self.mirror = mirror
        self.uses = uses
        self.edges: dict[int, list[Node]] = {}
        self.candidates: dict[int, list[_Candidate]] = {}
        self.roots: list[Root] = []

    def reached(self) -> list[Reached]:
        """Number the roots, and flow their sets (as bits of an integer) from each node to those it explains."""
        bits: dict[int, int] = {}
        ordered: list[Node] = []
        for cycle in self._behind():
            self._first_turn(cycle, bits)
            ordered.extend(cycle)
        self._further_turns(ordered, bits)
        masks = ((site, _any(start, bits)) for site, start in self.uses)
        return [Reached(site, tuple(self._named(mask))) for site, mask in masks if mask]

    def _named(self, mask: int) -> list[Root]:
        named = []
        while mask:
            low = mask & -mask
            named.append(self.roots[low.bit_length() - 1])
            mask ^= low
        return named

    def _behind(self) -> Iterator[list[Node]]:
        """All nodes behind the uses, each after those that may explain it, in cycles of mutual explanation.

        Values that were widened to meet each other explain each other: most cycles are one node, few are longer.
        """
        waiting = [node for _, start in self.uses for node in start]
        seen: set[int] = set()
        while waiting:
            node = waiting.pop()
            if node.serial not in seen:
                for cycle in strongly_connected(node, self._before, seen):
                    yield sorted(cycle, key=lambda node: node.serial)
                    waiting.extend(later for node in cycle if type(node) is Join for later in node.back)

    def _before(self, node: Node) -> list[Node]:
        """Nodes that may explain a node: what a join joins, the forward mirror of a widening, or what it met."""
        if type(node) is Join:
            return node.parents
        assert type(node) is Widening
        mirrored = self.mirror.widening(node)
        if mirrored is not None:
            self.edges[node.serial] = mirrored
            return mirrored
        candidates = self.candidates[node.serial] = _candidates(node)
        return [candidate.node for candidate in candidates if candidate.node is not None]

    def _first_turn(self, cycle: list[Node], bits: dict[int, int]) -> None:
        """Roots behind the nodes of a cycle when nothing has come round a loop yet.

        What is explained from outside the cycle is a consequence, and so is what that explains in turn. When nothing
        else is, the oldest widening left is a root; one of a parameter comes last, since weights are cast to match.
        """
        for node in cycle:
            bits[node.serial] = 0
        pending = [node for node in cycle if type(node) is Widening and node.serial not in self.edges]
        while True:
            changed = len(cycle) > 1
            while changed:
                changed = False
                for node in cycle:
                    changed |= self._update(node, bits)
            if len(cycle) == 1:
                self._update(cycle[0], bits)
            pending = [node for node in pending if node.serial not in self.edges and not bits[node.serial]]
            if not pending:
                return
            root = pending[0] if len(pending) == 1 else min(pending, key=lambda node: (self._of_parameter(node), node.serial))
            bits[root.serial] = self._new_root(root, cycle)
            if len(cycle) == 1:
                return

    def _of_parameter(self, widening: Widening) -> bool:
        frame: Frame | None = widening.site.frame
        atom = widening.operand
        while frame is not None and frame.parent is not None and isinstance(atom, Var):
            outer = frame.operand(atom)
            if outer is None:
                return False
            frame, atom = frame.parent, outer
        leaf = self.program.input_of(atom)
        return leaf is not None and leaf.role == "parameter"

    def _is_stream(self, frame: Frame, atom: Atom) -> bool:
        """Whether a value born wide is the sample, or was computed from it by wide matmuls."""
        step = None
        for step in way_back(frame, atom):
            if step.maker is not None and is_matmul(step.maker):
                return True
        leaf = None if step is None or step.maker is not None else self.program.input_of(step.atom)
        return leaf is not None and leaf.role == "sample"

    def _update(self, node: Node, bits: dict[int, int]) -> bool:
        """Join what is known behind a node by now; whether that is news."""
        if type(node) is Widening and node.serial not in self.edges and not bits[node.serial]:
            for candidate in self.candidates[node.serial]:
                if candidate.node is not None and bits.get(candidate.node.serial, 0):
                    self.edges[node.serial] = [candidate.node]
                    break
        before = node.parents if type(node) is Join else self.edges.get(node.serial, ())
        now = bits[node.serial] | _any(before, bits)
        news = now != bits[node.serial]
        bits[node.serial] = now
        return news

    def _new_root(self, widening: Widening, cycle: list[Node]) -> int:
        """Make a widening a root, with what it met that was born as wide for its demand; its bit."""
        derived = {node.serial for node in cycle}
        asked = not widening.is_product and source.in_user_code(widening.site)
        demand = None
        for candidate in self.candidates[widening.serial]:
            side = candidate.literal or (elements(candidate.atom) == 1 < elements(widening.operand))
            born_wide = candidate.together or not (asked or side)  # a scalar made to match asks for nothing
            if asked and not side and not candidate.together and self._is_stream(candidate.frame, candidate.atom):
                born_wide = True  # cast by hand to the dtype of the stream it joins
            if born_wide and demand is None and not (candidate.node is not None and candidate.node.serial in derived):
                demand = (candidate.frame, candidate.atom)
        joins = demand is not None and not widening.is_product and self._is_stream(*demand)
        self.roots.append(Root(widening, demand, _transposed(widening), joins))
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


def _transposed(widening: Widening) -> bool:
    return widening.site.phase == "backward" and not widening.site.recomputed


def _candidates(widening: Widening) -> list[_Candidate]:
    """Values that may have demanded a widening, those of the same expression first, values computed from it left out."""
    if widening.beside is not None:
        frame = widening.site.frame
        return [_Candidate(frame, widening.beside, frame.node(widening.beside), True, False)]
    if not widening.meetings:
        return []
    here = source.expression(widening.site)
    backward = widening.site.phase == "backward"
    found = []
    for frame, eqn, atom in widening.meetings:
        if not backward and (meeting := Site(frame, eqn)).phase == "backward" and not meeting.recomputed:
            continue  # a transposed use of a forward value asks for nothing
        literal = type(atom) is Literal
        node = frame.node(atom)
        if node is widening or (node is not None and node is widening.derived):
            continue
        together = frame is widening.site.frame and here == source.expression(Site(frame, eqn))
        if (literal or widening.is_product) and (not together or here is None):
            continue
        found.append(_Candidate(frame, atom, node, together, literal))
    return sorted(found, key=lambda candidate: not candidate.together)
