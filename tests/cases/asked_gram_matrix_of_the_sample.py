"""A contrastive loss multiplies the float32 sample with itself before anything is narrowed."""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="wider-than-asked", cause="sample", phases={"forward", "backward"})]
import jax, jax.numpy as jnp

def f(p, x, fixed):
    if fixed:
        x = x.astype(jnp.bfloat16)
    gram = x @ x.T  # CAUSE
    h = jnp.tanh(x.astype(jnp.bfloat16) @ p)
    return jnp.mean((h @ h.T - gram.astype(h.dtype)) ** 2)

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return (lambda p, x: f(p, x, fixed)), (s((64, 32), jnp.bfloat16), s((128, 64), jnp.float32)), {"compute_dtype": "bfloat16"}
