"""Asked for float16, the head is float32 throughout."""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="wider-than-asked", cause="parameter", phases={"forward", "backward"}, sites=3)]
import jax, jax.numpy as jnp

def f(p, x, y, fixed):
    h = jnp.tanh(x @ p["body"])
    head = p["head"].astype(jnp.float16) if fixed else p["head"]
    y = y.astype(jnp.float16) if fixed else y
    return h, y @ head  # CAUSE

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    p = {"body": s((32, 32), jnp.float16), "head": s((32, 32), jnp.float32)}
    return (lambda p, x, y: f(p, x, y, fixed)), (p, s((4, 32), jnp.float16), s((4, 32), jnp.float32)), {"compute_dtype": "float16"}
