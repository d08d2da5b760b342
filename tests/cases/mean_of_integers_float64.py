"""The mean of int64 lengths (the default integer) is float64 under x64 and normalises float32 features before a projection."""
X64 = True
FRAMEWORK = "plain"
EXPECT = [dict(rule="float64-matmul", cause={"integer", "creation"}, phases={"forward", "backward"})]
import jax, jax.numpy as jnp

def f(p, x, lengths, fixed):
    mean = jnp.mean(lengths, dtype=jnp.float32) if fixed else jnp.mean(lengths)  # CAUSE
    return (x / mean) @ p  # CAUSE

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return (lambda p, x, n: f(p, x, n, fixed)), (s((16, 8), jnp.float32), s((4, 16), jnp.float32), s((4,), jnp.int64)), {}
