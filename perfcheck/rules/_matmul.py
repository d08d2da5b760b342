"""What the two matmul rules share: a finding from a group of roots and the products it reaches."""

from __future__ import annotations

from ..analysis import Analysis
from ..causes import Group
from ..fixes import fix_for
from ..report import Finding, Impact


def finding(rule: str, analysis: Analysis, group: Group) -> Finding:
    """The finding of one cause: which products run wide because of it, in which phases, and what to do."""
    sites = analysis.describe(reached.product.site for reached in group.reached)
    narrow = str(group.roots[0].widening.operand.aval.dtype)
    count = len(sites)
    wide = max((site.dtype for site in sites), key=lambda dtype: (int("".join(filter(str.isdigit, dtype)) or 0), dtype))
    total = sum(matmul.flops for matmul in analysis.matmuls)
    flops = sum(site.flops for site in sites)
    return Finding(
        rule=rule,
        message=f"{count} matmul{'s run' if count > 1 else ' runs'} in {wide} for {narrow} values",
        cause=group.cause,
        sites=sites,
        phases=frozenset(site.phase for site in sites),
        impact=Impact(flops=flops, share=flops / total if total else 0.0),
        fix=fix_for(group),
        tip=f"tips.md#{rule}",
    )
