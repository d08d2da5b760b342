"""What every adapter gives: a pure function, its named arguments, and how user values are split into arrays and the rest."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ..program import Role
from ..report import CheckError
from .fields import DtypeField


@dataclasses.dataclass(frozen=True)
class Options:
    """Reserved keywords of `performance_check` that say how a model is called."""

    variables: Any = None
    rngs: Any = None
    method: Any = None

    def refuse(self, kind: str, *names: str) -> None:
        """Raise `CheckError` if one of `names` was given for a model that takes none."""
        for name in names:
            if getattr(self, name) is not None:
                raise CheckError(f"{name}= is not for {kind}")


@dataclasses.dataclass(frozen=True)
class Argument:
    """One argument of a subject's function: a tree whose leaves are arrays, `ShapeDtypeStruct`s or Python scalars.

    `names` and `modules` hold one entry a leaf: what the user calls it, and the path of the module that owns it.
    """

    value: Any
    role: Role
    names: tuple[str, ...]
    modules: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Subject:
    """A model as a pure function: `function(*values)` returns (outputs, further arrays that are not differentiated).

    `positions` are the arguments that hold the user's own positional ones, in order; `source` is what the user passed.
    `fields` holds the dtype fields of its modules by module path; an adapter may fill it while the function is traced.
    """

    function: Callable[..., tuple[Any, Any]]
    arguments: tuple[Argument, ...]
    name: str
    positions: tuple[int, ...] = ()
    source: Any = None
    fields: dict[str, tuple[DtypeField, ...]] = dataclasses.field(default_factory=dict)


def argument(
    value: Any, role: Role, name: Callable[[tuple[Any, ...]], str], module: Callable[[tuple[Any, ...]], str] = lambda path: ""
) -> Argument:
    """An argument whose leaves are named from their key paths."""
    paths = [path for path, _ in jax.tree_util.tree_flatten_with_path(value)[0]]
    return Argument(value, role, tuple(map(name, paths)), tuple(map(module, paths)))


def bracketed(root: str) -> Callable[[tuple[Any, ...]], str]:
    """Names such as `root['layer']['w']`."""
    return lambda path: root + jax.tree_util.keystr(path)


def dotted(path: tuple[Any, ...]) -> str:
    """Names such as `layers.0.weight`, without the wrappers that frameworks put around leaves."""
    parts = [str(next((getattr(key, field) for field in ("name", "key", "idx") if hasattr(key, field)), key)) for key in path]
    return ".".join(part for part in parts if part not in ("value", "raw_value"))


def owner(path: tuple[Any, ...]) -> str:
    """Path of the module that owns a leaf, its parts joined by slashes."""
    return "/".join(dotted(path).split(".")[:-1])


def is_array(value: Any) -> bool:
    """Whether a leaf is an array or stands for one."""
    if isinstance(value, (jax.Array, np.ndarray, np.generic, jax.ShapeDtypeStruct)):
        return not (isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "OSUVmM" and not _is_extended(value))
    return hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, type)


def _is_extended(value: Any) -> bool:
    """Whether NumPy shows one of JAX's own dtypes (bfloat16, float8) as a void type."""
    return value.dtype.kind == "V" and value.dtype.names is None and value.dtype.type is not np.void


def is_traceable(value: Any) -> bool:
    """Whether a leaf is an array or a Python number."""
    return is_array(value) or isinstance(value, (bool, int, float, complex))


@dataclasses.dataclass(frozen=True)
class Split:
    """A user's value as a tree of traceable leaves and a way back: `merge(leaves tree)` gives the value again."""

    traced: Any
    merge: Callable[[Any], Any]


def split_positional(value: Any, name: str) -> Split:
    """Split a positional argument: numbers and arrays are traced, functions pass as they are, strings are an error."""
    lenient = _holds_equinox(value)

    def traced(leaf: Any) -> bool:
        if is_array(leaf) if lenient else is_traceable(leaf):
            return True
        if lenient or callable(leaf):
            return False
        raise CheckError(
            f"{name} holds a {type(leaf).__name__} ({str(leaf)[:40]!r}): pass arrays, jax.ShapeDtypeStruct, numbers or "
            "trees of them; an option of the model goes by keyword, name=value"
        )

    return _split(value, traced)


