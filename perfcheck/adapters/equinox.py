"""Equinox modules: their arrays are traced, everything else in them stays as it is."""

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
    split_keywords,
)


def accepts(model: Any) -> bool:
    """Whether the model is an Equinox module that can be called."""
    equinox = sys.modules.get("equinox")
    return equinox is not None and isinstance(model, equinox.Module)


def adapt(model: Any, sample: tuple[Any, ...], keywords: dict[str, Any], options: Options) -> Subject:
    """The module as a function of its arrays."""
    options.refuse("an Equinox module, which holds its own", "variables", "rngs")
    method = method_of(model, options.method)
    check_arity(method, sample, keywords, type(model).__name__)
    names = parameter_names(method, len(sample))
    arguments, merge = sample_arguments(sample, names, ("sample",) * len(sample))
    traced_keywords, merge_keywords = keyword_argument(keywords)
    split = split_keywords({"": model})

    def function(leaves: Any, *values: Any) -> tuple[Any, Any]:
        merged = split.merge(leaves)[""]
        return method_of(merged, options.method)(*merge(values[:-1]), **merge_keywords(values[-1])), ()

    return Subject(
        function,
        (
            argument(split.traced, "parameter", lambda path: dotted(path[1:]), lambda path: owner(path[1:])),
            *arguments,
            traced_keywords,
        ),
        type(model).__name__,
        tuple(range(1, 1 + len(sample))),
        model,
        walk_fields(model, lambda value: isinstance(value, sys.modules["equinox"].Module)),
    )
