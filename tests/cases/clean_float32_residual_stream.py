"""The residual stream is float32, every product runs in bfloat16: the widening of each block's output is meant and harmless."""
X64 = False
FRAMEWORK = "plain"
EXPECT = []
import jax, jax.numpy as jnp

def f(ws, x):
    stream = x.astype(jnp.float32)
    for a, b in ws:
        h = (stream / (1e-6 + jnp.sqrt(jnp.mean(stream**2, -1, keepdims=True)))).astype(jnp.bfloat16)
        stream = stream + (jax.nn.gelu(h @ a) @ b).astype(jnp.float32)
    return jnp.mean(stream)

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    w = s((16, 16), jnp.bfloat16)
    return f, ([(w, w)] * 4, s((4, 16), jnp.bfloat16)), {}
