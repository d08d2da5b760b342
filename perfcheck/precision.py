"""What float dtypes there are and how wide each is: the only module that compares dtypes."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

WORKING_WIDTH = 16
"""Bits below which a float dtype only stores values: an 8-bit float used at 16 bits has not been widened by mistake."""

_PRESET_WIDTHS = (("F64", 64), ("TF32", 32), ("BF16", 16), ("F16", 16), ("F32", 32), ("F8", 16))
"""Working width of the operand type a dot algorithm names first. TF32 reads 32-bit operands."""


class _Widths(dict[Any, int]):
    """A table that measures a dtype when it is first asked for."""

    def __missing__(self, dtype: Any) -> int:
        bits = self[dtype] = _measure(dtype)
        return bits


class _WorkingWidths(dict[Any, int]):
    def __missing__(self, dtype: Any) -> int:
        bits = WIDTHS[dtype]
        bits = self[dtype] = max(bits, WORKING_WIDTH) if bits else 0
        return bits


WIDTHS = _Widths()
"""Bits of each float dtype: 8, 16, 32 or 64; a complex dtype has its component's width; 0 for anything else."""

WORKING_WIDTHS = _WorkingWidths()
"""As `WIDTHS`, with every storage-only float counted as `WORKING_WIDTH`."""


def _measure(dtype: Any) -> int:
    if dtype is None or not isinstance(dtype, np.dtype) or dtype.names or not jnp.issubdtype(dtype, jnp.inexact):
        return 0
    bits = dtype.itemsize * 8
    return max(8, bits // 2 if dtype.kind == "c" else bits)


def width(dtype: Any) -> int:
    """Bits of a float dtype, as in `WIDTHS`."""
    return WIDTHS[dtype]


def working_width(dtype: Any) -> int:
    """Bits of a float dtype, as in `WORKING_WIDTHS`."""
    return WORKING_WIDTHS[dtype]


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
    name = precision_name(precision)
    if name.count("_") < 2:  # Precision.HIGHEST, DotAlgorithmPreset.DEFAULT
        return None
    if "_X" in name:  # several bfloat16 passes that stand for one float32 product
        return 32
    name = name.removeprefix("ANY_")
    return next((bits for start, bits in _PRESET_WIDTHS if name.startswith(start)), None)


def product_dtype(operands: tuple[Any, ...], precision: Any) -> np.dtype:
    """Dtype a matmul over `operands` (jaxpr atoms) computes in: that of its algorithm, else of its widest operand.

    bfloat16 beside float16 computes in float32, the narrowest type that holds both.
    """
    first, second = (operand.aval.dtype for operand in operands[:2])
    widest = max(first, second, key=lambda dtype: (width(dtype), dtype.itemsize))
    if families_differ(*operands[:2]) and width(first) == width(second):
        widest = np.dtype(jnp.promote_types(first, second))
    preset = preset_width(precision)
    if preset is None or preset >= width(widest):
        return widest
    if preset == 32:
        return np.dtype(np.float32)
    return np.dtype(np.float16) if "F16" in precision_name(precision).split("_") else np.dtype(jnp.bfloat16)


def precision_name(precision: Any) -> str:
    """Name of a `lax.Precision` or `lax.DotAlgorithmPreset`; empty for anything else."""
    return getattr(precision, "name", "")


def asked_precision(precision: Any) -> str:
    """Name of the precision a product asks for; of a pair, that of its first factor."""
    return precision_name(precision[0] if isinstance(precision, tuple) and precision else precision)


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
