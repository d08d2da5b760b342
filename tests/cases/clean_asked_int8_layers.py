"""Quantised int8 layers in a model asked for bfloat16: integers are no floats that are too wide."""
X64 = False
FRAMEWORK = "plain"
EXPECT = []
import jax, jax.numpy as jnp
from jax import lax

def f(p, x8):
    y = lax.dot_general(x8, p["w8"], (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
    return (y.astype(jnp.float32) * p["scale"]).astype(jnp.bfloat16) @ p["out"]

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    p = {"w8": s((32, 16), jnp.int8), "scale": s((16,), jnp.float32), "out": s((16, 8), jnp.bfloat16)}
    return f, (p, s((4, 32), jnp.int8)), {"compute_dtype": "bfloat16"}
