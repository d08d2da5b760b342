"""Coordinates from jnp.linspace are float64 under x64 and make a float32 coordinate network run in float64."""
X64 = True
FRAMEWORK = "plain"
EXPECT = [dict(rule="float64-matmul", cause="creation", phases={"forward", "backward"})]
import jax, jax.numpy as jnp

def field(p, fixed):
    t = jnp.linspace(0, 1, 64, dtype=jnp.float32) if fixed else jnp.linspace(0, 1, 64)  # CAUSE
    x = jnp.stack([jnp.sin(t), jnp.cos(t)], -1)
    return jnp.tanh(x @ p["a"]) @ p["b"]  # CAUSE

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return (lambda p: field(p, fixed)), ({"a": s((2, 32), jnp.float32), "b": s((32, 1), jnp.float32)},), {}
