"""From a root to its kind, its birthplace and words; and from many roots to the causes a person would name."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from jax.extend.core import Var

from . import source
from .ancestry import way_back
from .precision import atom_width, width
from .program import CALLBACKS, Atom, Frame, Input, Program, Site, is_matmul
from .report import Cause, Location
from .roots import Reached, Root

_SPREAD = frozenset({"broadcast_in_dim", "pvary", "pcast", "copy"})
"""Primitives that JAX puts around a literal before it meets an array: what they give is still that literal."""

_COUNTED = frozenset({"iota", "random_bits", "threefry2x32", "rng_bit_generator", "random_wrap", "random_seed"})
"""Primitives that make integers from nothing: what is made of them in one expression is a creation."""


@dataclasses.dataclass(frozen=True)
class Birth:
    """Where a wide value first got its width.

    `key` is equal for two values born in the same place; `leaf` is the input's name where it is one.
    """

    kind: str
    description: str
    location: Location | None
    key: Any
    leaf: Input | None = None


@dataclasses.dataclass(frozen=True)
class Explained:
    """A root with everything a person wants to know of it."""

    root: Root
    kind: str
    dtype: str
    description: str
    location: Location | None
    meets: Location | None
    library: Location | None
    module: str
    keys: tuple[Any, ...]
    leaf: Input | None


@dataclasses.dataclass(frozen=True)
class Group:
    """Roots that are one cause, and the affected products of each, in program order."""

    cause: Cause
    roots: tuple[Root, ...]
    reached: tuple[Reached, ...]

    @property
    def width(self) -> int:
        return max(root.widening.width for root in self.roots)


def group_causes(program: Program, reached: list[Reached]) -> list[Group]:
    """The causes behind affected matmuls: roots of one kind that share a birthplace, a meeting place or a family are one."""
    explained: dict[int, Explained] = {}
    products: dict[int, list[int]] = {}
    for number, product in enumerate(reached):
        for root in product.roots:
            serial = root.widening.serial
            if serial not in explained:
                explained[serial] = explain(program, root)
            products.setdefault(serial, []).append(number)
    trees = _wide_subtrees(program, explained.values())
    sets = _Sets()
    for serial, one in explained.items():
        keys = [*one.keys, *((trees[one.leaf.name],) if one.leaf is not None and one.leaf.name in trees else ())]
        sets.add(serial, [(one.kind, one.root.widening.width, key) for key in keys])
    groups = []
    for members in sets.groups():
        parts = [explained[serial] for serial in members]
        affected = sorted({number for serial in members for number in products[serial]})
        ordered = tuple(reached[number] for number in affected)
        groups.append(Group(_merge(parts), tuple(part.root for part in parts), ordered))
    return groups


def explain(program: Program, root: Root) -> Explained:
    """Say what a root is: born where, of which kind, and what it meets."""
    site = root.site
    dtype = str(_spread_dtype(root))
    meets, library = source.place(site)
    module = source.module_path(site.scopes())
    place = None if meets is None else ("meets", meets.file, meets.line)
    if root.hand_written:
        return _hand_written(program, root, dtype, meets, library, module)
    if root.demand is not None:
        birth = birthplace(program, *root.demand, near=site)
        keys: list[Any] = [("born", birth.key)]
        if birth.leaf is not None:
            keys.append(("family", birth.leaf.role, re.sub(r"_?\d+", "", birth.leaf.name)))
        if place is not None:
            keys.append(place)
        description = f"{birth.description} meets {_converted(root)}"
        where = birth.location if birth.kind != "literal" else meets
        leaf_module = birth.leaf.module if birth.leaf is not None and birth.leaf.role == "parameter" else ""
        return Explained(
            root, birth.kind, dtype, description, where, meets, library, leaf_module or module, tuple(keys), birth.leaf
        )
    kind = "accumulation" if root.widening.is_product or _reduces(site) else "cast"
    wrote = meets.expression if meets else site.eqn.primitive.name
    if kind == "cast":
        description = f"cast of {_converted(root)} to {dtype} by `{wrote}`"
    else:
        description = f"{dtype} result of `{wrote}` for {_converted(root)}"
    keys = [place or ("site", id(site.eqn))]
    return Explained(root, kind, dtype, description, meets, meets, library, module, tuple(keys), None)


def _hand_written(
    program: Program, root: Root, dtype: str, meets: Location | None, library: Location | None, module: str
) -> Explained:
    """A root inside a backward rule: the rule has no frames of its own, so it is named by its function and its call."""
    rule = _rule_of(program, root.site)
    born = None if rule is None else source.function_location(rule)
    name = getattr(rule, "__name__", None)
    by = f"`{name}`, the backward rule of a custom gradient," if name else "the backward rule of a custom gradient"
    key = ("rule", born.file, born.line) if born else ("meets", meets and meets.file, meets and meets.line)
    description = f"{dtype} cotangent for {_converted(root)}: {by} computes wider than it was given"
    return Explained(root, "cotangent", dtype, description, born or meets, meets, library, module, (key,), None)


def _rule_of(program: Program, site: Site) -> Any:
    """The backward rule that made a site, by the frames that the rule's call and the site share."""
    here = source.key(site)
    best = None
    for eqn, function in program.rules:
        call = tuple((id(code), instruction) for code, instruction in source.own_positions(eqn))
        if call and call == here[: len(call)]:
            return function
        if call and call[0] in here:
            best = function
    return best


