"""An einsum of three factors of which the last is float32: JAX asks every partial product for float32, but the factor is the cause."""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="mixed-precision-matmul", cause="parameter", phases={"forward", "backward"})]
import jax, jax.numpy as jnp

def f(p, x):
    return jnp.einsum("ij,jk,kl->il", x, p["a"], p["b"]).astype(jnp.bfloat16)  # CAUSE

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    p = {"a": s((32, 32), jnp.bfloat16), "b": s((32, 32), jnp.bfloat16 if fixed else jnp.float32)}
    return f, (p, s((16, 32), jnp.bfloat16)), {}
