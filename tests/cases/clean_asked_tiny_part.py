"""A tiny float32 part of a large bfloat16 model costs next to nothing: a note."""
X64 = False
FRAMEWORK = "plain"
EXPECT = []
import jax, jax.numpy as jnp

def f(p, x, t):
    for w in p["body"]:
        x = jnp.tanh(x @ w)
    return x + (t @ p["time"]).astype(x.dtype)

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    p = {"body": [s((2048, 2048), jnp.bfloat16)] * 8, "time": s((16, 2048), jnp.float32)}
    return f, (p, s((4096, 2048), jnp.bfloat16), s((16,), jnp.float32)), {"compute_dtype": "bfloat16"}
