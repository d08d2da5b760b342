"""How values pass the borders of nested jaxprs: the only module that knows higher-order primitives."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import compat

Atom = Any
"""A `Var` or `Literal` of a jaxpr."""

Equation = Any
"""A `jax.extend.core.JaxprEqn`. Its abstract values have no public type that says they have a shape and a dtype."""


@dataclasses.dataclass(frozen=True, slots=True)
class Body:
    """One nested jaxpr of an equation, and how values pass its border.

    `operands` holds the caller's atom for each input of the jaxpr, None where it is unknown. `results` holds for each
    output of the jaxpr the position of the equation's output it becomes, or None. `carries` pairs the output of a loop
    body with the input it is on the next turn. `writes` pairs an input that is a reference with the equation's output
    that returns what was written to it. `trips` is how often the body runs: None where the program does not say.
    """

    held: Any
    operands: tuple[Atom | None, ...]
    results: tuple[int | None, ...]
    carries: tuple[tuple[int, int], ...] = ()
    writes: tuple[tuple[int, int], ...] = ()
    trips: int | None = 1


def bodies(eqn: Equation) -> tuple[Body, ...]:
    """The nested jaxprs of an equation. A primitive that is not known is taken to call each with its own operands."""
    held = [value for _, value in compat.nested_jaxprs(eqn.params)]
    if not held:
        return ()
    special = _BODIES.get(eqn.primitive.name)
    if special is not None:
        return special(eqn)
    return tuple(_plain_body(value, tuple(eqn.invars), len(eqn.outvars)) for value in held)


def _plain_body(value: Any, operands: tuple[Atom, ...], outputs: int, trips: int | None = 1) -> Body:
    jaxpr = compat.open_jaxpr(value)
    assert jaxpr is not None
    known = len(jaxpr.invars) == len(operands)
    paired = len(jaxpr.outvars) == outputs
    return Body(
        value,
        operands if known else (None,) * len(jaxpr.invars),
        tuple(range(outputs)) if paired else (None,) * len(jaxpr.outvars),
        trips=trips,
    )


def _scan_body(eqn: Equation) -> tuple[Body, ...]:
    consts, carry = compat.scan_split(eqn.params)
    body = _plain_body(eqn.params["jaxpr"], tuple(eqn.invars), len(eqn.outvars), eqn.params.get("length"))
    return (dataclasses.replace(body, carries=tuple((k, consts + k) for k in range(carry))),)


def _while_bodies(eqn: Equation) -> tuple[Body, ...]:
    params = eqn.params
    for_cond, for_body = params["cond_nconsts"], params["body_nconsts"]
    start = tuple(eqn.invars[for_cond + for_body :])
    body = _plain_body(params["body_jaxpr"], (*eqn.invars[for_cond : for_cond + for_body], *start), len(start), None)
    body = dataclasses.replace(body, carries=tuple((k, for_body + k) for k in range(len(start))))
    condition = _plain_body(params["cond_jaxpr"], (*eqn.invars[:for_cond], *start), 0, None)
    return body, dataclasses.replace(condition, results=(None,))


def _cond_bodies(eqn: Equation) -> tuple[Body, ...]:
    return tuple(_plain_body(branch, tuple(eqn.invars[1:]), len(eqn.outvars)) for branch in eqn.params["branches"])


def _pallas_bodies(eqn: Equation) -> tuple[Body, ...]:
    jaxpr = compat.open_jaxpr(eqn.params["jaxpr"])
    grid = eqn.params.get("grid_mapping")
    assert jaxpr is not None
    if grid is None:
        return (Body(eqn.params["jaxpr"], (None,) * len(jaxpr.invars), (None,) * len(jaxpr.outvars)),)
    first_output = grid.num_index_operands + grid.num_inputs
    operands = [eqn.invars[k] if k < min(first_output, len(eqn.invars)) else None for k in range(len(jaxpr.invars))]
    writes = tuple((first_output + k, k) for k in range(min(grid.num_outputs, len(eqn.outvars))))
    trips: int | None = 1
    for extent in getattr(grid, "grid", ()):
        trips = trips * extent if trips is not None and isinstance(extent, int) else None
    return (Body(eqn.params["jaxpr"], tuple(operands), (None,) * len(jaxpr.outvars), (), writes, trips),)


def _no_results(eqn: Equation) -> tuple[Body, ...]:
    """Bodies of a solver: products inside them are looked at, its results come from its own operands."""
    return tuple(
        Body(value, (None,) * len(jaxpr.invars), (None,) * len(jaxpr.outvars), trips=None)
        for _, value in compat.nested_jaxprs(eqn.params)
        if (jaxpr := compat.open_jaxpr(value)) is not None
    )


_BODIES = {
    "scan": _scan_body,
    "while": _while_bodies,
    "cond": _cond_bodies,
    "pallas_call": _pallas_bodies,
    "custom_linear_solve": _no_results,
}
