"""Asked for float32 under x64: one part of the model has float64 weights and is fed float64."""
X64 = True
FRAMEWORK = "plain"
EXPECT = [dict(rule="wider-than-asked", cause="parameter", phases={"forward", "backward"}, sites=3)]
import jax, jax.numpy as jnp

def f(p, x, y, fixed):
    if fixed:
        p, y = dict(p, side=p["side"].astype(jnp.float32)), y.astype(jnp.float32)
    return jnp.tanh(x @ p["main"]) + jnp.tanh(y @ p["side"]).astype(jnp.float32)  # CAUSE

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    p = {"main": s((32, 32), jnp.float32), "side": s((32, 32), jnp.float64)}
    return (lambda p, x, y: f(p, x, y, fixed)), (p, s((4, 32), jnp.float32), s((4, 32), jnp.float64)), {"compute_dtype": "float32"}
