"""What float dtypes there are and how wide each is: the only module that compares dtypes."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

WORKING_WIDTH = 16
"""Bits below which a float dtype only stores values: an 8-bit float used at 16 bits has not been widened by mistake."""

_WIDTHS: dict[Any, int] = {}

_PRECISION_WIDTHS = (("F64", 64), ("TF32", 16), ("BF16", 16), ("F16", 16), ("F32", 32), ("F8", 16))
"""Width at which the operand type of a dot algorithm computes, by how its name starts. TF32 multiplies on the fast path."""


def width(dtype: Any) -> int:
    """Bits of a float dtype: 8, 16, 32 or 64; a complex dtype has its component's width; 0 for anything else."""
    found = _WIDTHS.get(dtype)
    if found is None:
        found = _WIDTHS[dtype] = _measure(dtype)
    return found


def _measure(dtype: Any) -> int:
    if dtype is None or not isinstance(dtype, np.dtype) or dtype.names or not jnp.issubdtype(dtype, jnp.inexact):
        return 0
    bits = dtype.itemsize * 8
    return max(8, bits // 2 if dtype.kind == "c" else bits)


def working_width(dtype: Any) -> int:
    """As `width`, with every storage-only float counted as `WORKING_WIDTH`."""
    bits = width(dtype)
    return max(bits, WORKING_WIDTH) if bits else 0


def atom_width(atom: Any) -> int:
    """Working width of a jaxpr variable or literal; 0 where it is no float array (integers, keys, tokens)."""
    return working_width(getattr(atom.aval, "dtype", None))


def preset_width(precision: Any) -> int | None:
    """Width at which a product with this `precision` computes whatever its operands say, or None if they decide.

    `precision` is the parameter of `dot_general`: None, a `lax.Precision`, a pair, a `lax.DotAlgorithmPreset` or a
    `lax.DotAlgorithm`. Only the last two name the type that is multiplied.
    """
    operand = getattr(precision, "lhs_precision_type", None)
    if operand is not None:
        return working_width(np.dtype(operand)) or None
    name = getattr(precision, "name", "")
    if name.count("_") < 2:  # Precision.HIGHEST, DotAlgorithmPreset.DEFAULT
        return None
    name = name.removeprefix("ANY_")
    return next((bits for start, bits in _PRECISION_WIDTHS if name.startswith(start)), None)


def product_width(operands: tuple[Any, ...], precision: Any) -> int:
    """Effective width of a matmul over `operands` (jaxpr atoms): that of its algorithm, else of its widest operand."""
    widest = max((atom_width(operand) for operand in operands), default=0)
    preset = preset_width(precision)
    return widest if preset is None else min(widest, preset)


def product_dtype(operands: tuple[Any, ...], precision: Any) -> np.dtype:
    """Dtype a matmul over `operands` computes in, after its algorithm is taken into account."""
    dtypes = [operand.aval.dtype for operand in operands]
    widest = max(dtypes, key=lambda dtype: (width(dtype), dtype.itemsize))
    if len(set(dtypes)) > 1 and len({width(dtype) for dtype in dtypes}) == 1 and width(widest):
        return np.dtype(jnp.promote_types(*dtypes[:2])) if width(widest) >= WORKING_WIDTH else widest
    preset = preset_width(precision)
    if preset is None or preset >= width(widest):
        return widest
    if preset == 32:
        return np.dtype(np.float32)
    return np.dtype(np.float16) if getattr(precision, "name", "").startswith("F16") else np.dtype(jnp.bfloat16)


def is_inexact(dtype: Any) -> bool:
    """Whether values of this dtype can be differentiated."""
    return width(dtype) > 0


def families_differ(first: Any, second: Any) -> bool:
    """Whether two atoms are floats of different dtypes that one product must bring together.

    Storage-only floats beside 16-bit ones do not count, nor do a float and a complex dtype of one width.
    """
    one, two = atom_width(first), atom_width(second)
    if not one or not two:
        return False
    if one != two:
        return True
    return {first.aval.dtype, second.aval.dtype} == {np.dtype(np.float16), np.dtype(jnp.bfloat16)}