def birthplace(program: Program, frame: Frame, atom: Atom, near: Site | None = None) -> Birth:
    """Follow a wide value back to where it first got its width: a literal, a constant, an input leaf or an equation."""
    step = None
    for step in way_back(frame, atom):
        if step.is_last:
            break
    if step is None or not step.is_last:
        return Birth("creation", f"{_kind_of_array(atom.aval)} value", None, ("far", id(atom)))
    if step.maker is not None:
        wide = [operand for operand in step.maker.invars if atom_width(operand) == atom_width(step.atom)]
        return _equation_birth(Site(step.frame, step.maker), wide, near)
    if not isinstance(step.atom, Var):
        return _constant_birth(step.atom.val, step.atom.aval, step.atom)
    return _input_birth(program, step.frame, step.atom)


def _input_birth(program: Program, frame: Frame, atom: Var) -> Birth:
    """The birth of a constant of a jaxpr, of an input of the whole program, or of an input whose caller is unknown."""
    constants = dict(zip(frame.jaxpr.constvars, frame.constants, strict=False))
    if atom in constants:
        return _constant_birth(constants[atom], atom.aval, constants[atom])
    if frame.parent is not None:
        call = Site(frame.parent, frame.call)
        return Birth("creation", f"{_kind_of_array(atom.aval)} value", source.place(call)[0], ("call", id(frame.call)))
    leaf = program.input_of(atom)
    if leaf is None:
        return Birth("constant", f"{_kind_of_array(atom.aval)} constant", None, ("constvar", id(atom)))
    return Birth(leaf.role, f"{_kind_of_array(atom.aval)} {leaf.role} {leaf.name}", None, ("leaf", leaf.name), leaf)


def _constant_birth(value: Any, aval: Any, owner: Any) -> Birth:
    if not getattr(aval, "shape", ()):
        return Birth("literal", f"{aval.dtype} scalar {_short(value)}", None, ("literal", id(owner)))
    return Birth("constant", f"{_kind_of_array(aval)} constant", None, ("constant", id(value)))


def _equation_birth(site: Site, wide: list[Atom], near: Site | None) -> Birth:
    eqn = site.eqn
    name = eqn.primitive.name
    out = eqn.outvars[0].aval
    where = source.place(site)[0]
    wrote = f"`{where.expression}`" if where else name
    key = ("born", where.file, where.line) if where else ("site", id(eqn))
    floats = [operand for operand in eqn.invars if atom_width(operand)]
    if name in CALLBACKS:
        return Birth("callback", f"{_kind_of_array(out)} result of a host callback in {wrote}", where, key)
    if wide and name in _SPREAD and (not out.shape or (near is not None and _same_expression(site, near))):
        return _constant_birth(wide[0].val, wide[0].aval, eqn)
    if is_matmul(eqn):
        return Birth("accumulation", f"{out.dtype} result of {wrote}", where, key)
    if name == "convert_element_type" and floats and isinstance(floats[0], Var):
        return Birth("cast", f"cast to {out.dtype} by {wrote}", where, key)
    if name == "convert_element_type" and not floats and not _from_nothing(site):
        before = eqn.invars[0].aval
        return Birth("integer", f"{before.dtype}{_dims(before)} made {out.dtype} by {wrote}", where, key)
    return Birth("creation", f"{_kind_of_array(out)} made by {wrote}", where, key)


