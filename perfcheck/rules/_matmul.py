"""What the two matmul rules share: a finding from a group of roots and the products it reaches."""

from __future__ import annotations

from ..analysis import Analysis
from ..causes import Group
from ..cost import price
from ..fixes import fix_for
from ..precision import width
from ..report import Finding, Impact, Note


def finding(rule: str, analysis: Analysis, group: Group) -> Finding:
    """The finding of one cause: which products run wide because of it, in which phases, and what to do."""
    sites = analysis.describe(reached.site for reached in group.reached)
    wide = max((site.dtype for site in sites), key=lambda dtype: (width(_dtype(dtype)), dtype))
    narrow = group.roots[0].widening.operand.aval.dtype
    return Finding(
        rule=rule,
        message=f"{len(sites)} matmul{'s run' if len(sites) != 1 else ' runs'} in {wide} for {narrow} values",
        cause=group.cause,
        sites=sites,
        phases=frozenset(site.phase for site in sites),
        impact=_impact(analysis, group, sum(site.flops for site in sites)),
        fix=fix_for(group),
        tip=f"tips.md#{rule}",
    )


def note_if_cheap(found: Finding, min_slowdown: float) -> Finding | Note:
    """The finding, or a note of it where undoing it is predicted to gain less than `min_slowdown` (a fraction)."""
    impact = found.impact
    if impact.slowdown - 1 >= min_slowdown:
        return found
    return Note(
        f"{found.rule}: {found.message}, {impact.share:.2%} of matmul FLOPs, predicted {impact.slowdown - 1:.2%} slower on "
        f"{impact.target}: {found.cause.description}",
        found.rule,
        found,
    )


def _impact(analysis: Analysis, group: Group, flops: int) -> Impact:
    """Price the affected products now and with their wide values as narrow as what they were made from."""
    narrow = group.roots[0].widening.operand.aval.dtype
    now = undone = 0.0
    extra = 0
    for reached in group.reached:
        site = reached.site
        before, after = price(site, analysis.target), price(site, analysis.target, narrow)
        now += before.seconds
        undone += after.seconds
        extra += before.bytes - after.bytes
    rest = max(0.0, analysis.seconds - now)
    total = sum(analysis.flops.values())
    return Impact(
        flops=flops,
        share=flops / total if total else 0.0,
        slowdown=(rest + now) / (rest + undone) if rest + undone else 1.0,
        extra_bytes=extra,
        target=analysis.target.name,
        at_least=any(reached.site.frame.trips is None for reached in group.reached),
    )


def _dtype(name: str):
    import jax.numpy as jnp

    return jnp.dtype(name)
