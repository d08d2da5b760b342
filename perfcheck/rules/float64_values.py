"""float64-values: float64 arithmetic that reaches no matmul, in a model whose inputs are not float64."""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis import Analysis
from ..causes import Group
from ..precision import WIDTHS
from ..program import Site, elements
from ..report import Finding, Impact, Note

NAME = "float64-values"
SUMMARY = "float64 arithmetic that nobody asked for, outside matmuls"
SINCE = "0.1"

LARGE = 1 << 20
"""Bytes of float64 values read and written in a step from which a cause is a finding."""


def check(analysis: Analysis) -> Iterator[Finding | Note]:
    """One finding a cause, weighed by the bytes its float64 arrays move; scalars are ignored."""
    if analysis.all_float64:
        return
    uses = []
    for site in analysis.flow.wide_values:
        if _moved(site):
            nodes = [node for out in site.eqn.outvars if (node := site.frame.node(out)) is not None]
            uses.append((site, nodes))
    reported = {root.widening.serial for group in analysis.groups for root in group.roots}
    for group in analysis.causes_of(uses):
        if reported.isdisjoint(root.widening.serial for root in group.roots):
            found = _finding(group)
            if found.impact.extra_bytes * 2 >= LARGE:
                yield found
            elif found.impact.extra_bytes:
                yield Note(f"{NAME}: {found.message}: {found.cause.description}", NAME, found)


def _moved(site: Site) -> int:
    """Bytes of the float64 arrays that an equation reads and writes in all turns."""
    return (site.frame.trips or 1) * sum(
        elements(atom) * atom.aval.dtype.itemsize
        for atom in (*site.eqn.invars, *site.eqn.outvars)
        if WIDTHS[getattr(atom.aval, "dtype", None)] == 64 and elements(atom) > 1
    )


def _finding(group: Group) -> Finding:
    sites = [reached.site for reached in group.reached]
    moved = sum(map(_moved, sites))
    narrow = str(group.roots[0].widening.operand.aval.dtype)
    return Finding(
        rule=NAME,
        message=f"{len(sites)} operations on float64 arrays move {moved / 2**20:.2f} MiB a step, for {narrow} values",
        cause=group.cause,
        sites=(),
        phases=frozenset(site.phase for site in sites),
        impact=Impact(extra_bytes=moved // 2),
        fix=f"pass dtype=jnp.{narrow} where the float64 value is made, or cast it before it meets {narrow}: "
        f"jnp.asarray(value, jnp.{narrow})",
        tip=f"tips.md#{NAME}",
    )
