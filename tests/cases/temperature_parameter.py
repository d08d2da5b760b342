"""A learnable float32 temperature scales bfloat16 features before the similarity product (CLIP-style)."""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="mixed-precision-matmul", cause="parameter", phases={"forward", "backward"}, sites=3)]
import jax, jax.numpy as jnp

def f(p, a, b, fixed):
    t = jnp.exp(p["t"])
    if fixed:
        t = t.astype(a.dtype)
    a = (a @ p["wa"]) * t  # CAUSE
    return a @ (b @ p["wb"]).T

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    p = {"t": s((), jnp.float32), "wa": s((16, 16), jnp.bfloat16), "wb": s((16, 16), jnp.bfloat16)}
    return (lambda p, a, b: f(p, a, b, fixed)), (p, s((8, 16), jnp.bfloat16), s((8, 16), jnp.bfloat16)), {}
