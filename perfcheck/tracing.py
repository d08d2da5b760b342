"""A subject to a `Program`: forward pass and VJP in one jaxpr, from a single run of the user's Python.

Nothing is executed and nothing is allocated: arguments may be `ShapeDtypeStruct`s of any size. The backward pass is seeded
by a primitive of our own that takes an output and stands for its cotangent, so that a cotangent is tied to the value it
belongs to in the program itself.
"""

from __future__ import annotations

import fnmatch
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Primitive

from . import compat
from .adapters import Subject
from .precision import is_inexact, width
from .program import COTANGENT, Input, Program, State
from .report import CheckError
from .states import carried_states

Wanted = int | str | Sequence[int | str] | None
"""What `wrt` may be: positions of arguments, glob patterns over leaf names, or several of them."""

cotangent_p = Primitive(COTANGENT)
cotangent_p.def_abstract_eval(lambda primal: primal)


def trace(subject: Subject, *, vjp: bool = True, wrt: Wanted = None, axes: dict[str, int] | None = None) -> Program:
    """Trace a subject once.

    Raises `CheckError`, with the model's own exception as its cause, where the forward pass cannot be traced. A VJP that
    cannot be traced is told in the program's `vjp_error`.
    """
    start = time.perf_counter()
    values = [argument.value for argument in subject.arguments]
    leaves, tree = jax.tree_util.tree_flatten(values)
    inputs = _inputs(subject)
    chosen = _differentiated(subject, inputs, leaves, wrt) if vjp else []
    notes = _narrowed_samples(inputs, leaves)
    run = _Run(subject, tree, chosen)
    try:
        closed = _make_jaxpr(run.forward_and_backward if chosen else run.forward, leaves, axes)
    except Exception as error:
        if not chosen:
            raise _unusable(subject, error) from error
        return _forward_only(subject, tree, leaves, axes=axes, inputs=inputs, notes=notes, error=error, start=start)
    why = run.vjp_error
    if vjp and why is None and not run.differentiable:
        why = "no input is a float array" if not chosen else "no output is a float array"
    if run.failed_in_pullback:
        closed = _before_backward(closed)
    return Program(
        closed,
        inputs,
        tuple(run.rules),
        why,
        run.failed_in_pullback,
        notes,
        time.perf_counter() - start,
        _states(subject, run),
        subject.source,
        subject.fields,
    )


def program_of(jaxpr: ClosedJaxpr) -> Program:
    """A program from a jaxpr that was traced elsewhere. Raises `CheckError` for anything else."""
    if not isinstance(jaxpr, ClosedJaxpr) or compat.open_jaxpr(jaxpr) is None:
        raise CheckError(f"check_jaxpr takes a closed jaxpr, as jax.make_jaxpr(f)(*args) gives, not a {type(jaxpr).__name__}")
    names = [str(name) if name else "" for name in compat.argument_names(jaxpr)]
    names = [name or f"input {k}" for k, name in enumerate(names)]
    roots = [re.split(r"[.\[]", name)[0] for name in names]
    return Program(
        jaxpr,
        tuple(Input(name, "parameter" if root == roots[0] else "sample") for name, root in zip(names, roots, strict=True)),
    )


def _forward_only(
    subject: Subject,
    tree: Any,
    leaves: list[Any],
    *,
    axes: dict[str, int] | None,
    inputs: tuple[Input, ...],
    notes: tuple[str, ...],
    error: Exception,
    start: float,
) -> Program:
    """The program without its VJP, after tracing both raised `error`: the fault is the model's if this raises too."""
    try:
        run = _Run(subject, tree, [])
        closed = _make_jaxpr(run.forward, leaves, axes)
    except Exception as own:
        raise _unusable(subject, own) from own
    seconds = time.perf_counter() - start
    return Program(
        closed, inputs, (), _in_words(error), True, notes, seconds, _states(subject, run), subject.source, subject.fields
    )


class _Run:
    """One run of the user's Python, and what can only be learnt while it lasts."""

    def __init__(self, subject: Subject, tree: Any, chosen: list[int]):
        self.subject = subject
        self.tree = tree
        self.chosen = chosen
        self.rules: list[tuple[Any, Any]] = []
        self.vjp_error: str | None = None
        self.failed_in_pullback = False
        self.differentiable = False
        self.placed: list[Any] = []

    def forward(self, *leaves: Any) -> Any:
        outputs, further = self.subject.function(*jax.tree_util.tree_unflatten(self.tree, leaves))
        floats, others = _sort_outputs(outputs)
        kept = _arrays(further)
        self.placed = [
            _placed(outputs, [*floats, *others], 0),
            _placed(further, kept, len(floats) + len(others)),
        ]
        return floats, [*others, *kept]

    def forward_and_backward(self, *leaves: Any) -> Any:
        def of_chosen(*given: Any) -> Any:
            full = list(leaves)
            for position, value in zip(self.chosen, given, strict=True):
                full[position] = value
            return self.forward(*full)

        floats, pullback, others = jax.vjp(of_chosen, *(leaves[k] for k in self.chosen), has_aux=True)
        self.differentiable = bool(floats)
        if not floats:
            return floats, others, ()
        self.rules = compat.backward_rules(pullback)
        try:
            gradients = pullback([cotangent_p.bind(primal) for primal in floats])
        except Exception as error:
            self.vjp_error = _in_words(error)
            self.failed_in_pullback = True
            return floats, others, ()
        return floats, others, [gradient for gradient in gradients if is_inexact(getattr(gradient, "dtype", None))]