def split_keywords(keywords: dict[str, Any]) -> Split:
    """Split keyword arguments: arrays and `ShapeDtypeStruct`s are traced, everything else passes as it is."""
    return _split(keywords, is_array)


def _split(value: Any, traced: Callable[[Any], bool]) -> Split:
    leaves, tree = jax.tree_util.tree_flatten(value)
    marks = [traced(leaf) for leaf in leaves]
    if all(marks):
        return Split(value, lambda given: given)
    chosen = jax.tree_util.tree_unflatten(tree, [leaf if mark else None for leaf, mark in zip(leaves, marks, strict=True)])

    def merge(given: Any) -> Any:
        arrived = iter(jax.tree_util.tree_leaves(given))
        return jax.tree_util.tree_unflatten(
            tree, [next(arrived) if mark else leaf for leaf, mark in zip(leaves, marks, strict=True)]
        )

    return Split(chosen, merge)


def _holds_equinox(value: Any) -> bool:
    equinox = sys.modules.get("equinox")
    if equinox is None:
        return False
    leaves = jax.tree_util.tree_leaves(value, is_leaf=lambda node: isinstance(node, equinox.Module))
    return any(isinstance(leaf, equinox.Module) for leaf in leaves)


def sample_arguments(sample: tuple[Any, ...], names: tuple[str, ...], roles: tuple[Role, ...]) -> tuple[list[Argument], Any]:
    """The positional arguments as named arguments, and a function that turns traced values back into the user's."""
    splits = [split_positional(value, name) for value, name in zip(sample, names, strict=True)]
    arguments = [argument(split.traced, role, bracketed(name)) for split, name, role in zip(splits, names, roles, strict=True)]

    def merge(values: tuple[Any, ...]) -> list[Any]:
        return [split.merge(value) for split, value in zip(splits, values, strict=True)]

    return arguments, merge


def keyword_argument(keywords: dict[str, Any]) -> tuple[Argument, Callable[[Any], dict[str, Any]]]:
    """The keyword arguments as one argument named by its keys, and the way back."""
    split = split_keywords(keywords)
    return argument(split.traced, "sample", keyed), split.merge


def keyed(path: tuple[Any, ...]) -> str:
    """Names such as `params['layer']['w']` for leaves of a dictionary whose keys stand for names."""
    if not path:
        return ""
    return str(getattr(path[0], "key", path[0])) + jax.tree_util.keystr(_unwrapped(path[1:]))


def _unwrapped(path: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(key for key in path if getattr(key, "name", None) not in ("value", "raw_value"))


def parameter_names(function: Any, count: int, start: int = 0) -> tuple[str, ...]:
    """Names of the first `count` positional parameters of a callable, from number `start`; `args[k]` where unknown."""
    import inspect

    names: list[str] = []
    try:
        parameters = list(inspect.signature(function).parameters.values())[start:]
    except (TypeError, ValueError):
        parameters = []
    for parameter in parameters:
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            names.extend(f"{parameter.name}[{k}]" for k in range(count - len(names)))
    names.extend(f"args[{k}]" for k in range(len(names), count))
    return tuple(names[:count])


def check_arity(function: Any, sample: tuple[Any, ...], keywords: dict[str, Any], what: str) -> None:
    """Raise `CheckError` where a call with this sample cannot bind, saying what the signature takes."""
    import inspect

    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*sample, **keywords)
    except TypeError as error:
        raise CheckError(
            f"{what} cannot be called with {len(sample)} positional argument(s): {error}. "
            f"It takes {signature}; pass the sample as performance_check(model, *sample, **options)"
        ) from error


def method_of(model: Any, method: Any) -> Any:
    """The bound method of a module to call: `__call__`, one by its name, or a function that takes the module first."""
    if method is None:
        if not callable(model):
            raise CheckError(f"{type(model).__name__} has no __call__: pass method='name'")
        return model.__call__
    if isinstance(method, str):
        found = getattr(model, method, None)
        if found is None:
            raise CheckError(f"{type(model).__name__} has no method {method!r}: define it, or pass another method=")
        return found
    return method.__get__(model, type(model)) if hasattr(method, "__get__") else method
