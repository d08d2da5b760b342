"""What differs between JAX versions, and the few things JAX has no public name for.

Each entry names the versions it is about, so that it can go when they do. Everything else in the package uses `jax` and
`jax.extend` alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr

JAX_FOLDER = os.path.dirname(os.path.abspath(jax.__file__ or "")) + os.sep

TRACE_BORDERS = frozenset({"trace_to_jaxpr", "trace_to_jaxpr_dynamic", "trace_to_subjaxpr_dynamic"})
"""Functions of JAX whose frames end the frames of one traced function. Up to 0.9.1 the frames of an equation in a cached
inner jaxpr run on into whoever traced it first; from 0.9.2 JAX cuts there itself."""

RECOMPUTED = "rematted_computation"
"""Scope of an equation that is computed a second time in the backward pass; the same in 0.5.3 to 0.12."""


def open_jaxpr(value: Any) -> Jaxpr | None:
    """The jaxpr that a parameter holds, or None. From 0.11 a closed jaxpr is a `Jaxpr` whose `.jaxpr` is itself."""
    if isinstance(value, ClosedJaxpr):
        return value.jaxpr
    return value if isinstance(value, Jaxpr) else None


def constants_of(value: Any) -> tuple[Any, ...]:
    """Arrays bound to the constvars of a parameter's jaxpr; none where it is open. From 0.11 all jaxprs have `consts`."""
    return tuple(getattr(value, "consts", ()))


def nested_jaxprs(params: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """(parameter name, jaxpr as held) for every jaxpr in an equation's parameters.

    A custom rule's thunks are never called. `call_hi_primitive` (0.12 with `jax_remat3`) keeps its jaxpr as an attribute
    of a parameter.
    """
    for name, value in params.items():
        if isinstance(value, (ClosedJaxpr, Jaxpr)):
            yield name, value
        elif isinstance(value, (tuple, list)):
            for item in value:
                if isinstance(item, (ClosedJaxpr, Jaxpr)):
                    yield name, item
        elif name == "_prim" and isinstance(getattr(value, "jaxpr", None), (ClosedJaxpr, Jaxpr)):
            yield name, value.jaxpr


def argument_names(closed: ClosedJaxpr) -> list[str | None]:
    """What a jaxpr's own debug information calls each input, such as "params['w']"; None where it does not say."""
    count = len(closed.jaxpr.invars)
    known = tuple(getattr(closed.jaxpr.debug_info, "arg_names", None) or ())[:count]
    return [*known, *[None] * (count - len(known))]


def scan_split(params: dict[str, Any]) -> tuple[int, int]:
    """How many constants and carries a `scan` has. From 0.11 `ft_in` says it, before that `num_consts` and `num_carry`."""
    if "ft_in" in params:
        consts, carry, _ = (len(group) for group in params["ft_in"].unpack())
        return consts, carry
    return params["num_consts"], params["num_carry"]


def is_reference(aval: Any) -> bool:
    """Whether an abstract value is a mutable reference, as in pallas kernels. No public class for it before 0.10."""
    return hasattr(aval, "inner_aval")


def scopes(eqn: Any) -> tuple[Any, ...]:
    """Scopes and transforms of an equation's name stack, outermost first. `str()` of the stack drops some before 0.7."""
    return eqn.source_info.name_stack.stack


def is_transform(entry: Any) -> bool:
    """Whether an entry of a name stack is a transformation. `Transform` and `Scope` have no public names."""
    return type(entry).__name__ == "Transform"


def raw_frames(eqn: Any) -> list[tuple[Any, int]]:
    """(code object, index of the last instruction) of the frames that made an equation, innermost first."""
    traceback = eqn.source_info.traceback
    if traceback is None:
        return []
    codes, instructions = traceback.raw_frames()
    return list(zip(codes, instructions, strict=True))


def backward_rules(pullback: Any) -> list[tuple[Any, Any]]:
    """(equation, rule function) of each custom gradient in a pullback that `jax.vjp` returned; empty where not found.

    The backward program itself does not say which rule an equation came from, in any version: its frames end at the
    call of the decorated function. The linear program that `jax.vjp` closes over does, as `custom_lin` equations with
    a `bwd` parameter, but has no public name, so it is looked for through plain attributes (0.5.3 to 0.12).
    """
    rules: list[tuple[Any, Any]] = []
    seen: set[int] = set()
    stack: list[tuple[Any, int]] = [(pullback, 0)]
    while stack:
        value, depth = stack.pop()
        if id(value) in seen or depth > 12:
            continue
        seen.add(id(value))
        jaxpr = open_jaxpr(value)
        if jaxpr is not None:
            for eqn in jaxpr.eqns:
                if "bwd" in eqn.params:
                    rules.append((eqn, _plain_function(eqn.params["bwd"])))
                stack.extend((inner, depth + 1) for _, inner in nested_jaxprs(eqn.params))
        else:
            stack.extend((part, depth + 1) for part in _parts(value))
    return rules


def _parts(value: Any) -> Iterator[Any]:
    """What an object holds that may be, or lead to, a jaxpr or a function: plain attributes and closures."""
    if isinstance(value, (list, tuple)):
        yield from value
        return
    for name in ("f", "func", "__wrapped__", "fun", "args", "jaxpr", "keywords"):
        part = getattr(value, name, None)
        if part is not None:
            yield part
    for cell in getattr(value, "__closure__", None) or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a cell that was never filled
            continue


def _plain_function(rule: Any) -> Any:
    """The user's function inside the wrappers JAX puts around a rule (`vmap` adds one), breadth first; else the rule."""
    waiting, seen = [rule], set()
    while waiting and len(seen) < 64:
        value = waiting.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        code = getattr(value, "__code__", None)
        if code is not None and not code.co_filename.startswith(JAX_FOLDER):
            return value
        if not isinstance(value, (jax.Array, str, bytes)):
            waiting.extend(_parts(value))
    return rule


def attached_device_kind() -> str | None:
    """`device_kind` of the first local device, or None where JAX has started no backend yet.

    Asking `jax.devices()` would start one, and on a GPU take its memory. Whether one runs has no public name
    (`xla_bridge.backends_are_initialized`, 0.5.3 to 0.12); without it the answer is None.
    """
    try:
        from jax._src import xla_bridge

        if not xla_bridge.backends_are_initialized():
            return None
        return jax.local_devices()[0].device_kind
    except (ImportError, AttributeError, RuntimeError, IndexError):
        return None
