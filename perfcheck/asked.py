"""Matmuls that are wider than the precision that was asked for, though nothing was widened: who was born wide, and where.

Each such product has a module path (its scopes, or the path of the parameter it multiplies). The paths form a tree; a module
below which every product is wide stands for all of them, and modules that differ only by a number stand for each other.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from typing import Any

import numpy as np

from .analysis import Analysis
from .causes import Birth, birthplace
from .precision import product_dtype, width
from .program import Site

_ORDER = ("parameter", "constant", "literal", "creation", "integer", "cast", "accumulation", "callback", "cotangent", "sample")
"""Which of two factors that were both born wide is named: one that is easier to make narrow comes first."""


@dataclasses.dataclass(frozen=True)
class WidePart:
    """Products of one module subtree that were born wide from one kind of thing.

    `module` is the deepest path that covers them; `pattern` says where below it they are, with * for numbers that differ.
    """

    kind: str
    module: str
    pattern: str
    sites: tuple[Site, ...]
    births: tuple[Birth, ...]


def wide_parts(analysis: Analysis, asked: np.dtype) -> list[WidePart]:
    """The parts of a program whose matmuls compute wider than `asked` and are not explained by a widening."""
    explained = {(id(reached.site.frame), id(reached.site.eqn)) for group in analysis.groups for reached in group.reached}
    wide, narrow = [], []
    for site in analysis.sites:
        dtype = product_dtype(tuple(site.eqn.invars[:2]), site.eqn.params.get("precision"))
        if width(dtype) <= width(asked):
            narrow.append(site)
        elif (id(site.frame), id(site.eqn)) not in explained:
            wide.append(site)
    if not wide:
        return []
    born = _Births(analysis)
    narrow_paths = {born.of(site)[0] for site in narrow}
    parts: dict[tuple[str, str], list[tuple[str, Site, Birth]]] = {}
    for site in wide:
        path, birth = born.of(site)
        top = _top(path, narrow_paths)
        parts.setdefault((birth.kind, re.sub(r"\d+", "*", top)), []).append((top, site, birth))
    return [_part(kind, pattern, members) for (kind, pattern), members in parts.items()]


def _top(path: str, narrow_paths: set[str]) -> str:
    """The shortest leading part of a path below which no product is narrow."""
    parts = path.split("/")
    for count in range(1, len(parts) + 1):
        head = "/".join(parts[:count])
        if not any(other == head or other.startswith(head + "/") for other in narrow_paths):
            return head
    return path


def _part(kind: str, pattern: str, members: list[tuple[str, Site, Birth]]) -> WidePart:
    tops = list(dict.fromkeys(top for top, _, _ in members))
    births = {birth.key: birth for _, _, birth in members}
    return WidePart(kind, _common(tops), pattern, tuple(site for _, site, _ in members), tuple(births.values()))


def _common(paths: list[str]) -> str:
    shared = paths[0].split("/")
    for path in paths[1:]:
        parts = path.split("/")
        length = next(
            (k for k, (one, two) in enumerate(zip(shared, parts, strict=False)) if one != two), min(len(shared), len(parts))
        )
        shared = shared[:length]
    return "/".join(shared)


class _Births:
    """For each product its module path and the wide thing it is to be blamed on, remembered by forward equation."""

    def __init__(self, analysis: Analysis):
        self.analysis = analysis
        self.known: dict[tuple[int, int], tuple[str, Birth]] = {}

    def of(self, site: Site) -> tuple[str, Birth]:
        forward = self.analysis.mirror.forward(site) or site
        key = id(forward.frame), id(forward.eqn)
        if key not in self.known:
            self.known[key] = self._look(forward)
        return self.known[key]

    def _look(self, site: Site) -> tuple[str, Birth]:
        births = [birthplace(self.analysis.program, site.frame, atom) for atom in site.eqn.invars[:2]]
        chosen = min(births, key=lambda birth: _ORDER.index(birth.kind) if birth.kind in _ORDER else len(_ORDER))
        leaf = next((birth.leaf for birth in births if birth.leaf is not None and birth.leaf.role == "parameter"), None)
        path = self.analysis.module_of(site)
        if not path and leaf is not None:
            path = _path_of(leaf.name)
        return path, chosen


def _path_of(name: str) -> str:
    """The path of the module that owns a leaf called `p['encoder'][0]['w']`: encoder/0."""
    parts = re.findall(r"\['([^']*)'\]|\[(\d+)\]|\.(\w+)", name)
    return "/".join(next(part for part in found if part) for found in parts[:-1])


def shares_by_module(parts: list[WidePart], flops: dict[Any, int]) -> list[tuple[str, float]]:
    """(module, share of all matmul FLOPs) of each part, the largest first."""
    from .cost import flops as count

    total = sum(flops.values())
    shares: Counter[str] = Counter()
    for part in parts:
        shares[part.pattern or part.module or "the model"] += sum(
            count(site.eqn) * (site.frame.trips or 1) for site in part.sites
        )
    return [(module, share / total) for module, share in shares.most_common()] if total else []