def _from_nothing(site: Site) -> bool:
    """Whether the integers that a site makes float were themselves made from nothing by the same expression."""
    here = source.place(site)[0]
    stack: list[tuple[Frame, Atom]] = [(site.frame, atom) for atom in site.eqn.invars]
    from_literals = True
    for _ in range(64):
        if not stack:
            break
        frame, atom = stack.pop()
        if not isinstance(atom, Var):
            continue
        maker = frame.maker(atom)
        if maker is None:
            outer = frame.operand(atom)
            if outer is None or frame.parent is None:
                from_literals = False
            else:
                stack.append((frame.parent, outer))
            continue
        if source.place(Site(frame, maker))[0] != here:
            from_literals = False
            continue
        if maker.primitive.name in _COUNTED:
            return True
        inside = frame.result(maker, atom)
        if inside is not None:
            stack.append(inside)
        else:
            stack.extend((frame, operand) for operand in maker.invars)
    return from_literals


def _same_expression(one: Site, two: Site) -> bool:
    return source.place(one)[0] == source.place(two)[0]


def _reduces(site: Site) -> bool:
    """Whether a cast is the `dtype=` of a reduction: the reduction is the next thing the same expression does with it."""
    (out,) = site.eqn.outvars[:1]
    for eqn in site.frame.jaxpr.eqns:
        if any(atom is out for atom in eqn.invars):
            return eqn.primitive.name.startswith(("reduce_", "cum")) and _same_expression(Site(site.frame, eqn), site)
    return False


def _spread_dtype(root: Root) -> Any:
    """The dtype that a root gives to what follows."""
    if root.widening.beside is not None:
        return root.widening.beside.aval.dtype
    return root.site.eqn.outvars[0].aval.dtype


def _converted(root: Root) -> str:
    return _kind_of_array(root.widening.operand.aval)


def _kind_of_array(aval: Any) -> str:
    return f"{aval.dtype}{_dims(aval)}"


def _dims(aval: Any) -> str:
    return f"[{','.join(str(size) for size in aval.shape)}]"


def _short(value: Any) -> str:
    try:
        return f"{np.asarray(value).item():.6g}"
    except (TypeError, ValueError):
        return "?"


def _wide_subtrees(program: Program, explained: Iterable[Explained]) -> dict[str, tuple[str, str]]:
    """For each parameter leaf that is a root, a key of the largest subtree around it of which every matrix is one.

    Then it is that tree which is wide, not one leaf of it. A subtree of one matrix says nothing new.
    """
    wide = {one.leaf.name for one in explained if one.leaf is not None and one.leaf.role == "parameter"}
    below: dict[str, list[str]] = {}
    for leaf, aval in zip(program.inputs, program.jaxpr.in_avals, strict=False):
        if leaf.role == "parameter" and len(getattr(aval, "shape", ())) > 1 and width(getattr(aval, "dtype", None)):
            for prefix in _prefixes(leaf.name):
                below.setdefault(prefix, []).append(leaf.name)
    found = {}
    for name in wide:
        whole = next((prefix for prefix in _prefixes(name) if wide.issuperset(below.get(prefix, [name + "?"]))), None)
        if whole is not None and len(below[whole]) > 1:
            found[name] = ("tree", whole)
    return found


def _prefixes(name: str) -> Iterator[str]:
    """The paths that lead to a leaf such as `p['a'][0]['w']` or `layers.0.weight`, the shortest first."""
    yield ""
    for border in re.finditer(r"[.\[]", name):
        yield name[: border.start()]


class _Sets:
    """Members joined by the keys they share, in order of first appearance."""

    def __init__(self) -> None:
        self._parent: dict[Any, Any] = {}
        self._members: list[int] = []

    def add(self, member: int, keys: list[Any]) -> None:
        self._members.append(member)
        for key in keys:
            self._parent[self._top(("key", key))] = self._top(member)

    def _top(self, item: Any) -> Any:
        while self._parent.get(item, item) != item:
            self._parent[item] = self._parent.get(self._parent[item], self._parent[item])
            item = self._parent[item]
        return item

    def groups(self) -> Iterator[list[int]]:
        found: dict[Any, list[int]] = {}
        for member in self._members:
            found.setdefault(self._top(member), []).append(member)
        yield from found.values()


def _merge(parts: list[Explained]) -> Cause:
    first = parts[0]
    leaves = tuple(dict.fromkeys(part.leaf.name for part in parts if part.leaf is not None))
    places = tuple(dict.fromkeys(part.meets for part in parts if part.meets is not None))
    description = first.description
    if len(leaves) > 1:
        description += f", and {len(leaves) - 1} more like it"
    return Cause(
        kind=first.kind,
        dtype=first.dtype,
        description=description,
        location=first.location,
        meets=first.meets,
        module=first.module,
        library=first.library,
        leaves=leaves,
        places=places,
        allowed=frozenset.intersection(*(part.root.site.allowed() for part in parts)),
    )
