"""Haiku `transform` and `transform_with_state`: initialised abstractly, or applied to the parameters the user has."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import jax

from ..report import CheckError
from .fields import DtypeField, dtype_fields
from .subject import Options, Subject, argument, bracketed, keyword_argument, parameter_names, sample_arguments


def accepts(model: Any) -> bool:
    """Whether the model is a Haiku transformed function."""
    haiku = sys.modules.get("haiku")
    return haiku is not None and isinstance(model, (haiku.Transformed, haiku.TransformedWithState))


def adapt(model: Any, sample: tuple[Any, ...], keywords: dict[str, Any], options: Options) -> Subject:
    """`apply` on abstract parameters. `variables=` takes the parameters, or (parameters, state) with state."""
    options.refuse("a Haiku function", "method")
    haiku = sys.modules["haiku"]
    stateful = isinstance(model, haiku.TransformedWithState)
    names = parameter_names(model.apply, len(sample), start=3 if stateful else 2)
    arguments, merge = sample_arguments(sample, names, ("sample",) * len(sample))
    traced_keywords, merge_keywords = keyword_argument(keywords)
    key = jax.eval_shape(jax.random.PRNGKey, 0) if options.rngs is None else options.rngs
    variables = options.variables
    if variables is None:

        def initialise(key: Any, traced: Any, keywords: Any) -> Any:
            return model.init(key, *merge(traced), **merge_keywords(keywords))

        try:
            variables = jax.eval_shape(initialise, key, tuple(argument.value for argument in arguments), traced_keywords.value)
        except Exception as error:
            raise CheckError(
                f"the Haiku function cannot be initialised with this sample: {type(error).__name__}: {error}"
            ) from error
    params, state = _pair(variables, stateful)

    fields: dict[str, tuple[DtypeField, ...]] = {}

    def note_fields(following: Callable[..., Any], given: Any, options: Any, context: Any) -> Any:
        path = getattr(context.module, "module_name", "").replace("/~/", "/")  # none yet while it is being built
        if path and path not in fields:
            fields[path] = dtype_fields(context.module)
        return following(*given, **options)

    def function(params: Any, state: Any, key: Any, *values: Any) -> tuple[Any, Any]:
        with haiku.intercept_methods(note_fields):
            return apply(params, state, key, *values)

    def apply(params: Any, state: Any, key: Any, *values: Any) -> tuple[Any, Any]:
        given, options = merge(values[:-1]), merge_keywords(values[-1])
        if stateful:
            return model.apply(params, state, key, *given, **options)
        return model.apply(params, key, *given, **options), ()

    return Subject(
        function,
        (
            argument(params, "parameter", bracketed("params")),
            argument(state, "parameter", bracketed("state")),
            argument(key, "sample", bracketed("rng")),
            *arguments,
            traced_keywords,
        ),
        "haiku function",
        tuple(range(3, 3 + len(sample))),
        model,
        fields,
    )


def _pair(variables: Any, stateful: bool) -> tuple[Any, Any]:
    if not stateful:
        return variables, {}
    if not isinstance(variables, tuple) or len(variables) != 2:
        raise CheckError("variables= of a Haiku function with state takes (params, state)")
    return variables
