"""Everything a rule may ask about a traced program, computed once."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable

from . import cost
from .causes import Group, group_causes
from .lineage import Flow
from .precision import width
from .program import Outline, Program, Site
from .report import Matmul
from .roots import find_roots


@dataclasses.dataclass(frozen=True)
class Analysis:
    """A program with its lineage. The properties are worked out when first asked for."""

    program: Program
    flow: Flow

    @classmethod
    def of(cls, program: Program) -> Analysis:
        """Analyse a program: one pass over its equations."""
        return cls(program, Flow(program))

    @functools.cached_property
    def groups(self) -> list[Group]:
        """The causes behind affected matmuls."""
        return group_causes(self.program, find_roots(self.flow))

    @functools.cached_property
    def sites(self) -> tuple[Site, ...]:
        """Every matmul of the program, in program order."""
        return tuple(Outline().sites(self.flow.root))

    @functools.cached_property
    def matmuls(self) -> tuple[Matmul, ...]:
        """The public record of every matmul, in program order."""
        return self.describe(self.sites)

    @functools.cached_property
    def widest_input(self) -> int:
        """Bits of the widest float input leaf, 0 if there is none."""
        return max((width(aval.dtype) for aval in self._float_inputs), default=0)

    @functools.cached_property
    def all_float64(self) -> bool:
        """Whether every float input is float64: then float64 is what the model asked for."""
        return bool(self._float_inputs) and all(width(aval.dtype) == 64 for aval in self._float_inputs)

    @property
    def _float_inputs(self) -> list:
        avals = self.program.jaxpr.in_avals
        return [aval for aval in avals if width(getattr(aval, "dtype", None))]

    @staticmethod
    def describe(sites: Iterable[Site]) -> tuple[Matmul, ...]:
        """The public records of some matmuls."""
        return tuple(map(cost.describe, sites))
