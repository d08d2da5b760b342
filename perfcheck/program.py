"""The traced program and the ways through it.

A `Program` is one closed jaxpr with a name for each input. A `Frame` is one jaxpr at one place in the call tree, and a
`Site` is one equation in a frame: the same jaxpr reached by two calls gives two frames, and so two sites.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal as Choice

from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Var

from . import compat
from .bodies import Atom as Atom, Body, Equation as Equation, bodies

Phase = Choice["forward", "backward"]

Role = Choice["parameter", "sample", "cotangent"]

MATMULS = frozenset(
    {
        "dot_general",
        "conv_general_dilated",
        "ragged_dot",
        "ragged_dot_general",
        "scaled_matmul",
        "scaled_dot",
    }
)
"""Names of the primitives that multiply two arrays on the matrix unit. Their first two operands are the factors."""

HOST_CALLBACKS = frozenset({"pure_callback", "io_callback", "debug_callback", "debug_print", "python_callback", "outside_call"})
"""Names of the primitives that call Python on the host while the program runs."""

CALLBACKS = HOST_CALLBACKS | {"ffi_call"}
"""Names of the primitives whose results come from outside the program."""

COLLECTIVES = frozenset(
    [
        "psum",
        "psum2",
        "psum_invariant",
        "pmax",
        "pmin",
        "all_gather",
        "all_gather_invariant",
        "all_gather_reduced",
        "reduce_scatter",
        "psum_scatter",
        "unreduced_psum",
        "unreduced_reduce_scatter",
        "all_to_all",
        "ragged_all_to_all",
        "ppermute",
        "pgather",
    ]
)
"""Names of the primitives that move values between devices."""

ALLOW_SCOPE = "perfcheck.allow:"
"""How the scopes that `perfcheck.allow` opens begin in a name stack."""

COTANGENT = "perfcheck_cotangent"
"""Name of the primitive that stands for the cotangent of its operand where the backward pass begins."""


@dataclasses.dataclass(frozen=True)
class Input:
    """One input of a program: a leaf of the arguments, under the name its user knows it by."""

    name: str
    role: Role
    module: str = ""


@dataclasses.dataclass(frozen=True)
class State:
    """A tree that goes in and may come out again: an argument, and an output of the same structure.

    `pairs` holds (position of the program's input, position of its output) for each leaf that is traced on both sides.
    """

    name: str
    pairs: tuple[tuple[int, int], ...]


@dataclasses.dataclass(frozen=True)
class Program:
    """A traced function, forward and backward in one jaxpr, with what is known of its inputs.

    `jaxpr` takes the leaves `inputs` describe, in order. `rules` are the custom gradients that the pullback held, as
    (equation, rule function) pairs. `vjp_error` says why there is no backward pass, or is None; `vjp_failed` whether
    that was an error and not just nothing to differentiate. `states` are the trees that the function takes and gives
    back. `function` is what the user passed, to name what it closes over; `fields` are the dtype fields of its modules by
    module path.
    """

    jaxpr: ClosedJaxpr
    inputs: tuple[Input, ...]
    rules: tuple[tuple[Any, Any], ...] = ()
    vjp_error: str | None = None
    vjp_failed: bool = False
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    states: tuple[State, ...] = ()
    function: Any = None
    fields: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)

    def input_of(self, atom: Atom) -> Input | None:
        """What is known of an input of the whole program, or None for any other atom."""
        jaxpr = compat.open_jaxpr(self.jaxpr)
        position = next((k for k, var in enumerate(jaxpr.invars) if var is atom), None) if jaxpr else None
        return self.inputs[position] if position is not None and position < len(self.inputs) else None

    def root(self) -> Frame:
        """The frame of the whole program."""
        return Frame(compat.open_jaxpr(self.jaxpr), compat.constants_of(self.jaxpr))  # type: ignore[arg-type]


class Frame:
    """One jaxpr at one place in the call tree. `parent` and `call` are None for the whole program."""

    __slots__ = (
        "_makers",
        "_positions",
        "body",
        "call",
        "children",
        "constants",
        "jaxpr",
        "nodes",
        "parent",
        "phase",
        "recomputed",
        "trips",
    )

    def __init__(
        self,
        jaxpr: Jaxpr,
        constants: tuple[Any, ...] = (),
        parent: Frame | None = None,
        call: Equation | None = None,
        body: Body | None = None,
    ):
        self.jaxpr = jaxpr
        self.constants = constants
        self.parent = parent
        self.call = call
        self.body = body
        self.nodes: dict[Var, Any] = {}
        self.children: dict[tuple[int, int], Frame] = {}
        self._makers: dict[Var, Equation] | None = None
        self._positions: dict[Var, int] | None = None
        if parent is None or call is None:
            self.phase: Phase | None = None
            self.recomputed = False
            self.trips: int | None = 1
        else:
            phase, recomputed = stack_phase(call)
            self.phase = parent.phase or phase
            self.recomputed = parent.recomputed or recomputed
            turns = body.trips if body else 1
            self.trips = None if turns is None or parent.trips is None else parent.trips * turns

    def enter(self, call: Equation, body: Body, index: int) -> Frame:
        """A new frame for the nested jaxpr that is number `index` of `call`, an equation of this frame."""
        jaxpr = compat.open_jaxpr(body.held)
        assert jaxpr is not None
        child = self.children[id(call), index] = Frame(jaxpr, compat.constants_of(body.held), self, call, body)
        return child

    def child(self, call: Equation, body: Body, index: int) -> Frame:
        """The frame that `enter` last gave for this body, or a new one that is not kept."""
        known = self.children.get((id(call), index))
        if known is not None:
            return known
        jaxpr = compat.open_jaxpr(body.held)
        assert jaxpr is not None
        return Frame(jaxpr, compat.constants_of(body.held), self, call, body)

    def node(self, atom: Atom) -> Any:
        """The lineage of an atom, as `lineage.Flow` left it here: None for a value without one, and for a literal."""
        return None if type(atom) is Literal else self.nodes.get(atom)

    def maker(self, var: Var) -> Equation | None:
        """The equation of this jaxpr that computes `var`, or None for an input or a constant."""
        if self._makers is None:
            self._makers = {out: eqn for eqn in self.jaxpr.eqns for out in eqn.outvars}
        return self._makers.get(var)

    def operand(self, var: Var) -> Atom | None:
        """The caller's atom that an input of this jaxpr stands for, or None where it is a constant or unknown."""
        if self._positions is None:
            self._positions = {var: k for k, var in enumerate(self.jaxpr.invars)}
        position = self._positions.get(var)
        return None if position is None or self.body is None else self.body.operands[position]

    def result(self, call: Equation, out: Var) -> tuple[Frame, Atom] | None:
        """The (frame, atom) inside a call of this frame that one of its outputs is, or None where no body says."""
        position = next((k for k, var in enumerate(call.outvars) if var is out), None)
        for index, body in enumerate(bodies(call)):
            child = self.child(call, body, index)
            for inner, target in enumerate(body.results):
                if target is not None and target == position:
                    return child, child.jaxpr.outvars[inner]
        return None

    def path(self) -> Iterator[Frame]:
        """This frame and those around it, innermost first."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.parent


@dataclasses.dataclass(frozen=True, slots=True)
class Site:
    """One equation at one place in the call tree."""

    frame: Frame
    eqn: Equation

    @property
    def phase(self) -> Phase:
        """`backward` if the outermost transform of the composed name stack is a transpose, else `forward`."""
        return self.frame.phase or stack_phase(self.eqn)[0] or "forward"

    @property
    def recomputed(self) -> bool:
        """Whether this is forward work done a second time in the backward pass."""
        return self.frame.recomputed or stack_phase(self.eqn)[1]

    def scopes(self) -> list[str]:
        """Names of the scopes around this site, outermost first, without those that JAX and `perfcheck.allow` add."""
        return [name for name in self._scopes() if name not in (compat.RECOMPUTED, "checkpoint") and not _allows(name)]

    def allowed(self) -> frozenset[str]:
        """The rules that a `perfcheck.allow` around this site lets pass."""
        return frozenset(name.removeprefix(ALLOW_SCOPE) for name in self._scopes() if _allows(name))

    def _scopes(self) -> list[str]:
        calls = [frame.call for frame in self.frame.path() if frame.call is not None]
        return [
            entry.name for eqn in (*reversed(calls), self.eqn) for entry in compat.scopes(eqn) if not compat.is_transform(entry)
        ]


def _allows(scope: str) -> bool:
    return scope.startswith(ALLOW_SCOPE)


def stack_phase(eqn: Equation) -> tuple[Phase | None, bool]:
    """(phase, recomputed) as the equation's own name stack says it; the phase is None where there is no transform."""
    phase: Phase | None = None
    recomputed = False
    for entry in compat.scopes(eqn):
        if compat.is_transform(entry):
            if phase is None:
                phase = "backward" if entry.name == "transpose" else "forward"
        elif entry.name == compat.RECOMPUTED:
            recomputed = True
    return phase, recomputed


def is_matmul(eqn: Equation) -> bool:
    """Whether an equation is a matmul in the sense of this package."""
    return eqn.primitive.name in MATMULS


def elements(atom: Atom) -> int:
    """How many elements the array of an atom has, a symbolic dimension counting as 1."""
    return math.prod(size if isinstance(size, int) else 1 for size in getattr(atom.aval, "shape", ()))


class Outline:
    """What of a program is a matmul or holds one, by jaxpr, so that large programs are listed cheaply.

    Whoever walks a jaxpr anyway may fill in its part with `begin`; what nobody walked is looked through when asked for.
    """

    def __init__(self) -> None:
        self._noted: dict[int, tuple[Jaxpr, list[tuple[Equation, tuple[Body, ...]]]]] = {}
        self._parts: dict[int, list[tuple[Equation, tuple[Body, ...]]]] = {}

    def begin(self, jaxpr: Jaxpr) -> list[tuple[Equation, tuple[Body, ...]]] | None:
        """A list for (matmul, no bodies) and (call, its bodies) in program order, to be filled by the caller; None where
        this jaxpr is known.
        """
        if id(jaxpr) in self._noted:
            return None
        return self._noted.setdefault(id(jaxpr), (jaxpr, []))[1]

    def parts(self, jaxpr: Jaxpr) -> list[tuple[Equation, tuple[Body, ...]]]:
        """The equations of `jaxpr` that are matmuls (with no bodies) or whose bodies hold some, in program order."""
        known = self._parts.get(id(jaxpr))
        if known is None:
            noted = self.begin(jaxpr)
            if noted is not None:
                for eqn in jaxpr.eqns:
                    inner = () if is_matmul(eqn) else bodies(eqn)
                    if inner or is_matmul(eqn):
                        noted.append((eqn, inner))
            known = self._parts[id(jaxpr)] = []
            for eqn, inner in self._noted[id(jaxpr)][1]:
                if not inner or any(self.parts(_opened(body)) for body in inner):
                    known.append((eqn, inner))
        return known

    def sites(self, frame: Frame) -> Iterator[Site]:
        """Every matmul below `frame`, in program order."""
        for eqn, inner in self.parts(frame.jaxpr):
            if not inner:
                yield Site(frame, eqn)
            for index, body in enumerate(inner):
                yield from self.sites(frame.child(eqn, body, index))


def _opened(body: Body) -> Jaxpr:
    jaxpr = compat.open_jaxpr(body.held)
    assert jaxpr is not None
    return jaxpr
