"""The loss is a float64 scalar under x64: one number, no traffic."""
X64 = True
FRAMEWORK = "plain"
EXPECT = []
import jax, jax.numpy as jnp, numpy as np

def build(fixed=False):
    def loss(p, x):
        return jnp.mean((x @ p) ** 2) * np.float64(0.5)
    s = jax.ShapeDtypeStruct
    return loss, (s((64, 64), jnp.float32), s((4096, 64), jnp.float32)), {}
