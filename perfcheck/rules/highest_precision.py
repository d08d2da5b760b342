"""highest-precision: a matmul runs at HIGH or HIGHEST precision."""

from __future__ import annotations

from collections.abc import Iterator

import jax

from .. import source
from ..analysis import Analysis
from ..precision import asked_precision, atom_width
from ..program import Site
from ..report import Cause, Finding, Impact, Note
from ..targets import Target

NAME = "highest-precision"
SUMMARY = "a matmul runs at HIGH or HIGHEST precision"
SINCE = "0.1"


def check(analysis: Analysis) -> Iterator[Finding | Note]:
    """One note a line that asks for it, or one for the configuration; a finding where the values were narrower than 32 bits."""
    configured = str(getattr(jax.config, "jax_default_matmul_precision", None) or "").upper()
    asked: dict[object, list[Site]] = {}
    for site in analysis.sites:
        name = asked_precision(site.eqn.params.get("precision"))
        if name not in ("HIGH", "HIGHEST") or max(map(atom_width, site.eqn.invars[:2])) not in (16, 32):
            continue
        by_config = _means(configured, name)
        where = source.place(site)[0]
        key = "config" if by_config else (where.file, where.line) if where else id(site.eqn)
        asked.setdefault((name, key), []).append(site)
    affected = {(id(one.site.frame), id(one.site.eqn)) for group in analysis.groups for one in group.reached}
    for (name, key), sites in asked.items():  # type: ignore[misc]
        narrow = [
            site
            for site in sites
            if min(map(atom_width, site.eqn.invars[:2])) < 32 or (id(site.frame), id(site.eqn)) in affected
        ]
        found = _finding(analysis, name, sites, key == "config")
        if narrow:
            yield found
        else:
            yield Note(f"{NAME}: {found.message}: {found.cause.description}", NAME, found)


def _means(configured: str, name: str) -> bool:
    return configured in {"HIGH": ("HIGH", "TENSORFLOAT32", "BFLOAT16_3X"), "HIGHEST": ("HIGHEST", "FLOAT32")}[name]


def _finding(analysis: Analysis, name: str, sites: list[Site], by_config: bool) -> Finding:
    where, library = source.place(sites[0])
    described = analysis.describe(sites)
    total = sum(analysis.flops.values())
    flops = sum(matmul.flops for matmul in described)
    count = len(sites)
    asked = (
        "the configuration, jax_default_matmul_precision,"
        if by_config
        else "precision= of the product, or a context around it,"
    )
    return Finding(
        rule=NAME,
        message=f"{count} matmul{'s run' if count != 1 else ' runs'} at {name} precision, {_passes(name, analysis.target)}",
        cause=Cause(
            kind="cast",
            dtype="float32",
            description=f"{asked} asks for {name}",
            location=where,
            meets=where,
            module=described[0].module,
            library=library,
        ),
        sites=described,
        phases=frozenset(matmul.phase for matmul in described),
        impact=Impact(flops=flops, share=flops / total if total else 0.0),
        fix="leave the precision at its default, or ask for it only where the result needs it, with "
        "jax.default_matmul_precision(...) around that part",
        tip=f"tips.md#{NAME}",
    )


def _passes(name: str, target: Target) -> str:
    if target.kind == "tpu":
        return f"{'six' if name == 'HIGHEST' else 'three'} bfloat16 passes each on {target.name}"
    factor = target.rate("float32") / target.rate("float32", name)
    return (
        f"{factor:.1f} times slower than at default precision on {target.name}" if factor > 1 else f"no slower on {target.name}"
    )
