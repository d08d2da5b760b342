"""A float32 model whose result is narrowed for storage: its gradient comes back as bfloat16 and is widened where it was narrowed."""
X64 = False
FRAMEWORK = "plain"
EXPECT = []
import jax, jax.numpy as jnp

def f(p, x):
    return (jnp.tanh(x @ p["a"]) @ p["b"]).astype(jnp.bfloat16)

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return f, ({"a": s((16, 16), jnp.float32), "b": s((16, 8), jnp.float32)}, s((4, 16), jnp.float32)), {}
