"""flax.linen modules: initialised abstractly, or applied to the variables the user has."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import jax

from ..report import CheckError
from .fields import DtypeField, dtype_fields
from .subject import (
    Options,
    Subject,
    argument,
    check_arity,
    keyed,
    keyword_argument,
    method_of,
    parameter_names,
    sample_arguments,
)


def accepts(model: Any) -> bool:
    """Whether the model is a linen module."""
    linen = sys.modules.get("flax.linen")
    return linen is not None and isinstance(model, linen.Module)


def adapt(model: Any, sample: tuple[Any, ...], keywords: dict[str, Any], options: Options) -> Subject:
    """`model.apply` on abstract variables. Collections other than the parameters may be updated, as in training."""
    bound = method_of(model, options.method)
    check_arity(bound, sample, keywords, type(model).__name__)
    names = parameter_names(bound, len(sample))
    arguments, merge = sample_arguments(sample, names, ("sample",) * len(sample))
    traced_keywords, merge_keywords = keyword_argument(keywords)
    streams = _streams(options.rngs)
    variables = options.variables
    call: dict[str, Any] = {} if options.method is None else {"method": options.method}

    if variables is None:

        def initialise(streams: Any, traced: Any, keywords: Any) -> Any:
            return model.init(streams, *merge(traced), **merge_keywords(keywords), **call)

        try:
            variables = jax.eval_shape(
                initialise, streams, tuple(argument.value for argument in arguments), traced_keywords.value
            )
        except Exception as error:
            raise CheckError(
                f"{type(model).__name__} cannot be initialised with this sample: {type(error).__name__}: {error}"
            ) from error
    elif not hasattr(variables, "items"):
        raise CheckError("variables= takes the dictionary that model.init returned, {'params': ...}")
    mutable = [name for name in variables if name != "params"]

    fields: dict[str, tuple[DtypeField, ...]] = {}

    def note_fields(following: Callable[..., Any], given: Any, options: Any, context: Any) -> Any:
        path = "/".join((type(model).__name__, *context.module.path))
        if path not in fields:
            fields[path] = dtype_fields(context.module)
        return following(*given, **options)

    def function(variables: Any, streams: Any, *values: Any) -> tuple[Any, Any]:
        given = merge(values[:-1])
        with sys.modules["flax.linen"].intercept_methods(note_fields):
            result = model.apply(variables, *given, rngs=streams, mutable=mutable, **merge_keywords(values[-1]), **call)
        return result if mutable else (result, ())

    return Subject(
        function,
        (
            argument(dict(variables), "parameter", keyed),
            argument(streams, "sample", lambda path: "rngs" + jax.tree_util.keystr(path)),
            *arguments,
            traced_keywords,
        ),
        type(model).__name__,
        tuple(range(2, 2 + len(sample))),
        model,
        fields,
    )


def _streams(rngs: Any) -> dict[str, Any]:
    """An abstract key for the streams that flax knows; a stream of another name falls back on `params`."""
    key = jax.eval_shape(jax.random.key, 0)
    streams = {"params": key, "dropout": key}
    if rngs is None:
        return streams
    if isinstance(rngs, (list, tuple, set, frozenset)) and all(isinstance(name, str) for name in rngs):
        return streams | dict.fromkeys(rngs, key)
    if isinstance(rngs, dict):
        return streams | rngs
    return streams | {"params": rngs}
