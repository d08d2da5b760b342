"""A polynomial basis made by jnp.linspace is multiplied in float32 with itself to whiten it."""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="wider-than-asked", cause={"creation", "integer"}, phases={"forward"})]
import jax, jax.numpy as jnp

def f(p, x, fixed):
    dtype = jnp.bfloat16 if fixed else jnp.float32
    t = jnp.linspace(-1, 1, 256, dtype=dtype)  # CAUSE
    basis = jnp.stack([t**k for k in range(16)], -1)
    basis = (basis @ (basis.T @ basis)).astype(jnp.bfloat16)  # CAUSE
    return (x @ basis) @ p

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return (lambda p, x: f(p, x, fixed)), (s((16, 8), jnp.bfloat16), s((4, 256), jnp.bfloat16)), {"compute_dtype": "bfloat16"}
