"""Where every value of a program got its width: one pass over the equations, entering every nested jaxpr.

The lineage of a value is the set of widenings its present width comes from. Most values have none, and a deep model has
thousands of harmless widenings, so a set is never built here: a value that has a lineage holds one node of a graph whose
leaves are `Widening`s, and an equation adds at most one `Join` however many widenings lie behind it. `roots.py` reads
the graph, and only what lies behind a matmul.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterable, Iterator
from typing import Any

from jax.extend.core import Jaxpr, Literal, Var

from . import compat
from .nodes import Join, Node, Product, Widening
from .precision import WORKING_WIDTH, WORKING_WIDTHS, families_differ, product_dtype, working_width
from .program import (
    CALLBACKS,
    COLLECTIVES,
    COTANGENT,
    HOST_CALLBACKS,
    MATMULS,
    Atom,
    Body,
    Frame,
    Outline,
    Program,
    Site,
    bodies,
)

_KEEP = frozenset(
    [
        "broadcast_in_dim",
        "reshape",
        "transpose",
        "squeeze",
        "expand_dims",
        "copy",
        "copy_p",
        "slice",
        "rev",
        "sharding_constraint",
        "mesh_cast",
        "optimization_barrier",
        "reduce_precision",
        "stop_gradient",
        "pvary",
        "pcast",
    ]
)
"""Primitives that rearrange one value: what comes out is still the widened value itself."""

_SCALAR_COMBINERS = frozenset({"reduce", "reduce_window", "reduce_precision", "sort", "argsort"})
"""Primitives whose nested jaxpr combines scalars and holds no matmul: treated as plain equations."""

_BORN_ANEW = frozenset({"bitcast_convert_type", COTANGENT}) | CALLBACKS
"""Primitives whose float result is no wider form of their float operands."""

_MEETINGS_KEPT = 4


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Hold the cyclic collector while nodes are made: none of them is garbage, and each full collection would look through
    every object of the traced program again.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Flow:
    """The lineage of a whole program: nodes are left in its frames.

    On the way it notes `products` that may be affected, `collectives` of values with a lineage, host `callbacks`, and
    `wide_values`: equations that compute 64-bit floats which were widened. `frames` has one frame for each jaxpr.
    """

    def __init__(self, program: Program):
        self.products: list[Product] = []
        self.collectives: list[Site] = []
        self.callbacks: list[Site] = []
        self.wide_values: list[Site] = []
        self.frames: dict[int, Frame] = {}
        self.outline = Outline()
        self.equations = 0
        self._special = {
            **dict.fromkeys(MATMULS, self._matmul),
            **dict.fromkeys(COLLECTIVES, self._collective),
            **dict.fromkeys(HOST_CALLBACKS, self._callback),
        }
        self._serial = 0
        self._holds: dict[str, bool] = {}
        self._clean: dict[int, Jaxpr] = {}
        self.root = program.root()
        with _no_collection():
            self._walk(self.root)

    def _next(self) -> int:
        self._serial += 1
        return self._serial

    # -- one jaxpr ------------------------------------------------------------------------------------------------

    def _walk(self, frame: Frame) -> None:
        """Give every value of a frame its node. The common case, an equation that touches no lineage, comes first."""
        nodes, widths, holds, special = frame.nodes, WORKING_WIDTHS, self._holds, self._special
        get = nodes.get
        references = any(compat.is_reference(var.aval) for var in frame.jaxpr.invars)
        outline = self.outline.begin(frame.jaxpr)
        if outline is not None:
            self.equations += len(frame.jaxpr.eqns)
            self.frames[id(frame.jaxpr)] = frame
        for eqn in frame.jaxpr.eqns:
            name = eqn.primitive.name
            handler = special.get(name)
            if handler is not None and handler(frame, eqn):
                if outline is not None:
                    outline.append((eqn, ()))
                continue
            if eqn.params and (holds[name] if name in holds else self._may_hold(name, eqn)):
                inner = bodies(eqn)
                if inner:
                    if outline is not None:
                        outline.append((eqn, inner))
                    self._call(frame, eqn, inner)
                    continue
            for out in eqn.outvars:
                wide = widths[getattr(out.aval, "dtype", None)]
                if not wide:
                    continue
                touched = narrow = None
                converts = True
                for atom in eqn.invars:
                    bits = widths[getattr(atom.aval, "dtype", None)]
                    if bits == wide:
                        converts = False
                        if type(atom) is not Literal:
                            node = get(atom)
                            if node is not None:
                                touched = (atom, node) if touched is None else (*touched, atom, node)
                    elif bits > wide:
                        converts = False
                    elif bits and type(atom) is not Literal:
                        narrow = atom
                if touched is not None:
                    nodes[out] = self._join(frame, eqn, out, touched)
                    if wide == 64:
                        self.wide_values.append(Site(frame, eqn))
                elif converts and narrow is not None and name not in _BORN_ANEW:
                    site = Site(frame, eqn)
                    nodes[out] = Widening(self._next(), site, narrow, wide, False)
                    if wide == 64:
                        self.wide_values.append(site)
            if references:
                self._write(frame, eqn)

    def _may_hold(self, name: str, eqn: Any) -> bool:
        """Whether equations of this primitive can hold jaxprs, as the first one seen does."""
        if name.startswith("scatter") or name in _SCALAR_COMBINERS:
            held = False
        else:
            held = name == "call_hi_primitive" or next(compat.nested_jaxprs(eqn.params), None) is not None
        self._holds[name] = held
        return held

    def _join(self, frame: Frame, eqn: Any, out: Var, touched: tuple[Any, ...]) -> Node:
        """The node of an output from (atom, node) pairs of operands as wide, noting where a fresh widening meets one."""
        atoms, found = touched[::2], touched[1::2]
        if len(eqn.outvars) > 1 and len(eqn.outvars) == len(eqn.invars):  # one result an operand, as in a collective
            own = eqn.invars[next(k for k, var in enumerate(eqn.outvars) if var is out)]
            kept = [node for atom, node in zip(atoms, found, strict=True) if atom is own]
            return kept[0] if kept else self._union(found)
        if eqn.primitive.name in _KEEP:
            return found[0]
        for atom, node in zip(atoms, found, strict=True):
            if type(node) is Widening and node.beside is None:
                self._meet(frame, eqn, atom, node)
        return self._union(self._derive(node) for node in found)

    def _meet(self, frame: Frame, eqn: Any, atom: Atom, node: Widening) -> None:
        if len(node.meetings) < _MEETINGS_KEPT:
            for other in eqn.invars:
                if other is not atom and working_width(getattr(other.aval, "dtype", None)) >= node.width:
                    node.meetings.append((frame, eqn, other))
                    return

    def _derive(self, node: Node) -> Node:
        """What a value computed from a widened one holds: the same lineage, but no longer the converted value itself."""
        if type(node) is not Widening:
            return node
        if node.derived is None:
            node.derived = Join(self._next(), [node])
        return node.derived

    def _union(self, found: Iterable[Node]) -> Node:
        distinct = list(dict.fromkeys(found))
        return distinct[0] if len(distinct) == 1 else Join(self._next(), distinct)

    def _write(self, frame: Frame, eqn: Any) -> None:
        """A write to a reference (`swap`, `addupdate`) leaves the lineage of what was written in the reference."""
        for target in eqn.invars:
            if compat.is_reference(target.aval):
                wide = working_width(target.aval.dtype)
                written = [
                    node
                    for atom, node in self._pairs(frame, eqn.invars)
                    if working_width(getattr(atom.aval, "dtype", None)) == wide
                ]
                if written:
                    frame.nodes[target] = self._union(self._derive(node) for node in written)

    # -- matmuls --------------------------------------------------------------------------------------------------

    def _matmul(self, frame: Frame, eqn: Any) -> bool:
        """Note a product that may be affected and give its result a node. Always all there is to do: True."""
        self._multiply(frame, eqn)
        return True

    def _multiply(self, frame: Frame, eqn: Any) -> None:
        first, second = eqn.invars[:2]
        one, two = working_width(first.aval.dtype), working_width(second.aval.dtype)
        (out,) = eqn.outvars
        result = working_width(out.aval.dtype)
        found = self._pairs(frame, (first, second))
        mixed = None
        differ = families_differ(first, second)
        if not differ and not found and result <= max(one, two):
            return
        compute = working_width(product_dtype((first, second), eqn.params.get("precision")))
        if differ:
            narrow, wide = (first, second) if one <= two else (second, first)
            mixed = Widening(self._next(), Site(frame, eqn), narrow, max(compute, result), True, wide)
        if (found or mixed is not None) and compute > WORKING_WIDTH:
            self.products.append(Product(Site(frame, eqn), (first, second), mixed, compute))
        if not result:
            return
        if mixed is not None:
            if result >= max(one, two):
                frame.nodes[out] = mixed
            return
        if result > max(one, two) > 0:
            frame.nodes[out] = Widening(self._next(), Site(frame, eqn), first, result, True)
            return
        for atom, node in found:
            if type(node) is Widening and node.beside is None:
                self._meet(frame, eqn, atom, node)
        carried = [self._derive(node) for atom, node in found if working_width(atom.aval.dtype) == result]
        if carried:
            frame.nodes[out] = self._union(carried)

    def _pairs(self, frame: Frame, atoms: Iterable[Atom]) -> list[tuple[Atom, Node]]:
        return [(atom, node) for atom in atoms if (node := frame.node(atom)) is not None]

    # -- what other rules ask for -----------------------------------------------------------------------------------

    def _collective(self, frame: Frame, eqn: Any) -> bool:
        if self._pairs(frame, eqn.invars):
            self.collectives.append(Site(frame, eqn))
        return False

    def _callback(self, frame: Frame, eqn: Any) -> bool:
        self.callbacks.append(Site(frame, eqn))
        return False

    def _marks(self) -> tuple[int, ...]:
        return tuple(map(len, (self.products, self.collectives, self.callbacks, self.wide_values)))

    def _forget(self, marks: tuple[int, ...]) -> None:
        for noted, mark in zip((self.products, self.collectives, self.callbacks, self.wide_values), marks, strict=True):
            del noted[mark:]

    # -- nested jaxprs --------------------------------------------------------------------------------------------

    def _call(self, frame: Frame, eqn: Any, inner: tuple[Body, ...]) -> None:
        """Walk the bodies of an equation with its operands' nodes and give its results theirs."""
        arriving = [node for _, node in self._pairs(frame, eqn.invars)]
        if not arriving and all(id(compat.open_jaxpr(body.held)) in self._clean for body in inner):
            return
        leaving: dict[Var, list[Node]] = {}
        mapped = False
        for index, body in enumerate(inner):
            child = self._enter(frame, eqn, index, body, arriving)
            outputs = child.jaxpr.outvars
            for position, target in enumerate(body.results):
                if target is not None:
                    mapped = True
                    node = child.node(outputs[position])
                    if node is not None:
                        leaving.setdefault(eqn.outvars[target], []).append(node)
            for written, target in body.writes:
                mapped = True
                node = child.nodes.get(child.jaxpr.invars[written])
                if node is not None:
                    leaving.setdefault(eqn.outvars[target], []).append(node)
            self._return_references(frame, child, body)
        if not mapped and arriving and eqn.outvars:
            for out in eqn.outvars:
                wide = working_width(getattr(out.aval, "dtype", None))
                same = [
                    node for atom, node in self._pairs(frame, eqn.invars) if wide and working_width(atom.aval.dtype) == wide
                ]
                if same:
                    leaving[out] = [self._derive(node) for node in same]
        for out, found in leaving.items():
            frame.nodes[out] = self._union(found)

    def _return_references(self, frame: Frame, child: Frame, body: Body) -> None:
        for var, operand in zip(child.jaxpr.invars, body.operands, strict=False):
            if type(operand) is Var and compat.is_reference(var.aval) and var in child.nodes:
                frame.nodes[operand] = child.nodes[var]

    def _enter(self, frame: Frame, eqn: Any, index: int, body: Body, arriving: list[Node]) -> Frame:
        """Walk one body; a loop whose carry gains a lineage is walked once more with that lineage on its way in."""
        marks = self._marks()
        child = self._admit(frame, eqn, index, body, arriving)
        given = dict(child.nodes)
        self._walk(child)
        if self._gained(child, body, given):
            self._forget(marks)
            child = self._admit(frame, eqn, index, body, arriving)
            loops = []
            for output, position in body.carries:
                var = child.jaxpr.invars[position]
                if working_width(getattr(var.aval, "dtype", None)):
                    loop = Join(self._next(), [child.nodes[var]] if var in child.nodes else [])
                    child.nodes[var] = loop
                    loops.append((loop, child.jaxpr.outvars[output]))
            self._walk(child)
            for loop, out in loops:
                node = child.node(out)
                if node is not None and node is not loop:
                    loop.back.append(node)
        elif not given and self._marks() == marks and self._leaves_no_trace(child):
            self._clean[id(child.jaxpr)] = child.jaxpr
        return child

    def _admit(self, frame: Frame, eqn: Any, index: int, body: Body, arriving: list[Node]) -> Frame:
        child = frame.enter(eqn, body, index)
        for var, operand in zip(child.jaxpr.invars, body.operands, strict=True):
            if operand is None:
                if arriving and working_width(getattr(var.aval, "dtype", None)):
                    child.nodes[var] = self._union(self._derive(node) for node in arriving)
            elif (node := frame.node(operand)) is not None:
                child.nodes[var] = node
        return child

    def _gained(self, child: Frame, body: Body, given: dict[Var, Node]) -> bool:
        for output, position in body.carries:
            out = child.jaxpr.outvars[output]
            node = child.node(out)
            if node is not None and node is not given.get(child.jaxpr.invars[position]):
                return True
        return False

    def _leaves_no_trace(self, child: Frame) -> bool:
        return not any(compat.is_reference(var.aval) for var in child.jaxpr.invars) and not any(
            child.node(out) is not None for out in child.jaxpr.outvars
        )