def _make_jaxpr(function: Callable[..., Any], leaves: list[Any], axes: dict[str, int] | None) -> ClosedJaxpr:
    def once(*given: Any) -> Any:  # a new function each time, so that no earlier trace is taken for this one
        return function(*given)

    return jax.make_jaxpr(once, axis_env=list(axes.items()) if axes else None)(*leaves)


def _before_backward(closed: ClosedJaxpr) -> Any:
    """The program up to its first cotangent: what a broken pullback had traced is left out."""
    jaxpr = compat.open_jaxpr(closed)
    assert jaxpr is not None
    end = next((k for k, eqn in enumerate(jaxpr.eqns) if eqn.primitive is cotangent_p), len(jaxpr.eqns))
    shorter = jaxpr.replace(eqns=jaxpr.eqns[:end])
    return shorter if closed is jaxpr else closed.replace(jaxpr=shorter)


def _sort_outputs(outputs: Any) -> tuple[list[Any], list[Any]]:
    arrays = _arrays(outputs)
    floats = [leaf for leaf in arrays if is_inexact(leaf.dtype)]
    return floats, [leaf for leaf in arrays if not is_inexact(leaf.dtype)]


def _arrays(tree: Any) -> list[Any]:
    return [leaf for leaf in jax.tree_util.tree_leaves(tree) if isinstance(leaf, (jax.Array, np.ndarray, np.generic))]


def _placed(tree: Any, arrays: list[Any], first: int) -> Any:
    """The tree with each leaf replaced by its position among the program's outputs, -1 for what is no array."""
    positions = {id(array): first + k for k, array in enumerate(arrays)}
    return jax.tree_util.tree_map(lambda leaf: positions.get(id(leaf), -1), tree)


def _states(subject: Subject, run: _Run) -> tuple[State, ...]:
    """The trees that a subject takes and gives back."""
    arguments, first = [], 0
    for argument in subject.arguments:
        arguments.append((argument.names[0] if argument.names else "", argument.value, first))
        first += len(argument.names)
    return carried_states(arguments, run.placed)


def _inputs(subject: Subject) -> tuple[Input, ...]:
    return tuple(
        Input(name or "input", argument.role, module)
        for argument in subject.arguments
        for name, module in zip(argument.names, argument.modules, strict=True)
    )


def _dtype(leaf: Any) -> Any:
    if isinstance(leaf, (bool, int)):
        return np.dtype(np.int32)
    if isinstance(leaf, (float, complex)):
        return np.dtype(np.float32)
    return leaf.dtype


def _differentiated(subject: Subject, inputs: tuple[Input, ...], leaves: list[Any], wrt: Wanted) -> list[int]:
    """Positions of the leaves to differentiate: all floats, or those that `wrt` names."""
    floats = [k for k, leaf in enumerate(leaves) if is_inexact(_dtype(leaf))]
    if wrt is None:
        return floats
    ends = np.cumsum([len(argument.names) for argument in subject.arguments]).tolist()
    chosen: set[int] = set()
    for item in [wrt] if isinstance(wrt, (int, str)) else wrt:
        if isinstance(item, str):
            pattern = re.compile(fnmatch.translate(item.replace("[", "[[]")))
            found = [k for k, leaf in enumerate(inputs) if pattern.match(leaf.name) or leaf.name.startswith(item)]
        elif -len(subject.positions) <= item < len(subject.positions):
            argument = subject.positions[item]
            found = list(range(ends[argument] - len(subject.arguments[argument].names), ends[argument]))
        else:
            raise CheckError(f"wrt={item}: there are {len(subject.positions)} positional arguments, counted from 0")
        kept = [k for k in found if k in set(floats)]
        if not kept:
            known = ", ".join(inputs[k].name for k in floats[:8])
            raise CheckError(f"wrt={item!r} names no float leaf; the first of them are {known}")
        chosen.update(kept)
    return sorted(chosen)


def _narrowed_samples(inputs: tuple[Input, ...], leaves: list[Any]) -> tuple[str, ...]:
    """A note where JAX narrows a float64 array of the sample without a word, because x64 is off."""
    if jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        return ()
    wide = [leaf.name for leaf, value in zip(inputs, leaves, strict=True) if width(getattr(value, "dtype", None)) == 64]
    if not wide:
        return ()
    return (f"{', '.join(wide[:4])}: float64 given, but x64 is off, so JAX makes it float32 (jax_enable_x64 keeps it)",)


_UNBOUND_AXIS = re.compile(r"unbound axis name:? '?(\w+)'?")


def _unusable(subject: Subject, error: Exception) -> CheckError:
    """The error a user should read when the model itself cannot be traced."""
    text = f"{subject.name} cannot be traced: {_in_words(error)}"
    axis = _UNBOUND_AXIS.search(str(error))
    if axis is not None:
        text += f'\nThe model uses the named axis "{axis[1]}": pass axes={{"{axis[1]}": its size}}'
    elif isinstance(error, (jax.errors.TracerBoolConversionError, jax.errors.ConcretizationTypeError)):
        text += "\nAn argument decides control flow: pass it by keyword (train=True), so that it is not traced"
    elif isinstance(error, jax.errors.UnexpectedTracerError):
        text += "\nThe model keeps a traced value beyond its call"
    return CheckError(text)


def _in_words(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:3])[:600]}" if lines else type(error).__name__
