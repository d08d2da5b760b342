"""From the backward pass to the forward equation it transposes.

Transposition keeps no link between the two, but it keeps the source information of every linear equation: a backward
equation has the frames of the forward one it mirrors. What a hand-written gradient computes mirrors nothing.

The dtype of a cotangent is that of the value it belongs to. So the lineage of a transposed cast is that of the forward
value which was cast, and the lineage of the cotangent in a transposed product is that of the forward product's result.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from jax.extend.core import Var

from . import source
from .bodies import bodies
from .nodes import Node, Product, Widening
from .precision import working_width
from .program import COTANGENT, Atom, Frame, Site, is_matmul

_Key = tuple[Any, ...]


class Mirror:
    """Finds forward equations by the frames of backward ones. The index is built when it is first asked for."""

    def __init__(self, root: Frame):
        self._root = root
        self._index: dict[_Key, list[Site]] | None = None
        self._found: dict[int, Site | None] = {}

    def product(self, product: Product) -> list[Node] | None:
        """Nodes behind a transposed product: those of its saved factor and of the forward product's result.

        None where the product is not a transposed one, or where its cotangent has another dtype than the forward result
        (a hand-written gradient that returned one): then the value itself is followed.
        """
        site = product.site
        if not _transposed(site):
            return None
        for cotangent in product.factors:
            forwards = self._forward_products(product, cotangent)
            if forwards:
                break
        else:
            return None
        nodes: list[Node] = []
        for atom in product.factors:
            if atom is cotangent:
                nodes.extend(node for forward in forwards if (node := forward.frame.node(forward.eqn.outvars[0])) is not None)
            elif (node := site.frame.node(atom)) is not None:
                nodes.append(node)
        return nodes

    def forward(self, site: Site) -> Site | None:
        """The forward product that a product of the backward pass transposes, or None."""
        if not _transposed(site):
            return None
        first, second = site.eqn.invars[:2]
        for cotangent in (first, second):
            found = self._forward_products(Product(site, (first, second), None, 0), cotangent)
            if found:
                return found[0]
        return None

    def widening(self, widening: Widening) -> list[Node] | None:
        """Nodes behind a widening that transposes a forward equation, or None if it transposes none."""
        site = widening.site
        if not _transposed(site):
            return None
        if widening.is_product:
            operands = tuple(site.eqn.invars[:2])
            return self.product(Product(site, operands, None, widening.width))  # type: ignore[arg-type]
        (out,) = site.eqn.outvars
        forwards = [
            forward
            for forward in self._candidates(site)
            if _same(forward.eqn.invars[0], out) and _same(forward.eqn.outvars[0], site.eqn.invars[0])
        ]
        if not forwards:
            return None
        return [node for forward in forwards if (node := forward.frame.node(forward.eqn.invars[0])) is not None]

    def _forward_products(self, product: Product, cotangent: Atom) -> list[Site]:
        """Forward products that `product` may transpose: the one it shares its saved factor with, where that tells."""
        frame = product.site.frame
        forwards = [forward for forward in self._candidates(product.site) if _same(cotangent, forward.eqn.outvars[0])]
        if not forwards or not _is_cotangent(frame, cotangent):
            return []
        saved = _origin(frame, next((atom for atom in product.factors if atom is not cotangent), cotangent))
        sharing = [
            forward for forward in forwards if any(_origin(forward.frame, atom) == saved for atom in forward.eqn.invars[:2])
        ]
        return sharing or forwards

    def _candidates(self, site: Site) -> list[Site]:
        if self._index is None:
            self._index = defaultdict(list)
            self._collect(self._root, self._index)
        name = site.eqn.primitive.name
        return self._index.get((name, *source.key(site))) or self._index.get((name, None, *_own_key(site.eqn)), [])

    def _collect(self, frame: Frame, index: dict[_Key, list[Site]]) -> None:
        """List every forward product and narrowing cast under its frames, and under its own frames alone."""
        for eqn in frame.jaxpr.eqns:
            if is_matmul(eqn) or _narrows(eqn):
                site = Site(frame, eqn)
                if site.phase == "forward" or site.recomputed:
                    index[eqn.primitive.name, *source.key(site)].append(site)
                    own = _own_key(eqn)
                    if own:
                        index[eqn.primitive.name, None, *own].append(site)
            elif eqn.params:
                for number, body in enumerate(bodies(eqn)):
                    self._collect(frame.child(eqn, body, number), index)


def _own_key(eqn: Any) -> tuple[tuple[int, int], ...]:
    return tuple((id(code), instruction) for code, instruction in source.own_positions(eqn))


def _narrows(eqn: Any) -> bool:
    if eqn.primitive.name != "convert_element_type":
        return False
    before, after = (working_width(atom.aval.dtype) for atom in (eqn.invars[0], eqn.outvars[0]))
    return 0 < after < before


def _transposed(site: Site) -> bool:
    return site.phase == "backward" and not site.recomputed


def _same(one: Atom, two: Atom) -> bool:
    """Whether two atoms hold arrays of one shape and dtype."""
    return one.aval.shape == two.aval.shape and one.aval.dtype == two.aval.dtype


def _is_cotangent(frame: Frame | None, atom: Atom) -> bool:
    """Whether a value was computed in the backward pass, rather than saved for it or computed again."""
    while frame is not None:
        if not isinstance(atom, Var):
            return True  # the seed of a gradient that the program takes itself
        maker = frame.maker(atom)
        if maker is not None:
            return maker.primitive.name == COTANGENT or _transposed(Site(frame, maker))
        outer = frame.operand(atom)
        if outer is None:
            return False
        atom, frame = outer, frame.parent
    return False


def _origin(frame: Frame, atom: Atom) -> tuple[Frame, Atom] | None:
    """Where a value was first held: through the borders of calls, outwards by operands and inwards by results."""
    while isinstance(atom, Var):
        maker = frame.maker(atom)
        if maker is None:
            outer = frame.operand(atom)
            if outer is None or frame.parent is None:
                return frame, atom
            frame, atom = frame.parent, outer
            continue
        inner = frame.result(maker, atom)
        if inner is None:
            return frame, atom
        frame, atom = inner
    return None
