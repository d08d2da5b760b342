"""Widths of dtypes, and the dtype a product computes in."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from perfcheck import precision


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [
        (jnp.bfloat16, 16),
        (jnp.float16, 16),
        (jnp.float32, 32),
        (jnp.float64, 64),
        (jnp.complex64, 32),
        (jnp.complex128, 64),
        (jnp.float8_e4m3fn, 8),
        (jnp.float8_e5m2, 8),
        (jnp.int32, 0),
        (bool, 0),
        (jax.dtypes.float0, 0),
    ],
)
def test_width(dtype, bits):
    assert precision.width(np.dtype(dtype)) == bits


def test_key_arrays_and_missing_dtypes_have_no_width():
    assert precision.width(jax.eval_shape(jax.random.key, 0).dtype) == 0
    assert precision.width(None) == 0


def product(left, right, precision=None):
    jaxpr = jax.make_jaxpr(lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), precision=precision))(
        jax.ShapeDtypeStruct((4, 8), left), jax.ShapeDtypeStruct((8, 2), right)
    )
    (eqn,) = jaxpr.jaxpr.eqns
    return eqn


@pytest.mark.parametrize(
    ("left", "right", "asked", "dtype"),
    [
        (jnp.bfloat16, jnp.bfloat16, None, "bfloat16"),
        (jnp.bfloat16, jnp.float32, None, "float32"),
        (jnp.float16, jnp.bfloat16, None, "float32"),
        (jnp.float32, jnp.float32, lax.Precision.HIGHEST, "float32"),
        (jnp.float32, jnp.float32, lax.DotAlgorithmPreset.BF16_BF16_F32, "bfloat16"),
        (jnp.float32, jnp.float32, lax.DotAlgorithmPreset.F16_F16_F32, "float16"),
        (jnp.float32, jnp.float32, lax.DotAlgorithmPreset.TF32_TF32_F32, "float32"),
        (jnp.float32, jnp.float32, lax.DotAlgorithmPreset.BF16_BF16_F32_X3, "float32"),
    ],
)
def test_product_dtype(left, right, asked, dtype):
    eqn = product(left, right, asked)
    assert str(precision.product_dtype(tuple(eqn.invars), eqn.params["precision"])) == dtype


def test_storage_floats_beside_working_ones_are_not_mixed():
    eqn = product(jnp.float8_e4m3fn, jnp.bfloat16)
    assert not precision.families_differ(*eqn.invars)
    assert precision.families_differ(*product(jnp.float8_e4m3fn, jnp.float32).invars)
    assert precision.families_differ(*product(jnp.float16, jnp.bfloat16).invars)
