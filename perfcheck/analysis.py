"""Everything a rule may ask about a traced program, computed once."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import cost, lowering, source
from .ancestry import last
from .causes import Group, group_causes
from .lineage import Flow
from .mirror import Mirror
from .nodes import Node
from .precision import width
from .program import Program, Site
from .report import Lowered, Matmul, Platform
from .roots import affected_products, find_roots
from .targets import Target


@dataclasses.dataclass(frozen=True)
class Analysis:
    """A program with its lineage. The properties are worked out when first asked for."""

    program: Program
    flow: Flow
    target: Target
    min_slowdown: float = 0.01
    compute_dtype: np.dtype | None = None

    @classmethod
    def of(
        cls, program: Program, target: Target, min_slowdown: float = 0.01, compute_dtype: np.dtype | None = None
    ) -> Analysis:
        """Analyse a program: one pass over its equations."""
        return cls(program, Flow(program), target, min_slowdown, compute_dtype)

    @functools.cached_property
    def groups(self) -> list[Group]:
        """The causes behind affected matmuls."""
        return group_causes(self.program, affected_products(self.program, self.mirror, self.flow.products))

    @functools.cached_property
    def mirror(self) -> Mirror:
        """The way from backward equations to the forward ones they transpose."""
        return Mirror(self.flow.root)

    def causes_of(self, uses: list[tuple[Site, list[Node]]]) -> list[Group]:
        """The causes behind sites that use widened values, given with the nodes of those values."""
        return group_causes(self.program, find_roots(self.program, self.mirror, uses))

    @functools.cached_property
    def sites(self) -> tuple[Site, ...]:
        """Every matmul of the program, in program order."""
        return tuple(self.flow.outline.sites(self.flow.root))

    @functools.cached_property
    def seconds(self) -> float:
        """Time predicted for all matmuls on the target."""
        return sum(self.price(site).seconds for site in self.sites)

    def tally(self, sites: Iterable[Site]) -> dict[tuple[str, str], int]:
        """FLOPs of matmul sites over all their turns, summed by (dtype they compute in, phase)."""
        totals: dict[tuple[str, str], int] = {}
        for site in sites:
            priced = self.price(site)
            key = priced.dtype, site.phase
            totals[key] = totals.get(key, 0) + priced.flops
        return totals

    def price(self, site: Site, narrow: np.dtype | None = None) -> cost.Price:
        """The price of a matmul on the target, worked out once an equation, number of turns and dtype."""
        key = id(site.eqn), site.frame.trips, narrow
        known = self._prices.get(key)
        if known is None:
            known = self._prices[key] = cost.price(site, self.target, narrow)
        return known

    @functools.cached_property
    def _prices(self) -> dict[Any, cost.Price]:
        return {}

    @functools.cached_property
    def _has_owners(self) -> bool:
        return any(leaf.module for leaf in self.program.inputs)

    def module_of(self, site: Site) -> str:
        """The module path of a matmul: the owner of the parameter it multiplies where that is known (nnx and Equinox leave
        no scopes of their own), else its scopes.
        """
        if self._has_owners:
            forward = self.mirror.forward(site) or site
            for atom in forward.eqn.invars[:2]:
                leaf = self.program.input_of(last(forward.frame, atom).atom)
                if leaf is not None and leaf.module:
                    return leaf.module
        return source.module_path(site.scopes())

    def list_matmuls(self) -> tuple[Matmul, ...]:
        """The public record of every matmul, in program order."""
        return self.describe(self.sites)

    @functools.cached_property
    def flops(self) -> dict[tuple[str, str], int]:
        """FLOPs of all matmuls by (dtype, phase)."""
        return self.tally(self.sites)

    @functools.cached_property
    def all_float64(self) -> bool:
        """Whether every float input is float64: then float64 is what the model asked for."""
        return bool(self._float_inputs) and all(width(aval.dtype) == 64 for aval in self._float_inputs)

    @property
    def _float_inputs(self) -> list[Any]:
        avals = self.program.jaxpr.in_avals
        return [aval for aval in avals if width(getattr(aval, "dtype", None))]

    def lowering(self, platform: Platform) -> tuple[Lowered, ...]:
        """Every affected matmul as a platform is asked to run it. Matmuls that lower alike are lowered once."""
        known: dict[Any, tuple[tuple[str, str], str]] = {}
        found = []
        for site in dict.fromkeys(reached.site for group in self.groups for reached in group.reached):
            eqn = site.eqn
            alike = (eqn.primitive.name, str(eqn.params), *(cost.array_text(atom.aval) for atom in eqn.invars))
            if alike not in known:
                known[alike] = lowering.multiplied(eqn, platform)
            operands, algorithm = known[alike]
            before = tuple(str(atom.aval.dtype) for atom in eqn.invars[:2])
            (matmul,) = self.describe([site])
            found.append(Lowered(matmul, platform, operands, operands != before, algorithm))
        return tuple(found)

    def describe(self, sites: Iterable[Site]) -> tuple[Matmul, ...]:
        """The public records of some matmuls."""
        return tuple(cost.describe(site, self.price(site), self.module_of(site)) for site in sites)
