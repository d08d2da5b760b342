"""flax nnx modules, concrete or abstract: split into a graph and its state, merged again inside the trace."""

from __future__ import annotations

import sys
from typing import Any

from .fields import walk_fields
from .subject import (
    Options,
    Subject,
    argument,
    check_arity,
    dotted,
    keyword_argument,
    method_of,
    owner,
    parameter_names,
    sample_arguments,
)


def accepts(model: Any) -> bool:
    """Whether the model is an nnx module."""
    nnx = sys.modules.get("flax.nnx")
    return nnx is not None and isinstance(model, nnx.Module)


def adapt(model: Any, sample: tuple[Any, ...], keywords: dict[str, Any], options: Options) -> Subject:
    """The module as a function of its state. What the call writes to the state is kept but not differentiated."""
    nnx = sys.modules["flax.nnx"]
    options.refuse("an nnx module, which holds its own", "variables", "rngs")
    method = method_of(model, options.method)
    check_arity(method, sample, keywords, type(model).__name__)
    names = parameter_names(method, len(sample))
    arguments, merge = sample_arguments(sample, names, ("sample",) * len(sample))
    traced_keywords, merge_keywords = keyword_argument(keywords)
    graph, state = nnx.split(model)

    def function(state: Any, *values: Any) -> tuple[Any, Any]:
        merged = nnx.merge(graph, state)
        outputs = method_of(merged, options.method)(*merge(values[:-1]), **merge_keywords(values[-1]))
        return outputs, nnx.state(merged)

    return Subject(
        function,
        (argument(state, "parameter", dotted, owner), *arguments, traced_keywords),
        type(model).__name__,
        tuple(range(1, 1 + len(sample))),
        model,
        walk_fields(model, lambda value: isinstance(value, nnx.Module)),
    )
