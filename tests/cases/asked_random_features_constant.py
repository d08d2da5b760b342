"""Random Fourier features: a float32 NumPy matrix projects a float32 input before the bfloat16 part begins."""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="wider-than-asked", cause="constant", phases={"forward", "backward"})]
import jax, jax.numpy as jnp, numpy as np
B = np.random.default_rng(0).standard_normal((16, 64)).astype(np.float32)

def f(p, x, fixed):
    b = jnp.asarray(B, jnp.bfloat16) if fixed else B
    if fixed:
        x = x.astype(jnp.bfloat16)
    z = x @ b  # CAUSE
    z = jnp.concatenate([jnp.sin(z), jnp.cos(z)], -1).astype(jnp.bfloat16)
    return jnp.tanh(z @ p["a"]) @ p["b"]

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    p = {"a": s((128, 32), jnp.bfloat16), "b": s((32, 8), jnp.bfloat16)}
    return (lambda p, x: f(p, x, fixed)), (p, s((256, 16), jnp.float32)), {"compute_dtype": "bfloat16"}
