"""float16 activations meet bfloat16 weights: neither holds the other, so JAX multiplies in float32."""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="mixed-precision-matmul", cause={"parameter", "sample"}, phases={"forward", "backward"}, sites=3)]
import jax, jax.numpy as jnp

def f(p, x):
    return x @ p  # CAUSE

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return f, (s((16, 8), jnp.bfloat16), s((4, 16), jnp.bfloat16 if fixed else jnp.float16)), {}
