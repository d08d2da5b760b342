"""What a model may be, turned into a function and its arguments: one module a framework.

No framework is imported here: a model of one can only exist if its user imported it already.
"""

from __future__ import annotations

from typing import Any

from ..report import CheckError
from . import equinox, haiku, linen, nnx, plain
from .subject import Argument as Argument, Options as Options, Subject as Subject

_ADAPTERS = (linen, nnx, haiku, equinox, plain)


def adapt(model: Any, sample: tuple[Any, ...], keywords: dict[str, Any], options: Options) -> Subject:
    """The subject of an audit, from what a user passed.

    Raises `CheckError` for a class in place of an instance, and for what is no model at all.
    """
    if isinstance(model, type):
        raise CheckError(f"{model.__name__} is a class: pass an instance, {model.__name__}(...)")
    for adapter in _ADAPTERS:
        if adapter.accepts(model):
            return adapter.adapt(model, sample, keywords, options)
    raise CheckError(
        f"cannot audit a {type(model).__name__}: pass a flax.linen, nnx or Equinox module, a Haiku Transformed, "
        "or any callable with its arguments (parameters first)"
    )
