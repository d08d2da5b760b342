"""What to type: a concrete fix for each kind of cause."""

from __future__ import annotations

import re

from .causes import Group
from .report import Cause


def fix_for(group: Group) -> str:
    """One or two sentences that say what to change for a cause."""
    return _FIXES[group.cause.kind](group.cause, _narrow(group))


def _narrow(group: Group) -> str:
    """The dtype of the value that was widened."""
    return str(group.roots[0].widening.operand.aval.dtype)


def _literal(cause: Cause, narrow: str) -> str:
    number = re.search(r"scalar (\S+)", cause.description)
    written = number[1] if number else "0.5"
    return f"write the Python number {written}: it is weakly typed and keeps {narrow}"


def _constant(cause: Cause, narrow: str) -> str:
    return f"make the constant {narrow} where it is built, or cast it where it is used: constant.astype(x.dtype)"


def _parameter(cause: Cause, narrow: str) -> str:
    leaf = cause.leaves[0] if cause.leaves else "the parameter"
    more = f" and {len(cause.leaves) - 1} more" if len(cause.leaves) > 1 else ""
    where = f"pass dtype=jnp.{narrow} to the module that uses it, or cast it before the product"
    return f"{leaf}{more} is {cause.dtype} and meets {narrow}: {where} ({_last(leaf)}.astype(x.dtype))"


def _sample(cause: Cause, narrow: str) -> str:
    leaf = cause.leaves[0] if cause.leaves else "the sample"
    return f"pass {leaf} as {narrow}, or cast it on entry: {_last(leaf)}.astype(jnp.{narrow})"


def _creation(cause: Cause, narrow: str) -> str:
    written = "x.dtype" if cause.dtype != "float64" else f"jnp.{narrow}"
    return f"pass dtype={written} where it is made, or cast it to {narrow} before it is used"


def _integer(cause: Cause, narrow: str) -> str:
    return f"cast the integers to the dtype they meet: .astype(jnp.{narrow}) instead of float or {cause.dtype}"


def _cast(cause: Cause, narrow: str) -> str:
    if cause.library is not None:
        return (
            f"the {cause.dtype} result of {cause.module or 'this layer'} is used as it is: pass dtype=jnp.{narrow} to the "
            f"layer, or narrow its result with .astype(jnp.{narrow})"
        )
    return (
        f"drop the cast and let the product accumulate in {cause.dtype} (preferred_element_type=jnp.{cause.dtype}), "
        f"or narrow back with .astype(jnp.{narrow}) before the next product"
    )


def _accumulation(cause: Cause, narrow: str) -> str:
    return (
        f"narrow the result at once with .astype(jnp.{narrow}); if the backward pass is still wide, drop "
        "preferred_element_type, give the product an algorithm (precision=jax.lax.DotAlgorithmPreset.BF16_BF16_F32), or "
        "narrow the cotangent in a custom gradient"
    )


def _cotangent(cause: Cause, narrow: str) -> str:
    return f"return the gradient in the primal's dtype: .astype(g.dtype) at the end of the backward rule (here {narrow})"


def _callback(cause: Cause, narrow: str) -> str:
    return f"declare the callback's result as {narrow}, or cast it before it is used"


def _last(leaf: str) -> str:
    return leaf if leaf.isidentifier() else (re.findall(r"\w+", leaf) or ["x"])[-1]


_FIXES = {
    "literal": _literal,
    "constant": _constant,
    "parameter": _parameter,
    "sample": _sample,
    "creation": _creation,
    "integer": _integer,
    "cast": _cast,
    "accumulation": _accumulation,
    "cotangent": _cotangent,
    "callback": _callback,
}
