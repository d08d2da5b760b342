"""Which fields of a model's modules hold a dtype, whatever the field is called."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..precision import width


@dataclasses.dataclass(frozen=True)
class DtypeField:
    """One field of a module that holds a float dtype, or a field named `dtype` that holds None.

    `module` is the name of the module's class; `dtype` is None for None; `is_default` whether the class sets it so.
    """

    module: str
    name: str
    dtype: np.dtype | None
    is_default: bool


def dtype_of(value: Any) -> np.dtype | None:
    """The float dtype that a value names: a dtype, a scalar type or a name. None for anything else."""
    if isinstance(value, str):
        if not value.isidentifier():
            return None
    elif not isinstance(value, (np.dtype, type)) and type(value).__name__ not in ("_ScalarMeta", "_ScalarClass"):
        return None
    if value in (float, int, bool, complex, object, str):
        return None
    try:
        import jax.numpy as jnp

        found = jnp.dtype(value)
    except (TypeError, ValueError):
        return None
    return found if width(found) and found.kind != "c" else None


def dtype_fields(module: Any) -> tuple[DtypeField, ...]:
    """The dtype fields of one module instance: dataclass fields, else its plain attributes."""
    kind = type(module)
    defaults = {}
    if dataclasses.is_dataclass(module):
        defaults = {field.name: field.default for field in dataclasses.fields(module)}
        names = [name for name in defaults if name not in ("parent", "name")]
    else:
        names = [name for name in vars(module) if not name.startswith("_")]
    found = []
    for name in names:
        value = getattr(module, name, None)
        dtype = dtype_of(value)
        if dtype is not None or (value is None and name in ("dtype", "compute_dtype")):
            found.append(DtypeField(kind.__name__, name, dtype, name in defaults and defaults[name] is value))
    return tuple(found)


def walk_fields(module: Any, is_module: Any) -> dict[str, tuple[DtypeField, ...]]:
    """The dtype fields of a module and those below it, by path, for frameworks whose modules hold their children."""
    found: dict[str, tuple[DtypeField, ...]] = {}
    waiting: list[tuple[str, Any]] = [("", module)]
    seen: set[int] = set()
    while waiting:
        path, value = waiting.pop()
        if id(value) in seen or len(seen) > 100_000:
            continue
        seen.add(id(value))
        if is_module(value):
            fields = dtype_fields(value)
            if fields:
                found[path] = fields
            children = list(vars(value).items()) if hasattr(value, "__dict__") else []
        elif isinstance(value, dict):
            children = list(value.items())
        elif isinstance(value, (list, tuple)) or type(value).__name__ == "List":
            children = list(enumerate(value))
        else:
            continue
        waiting.extend((f"{path}/{name}".lstrip("/"), child) for name, child in children)
    return found
