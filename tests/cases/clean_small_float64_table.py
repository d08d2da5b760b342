"""A small float64 table meets a few values under x64: next to nothing is moved, a note at most."""
X64 = True
FRAMEWORK = "plain"
EXPECT = []
import jax, jax.numpy as jnp, numpy as np
WEIGHTS = np.linspace(0, 1, 16)

def build(fixed=False):
    def loss(p, x):
        return jnp.sum(jnp.mean(x @ p, 0) * WEIGHTS)
    s = jax.ShapeDtypeStruct
    return loss, (s((64, 16), jnp.float32), s((256, 64), jnp.float32)), {}
