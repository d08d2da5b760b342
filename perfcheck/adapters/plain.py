"""Any callable, jitted or not: its first argument holds the parameters, the others are the sample."""

from __future__ import annotations

import sys
from typing import Any

from ..program import Role
from .subject import (
    Options,
    Subject,
    argument,
    check_arity,
    dotted,
    keyword_argument,
    owner,
    parameter_names,
    sample_arguments,
)


def accepts(model: Any) -> bool:
    """Whether the model is a callable."""
    return callable(model)


def adapt(model: Any, sample: tuple[Any, ...], keywords: dict[str, Any], options: Options) -> Subject:
    """The callable itself; flax nnx modules among its arguments are split into their state and merged again inside."""
    options.refuse("a plain callable", "variables", "rngs", "method")
    check_arity(model, sample, keywords, _name(model))
    names = parameter_names(model, len(sample))
    roles: tuple[Role, ...] = tuple("sample" if k else "parameter" for k in range(len(sample)))
    graphs = {k: _split_graph(value) for k, value in enumerate(sample) if _is_graph(value)}
    arguments, merge = sample_arguments(tuple(() if k in graphs else value for k, value in enumerate(sample)), names, roles)
    for k, (_, state) in graphs.items():
        arguments[k] = argument(state, roles[k], lambda path, root=names[k]: f"{root}.{dotted(path)}", owner)
    traced_keywords, merge_keywords = keyword_argument(keywords)

    def function(*values: Any) -> tuple[Any, Any]:
        given = merge(tuple(() if k in graphs else value for k, value in enumerate(values[:-1])))
        for k, (graph, _) in graphs.items():
            given[k] = sys.modules["flax.nnx"].merge(graph, values[k])
        outputs = model(*given, **merge_keywords(values[-1]))
        return outputs, [sys.modules["flax.nnx"].state(given[k]) for k in graphs]

    return Subject(function, (*arguments, traced_keywords), _name(model), tuple(range(len(sample))), model)


def _name(model: Any) -> str:
    return getattr(model, "__name__", None) or type(model).__name__


def _is_graph(value: Any) -> bool:
    nnx = sys.modules.get("flax.nnx")
    if nnx is None:
        return False
    kinds = tuple(kind for name in ("Module", "Object", "Pytree") if isinstance(kind := getattr(nnx, name, None), type))
    return isinstance(value, kinds)


def _split_graph(value: Any) -> tuple[Any, Any]:
    return sys.modules["flax.nnx"].split(value)
