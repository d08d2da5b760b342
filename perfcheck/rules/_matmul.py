"""What the two matmul rules share: a finding from a group of roots and the products it reaches."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..analysis import Analysis
from ..causes import Group
from ..fixes import fix_for
from ..precision import width
from ..program import Site
from ..report import Finding, Impact, Note


def finding(rule: str, analysis: Analysis, group: Group) -> Finding:
    """The finding of one cause: which products run wide because of it, in which phases, and what to do."""
    sites = analysis.describe(reached.site for reached in group.reached)
    wide = max((site.dtype for site in sites), key=lambda dtype: (width(np.dtype(dtype)), dtype))
    narrow = group.roots[0].widening.operand.aval.dtype
    return Finding(
        rule=rule,
        message=f"{len(sites)} matmul{'s run' if len(sites) != 1 else ' runs'} in {wide} for {narrow} values",
        cause=group.cause,
        sites=sites,
        phases=frozenset(site.phase for site in sites),
        impact=impact(analysis, (reached.site for reached in group.reached), narrow),
        fix=fix_for(group),
        tip=f"tips.md#{rule}",
    )


def note_if_cheap(found: Finding, min_slowdown: float) -> Finding | Note:
    """The finding, or a note of it where undoing it is predicted to gain less than `min_slowdown` (a fraction)."""
    cost = found.impact
    if cost.slowdown - 1 >= min_slowdown:
        return found
    return Note(
        f"{found.rule}: {found.message}, {cost.share:.2%} of matmul FLOPs, predicted {cost.slowdown - 1:.2%} slower on "
        f"{cost.target}: {found.cause.description}",
        found.rule,
        found,
    )


def impact(analysis: Analysis, sites: Iterable[Site], narrow: np.dtype) -> Impact:
    """Price products now and with their wide values as narrow as `narrow`."""
    now = undone = 0.0
    flops = extra = 0
    at_least = False
    for site in sites:
        before, after = analysis.price(site), analysis.price(site, narrow)
        now += before.seconds
        undone += after.seconds
        flops += before.flops
        extra += before.bytes - after.bytes
        at_least |= site.frame.trips is None
    rest = max(0.0, analysis.seconds - now)
    total = sum(analysis.flops.values())
    return Impact(
        flops=flops,
        share=flops / total if total else 0.0,
        slowdown=(rest + now) / (rest + undone) if rest + undone else 1.0,
        extra_bytes=extra,
        target=analysis.target.name,
        at_least=at_least,
    )
