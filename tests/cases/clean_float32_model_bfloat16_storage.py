"""Activations are stored in bfloat16 between two float32 blocks and never widened into a product with anything but float32 weights
narrowed first: each block narrows its weights."""
X64 = False
FRAMEWORK = "plain"
EXPECT = []
import jax, jax.numpy as jnp

def block(p, x):
    return jax.nn.silu(x @ p["a"].astype(x.dtype)) @ p["b"].astype(x.dtype)

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    p = [{"a": s((16, 16), jnp.float32), "b": s((16, 16), jnp.float32)} for _ in range(3)]
    def f(p, x):
        for q in p:
            x = x + jax.checkpoint(block)(q, x)
        return x
    return f, (p, s((4, 16), jnp.bfloat16)), {}
