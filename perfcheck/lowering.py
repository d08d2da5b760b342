"""Platform truth without the platform: lower a matmul for cuda, tpu or cpu and read what it is asked to multiply.

Each distinct product is lowered by itself: lowering is per equation, a whole program says no more about it, and one that
cannot be lowered elsewhere (a callback, a kernel for another chip) would say nothing.
"""

from __future__ import annotations

import re
from typing import Any

import jax
from jax import export

from .report import CheckError, Platform

PLATFORMS: tuple[Platform, ...] = ("cuda", "tpu", "cpu")

_PRODUCT = re.compile(r"stablehlo\.(?:dot_general|convolution|dot)\b.*?:\s*\((tensor<[^)]*)\)\s*->", re.DOTALL)
_ELEMENT = re.compile(r"tensor<(?:[\d?]+x)*([A-Za-z][\w]*(?:<f\d+>)?)")
_ALGORITHM = re.compile(r"algorithm = <lhs_precision_type = (\w+).*?accumulation_type = (\w+)", re.DOTALL)

_NAMES = {
    "f64": "float64",
    "f32": "float32",
    "tf32": "tf32",
    "f16": "float16",
    "bf16": "bfloat16",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
}


def multiplied(eqn: Any, platform: Platform) -> tuple[tuple[str, str], str]:
    """(dtypes of the two factors, algorithm or "") of a matmul equation as `platform` is asked to run it.

    Raises `CheckError` for an unknown platform, or where the equation cannot be lowered for it.
    """
    if platform not in PLATFORMS:
        raise CheckError(f"platform {platform!r}: choose one of {', '.join(PLATFORMS)}")
    arguments = [jax.ShapeDtypeStruct(atom.aval.shape, atom.aval.dtype) for atom in eqn.invars]
    try:
        exported = export.export(jax.jit(lambda *given: eqn.primitive.bind(*given, **eqn.params)), platforms=[platform])(
            *arguments
        )
    except Exception as error:
        raise CheckError(f"a {eqn.primitive.name} cannot be lowered for {platform}: {error}") from error
    text = exported.mlir_module()
    products = [_ELEMENT.findall(types) for types in _PRODUCT.findall(text)]
    if not products or len(products[0]) < 2:
        raise CheckError(f"a {eqn.primitive.name} lowers to no product for {platform}")
    first, second = products[0][:2]
    algorithm = _ALGORITHM.search(text)
    return (_named(first), _named(second)), f"{algorithm[1]} factors, {algorithm[2]} sums" if algorithm else ""


def _named(element: str) -> str:
    known = _NAMES.get(element)
    if known is not None:
        return known
    return re.sub(r"^f(\d)E", r"float\1_e", element).lower() if element.startswith("f") else element
