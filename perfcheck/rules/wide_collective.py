"""wide-collective: a collective moves values that were widened on the way in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..analysis import Analysis
from ..causes import Group
from ..cost import array_text
from ..nodes import Join, Node, Widening
from ..precision import WIDTHS, atom_width
from ..program import Atom, Site, elements
from ..report import Finding, Impact

NAME = "wide-collective"
SUMMARY = "a collective moves values that were widened on the way in"
SINCE = "0.1"

_ALL_REDUCE = frozenset({"psum", "psum2", "psum_invariant", "pmax", "pmin", "unreduced_psum"})

_LOOKED_BACK = 256
"""Nodes of a value's lineage that are looked through for the widening of the value itself."""


def check(analysis: Analysis) -> Iterator[Finding]:
    """One finding a cause. A scalar, or a statistic of widened values, is no widened value itself and is silent."""
    uses = []
    for site in analysis.flow.collectives:
        nodes = [site.frame.node(atom) for atom in site.eqn.invars if _is_widened(site, atom)]
        if nodes:
            uses.append((site, nodes))
    for group in analysis.causes_of(uses):
        yield _finding(group)


def _is_widened(site: Site, atom: Atom) -> bool:
    """Whether a narrower form of just this value exists: one of its widenings has as many elements as it has."""
    node = site.frame.node(atom)
    size = elements(atom)
    if node is None or size <= 1:
        return False
    waiting: list[Node] = [node]
    for _ in range(_LOOKED_BACK):
        if not waiting:
            break
        node = waiting.pop()
        if type(node) is Join:
            waiting.extend(node.parents)
        elif type(node) is Widening and elements(node.operand) == size:
            return True
    return False


def _finding(group: Group) -> Finding:
    sites = [reached.site for reached in group.reached]
    narrow = group.roots[0].widening.operand.aval.dtype
    sent = sum(_wire_bytes(site, None) for site in sites)
    undone = sum(_wire_bytes(site, WIDTHS[narrow]) for site in sites)
    first = sites[0]
    shown = next(array_text(atom.aval) for atom in first.eqn.invars if atom_width(atom))
    count = len(sites)
    return Finding(
        rule=NAME,
        message=f"{count} collective{'s move' if count != 1 else ' moves'} {shown}{' and others' if count > 1 else ''} over "
        f"{', '.join(_axes(first))}: {_kilobytes(sent)} on the wire a device instead of {_kilobytes(undone)}",
        cause=group.cause,
        sites=(),
        phases=frozenset(site.phase for site in sites),
        impact=Impact(extra_bytes=sent - undone),
        fix=f"call {first.eqn.primitive.name.removesuffix('_invariant')} on the {narrow} values and widen what comes back; "
        "where the sum needs more precision than that, keep it",
        tip=f"tips.md#{NAME}",
    )


def _wire_bytes(site: Site, bits: int | None) -> int:
    """Bytes a device sends in all turns of a collective by the usual ring, with its values at `bits` or as they are.

    An all-reduce sends each byte 2 (n - 1) / n times over n devices, a gather n - 1 times its shard, the rest (n - 1) / n.
    """
    devices = _devices(site)
    total = 0.0
    for atom in site.eqn.invars:
        width = WIDTHS[getattr(atom.aval, "dtype", None)]
        if width:
            total += elements(atom) * (min(width, bits) if bits else width) / 8
    name = site.eqn.primitive.name
    if name in _ALL_REDUCE:
        factor = 2 * (devices - 1) / devices
    elif name.startswith("all_gather"):
        factor = devices - 1
    elif name == "ppermute":
        factor = 1
    else:
        factor = (devices - 1) / devices
    return round(total * factor * (site.frame.trips or 1))


def _devices(site: Site) -> int:
    """How many devices take part, from the collective's own size or the mesh of the `shard_map` around it; at least 2."""
    size = site.eqn.params.get("axis_size")
    if isinstance(size, int):
        return max(2, size)
    sizes = _axis_sizes(site)
    product = 1
    for axis in _axes(site):
        product *= sizes.get(axis, 1)
    return max(2, product)


def _axis_sizes(site: Site) -> dict[Any, int]:
    for frame in site.frame.path():
        mesh = None if frame.call is None else frame.call.params.get("mesh")
        if mesh is not None:
            return dict(mesh.shape)
    return {}


def _axes(site: Site) -> tuple[str, ...]:
    axes = site.eqn.params.get("axes", site.eqn.params.get("axis_name", ()))
    return tuple(map(str, axes if isinstance(axes, (tuple, list, frozenset)) else (axes,)))


def _kilobytes(count: int) -> str:
    return f"{count / 1024:.3g} KiB" if count < 2**20 else f"{count / 2**20:.3g} MiB"
