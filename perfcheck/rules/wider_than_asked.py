"""wider-than-asked: a matmul is wider than the precision that was asked for, though nothing was widened."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .. import source
from ..adapters.fields import DtypeField
from ..analysis import Analysis
from ..asked import WidePart, shares_by_module, wide_parts
from ..precision import product_dtype, width
from ..program import Site
from ..report import Cause, Finding, Note
from . import _matmul

NAME = "wider-than-asked"
SUMMARY = "a matmul is wider than the precision that was asked for, though nothing was widened"
SINCE = "0.1"


def check(analysis: Analysis) -> Iterator[Finding | Note]:
    """One finding a part of the model that was never narrow. Not asked, but the model says itself: one note."""
    asked = analysis.compute_dtype
    if asked is None:
        yield from _own_words(analysis)
        return
    widest = max((width(_dtype(site)) for site in analysis.sites), default=0)
    if analysis.sites and width(asked) > widest:
        yield Note(
            f"{NAME}: compute_dtype is {asked}, and nothing can be wider than that here: the widest matmul has {widest} bits"
        )
        return
    for part in wide_parts(analysis, asked):
        yield _matmul.note_if_cheap(_finding(analysis, part, asked), analysis.min_slowdown)


def _dtype(site: Site) -> np.dtype:
    return product_dtype(tuple(site.eqn.invars[:2]), site.eqn.params.get("precision"))


def _finding(analysis: Analysis, part: WidePart, asked: np.dtype) -> Finding:
    sites = analysis.describe(part.sites)
    wide = str(max((_dtype(site) for site in part.sites), key=width))
    meets, library = source.place(part.sites[0])
    first = part.births[0]
    leaves = tuple(
        dict.fromkeys(birth.leaf.name for birth in part.births if birth.leaf is not None and birth.kind == part.kind)
    )
    where = part.module or "the model"
    count = len(sites)
    impact = _matmul.impact(analysis, part.sites, asked)
    field = _field_words(analysis, part)
    more = f" and {len(leaves) - 1} more" if len(leaves) > 1 else ""
    inside = f", in {part.pattern}" if part.pattern not in (part.module, "") else ""
    return Finding(
        rule=NAME,
        message=f"{where}: {count} matmul{'s' if count != 1 else ''} in {wide}{inside}, {impact.share:.0%} of matmul FLOPs, "
        f"where {asked} was asked for",
        cause=Cause(
            kind=part.kind,
            dtype=wide,
            description=f"{first.description}{more} was born wide",
            location=first.location if first.location is not None else None,
            meets=meets,
            module=part.module,
            library=library,
            leaves=leaves,
            places=tuple(dict.fromkeys(site.location for site in sites if site.location is not None))[:16],
            allowed=frozenset.intersection(*(site.allowed for site in sites)),
        ),
        sites=sites,
        phases=frozenset(site.phase for site in sites),
        impact=impact,
        fix=f"{field}{_FIXES.get(part.kind, _FIXES['creation']).format(asked=asked, leaf=leaves[0] if leaves else 'it')}",
        tip=f"tips.md#{NAME}",
    )


_FIXES = {
    "parameter": "hand dtype=jnp.{asked} to that module, or cast its parameters and its input before the product",
    "constant": "make the constant jnp.{asked}, and narrow what it meets",
    "sample": "narrow {leaf} on entry: .astype(jnp.{asked})",
    "creation": "pass dtype=jnp.{asked} where it is made",
}


def _field_words(analysis: Analysis, part: WidePart) -> str:
    """Which field of a module on the path set the wide dtype, and a dtype in a field that is not meant for one."""
    said = []
    paths = {part.module, *(source.module_path(site.scopes()) for site in part.sites[:64]), *_owners(part)}
    for path in sorted(path for path in paths if path is not None):
        for found in _fields_on(analysis, path):
            words = _words_of(found, analysis.compute_dtype, part)
            if words and words not in said:
                said.append(words)
    return "; ".join(said[:3]) + ": " if said else ""


def _owners(part: WidePart) -> set[str]:
    return {birth.leaf.module for birth in part.births if birth.leaf is not None}


def _fields_on(analysis: Analysis, path: str) -> Iterator[tuple[DtypeField, ...]]:
    """The dtype fields of the modules on a path, innermost first."""
    parts = path.split("/")
    for count in range(len(parts), -1, -1):
        fields = analysis.program.fields.get("/".join(parts[:count]))
        if fields:
            yield fields


def _words_of(fields: tuple[DtypeField, ...], asked: np.dtype | None, part: WidePart) -> str:
    module = fields[0].module
    words, wide = [], False
    for field in fields:
        if field.name == "param_dtype":
            continue
        if field.dtype is None:
            leaf = next((birth.leaf.name for birth in part.births if birth.leaf is not None), None)
            words.append(f"{module}.{field.name} is None" + (" and its parameter is wide" if leaf else ""))
            wide = True
        elif asked is not None and width(field.dtype) > width(asked):
            words.append(f"{module}.{field.name} is {field.dtype}{' (default)' if field.is_default else ''}")
            wide = True
        elif "dtype" not in field.name and "type" not in field.name:
            words.append(f"its {field.name} field holds {field.dtype}")
    return ", ".join(words) if wide else ""


def _own_words(analysis: Analysis) -> Iterator[Note]:
    """A note where the model's own dtype is narrower than its matmuls."""
    fields = analysis.program.fields
    outer = min(fields, key=lambda path: path.count("/"), default=None) if fields else None
    if outer is None:
        return
    own = next(
        (field.dtype for field in fields[outer] if field.name in ("dtype", "compute_dtype") and field.dtype is not None), None
    )
    if own is None or width(own) >= 32:
        return
    wide = [site for site in analysis.sites if width(_dtype(site)) > width(own)]
    total = sum(analysis.flops.values())
    share = sum(analysis.tally(wide).values()) / total if total else 0
    if not wide or share < analysis.min_slowdown:
        return
    parts = shares_by_module(wide_parts(analysis, own), analysis.flops)
    named = ", ".join(f"{module} ({part:.0%})" for module, part in parts[:4])
    dtype = str(max((_dtype(site) for site in wide), key=width))
    yield Note(
        f"dtype is {own}, and {share:.0%} of matmul FLOPs run in {dtype}{': ' + named if named else ''}; "
        f'compute_dtype="{own}" makes that a finding',
        NAME,
    )
