"""A float32 solver asks for HIGHEST: scientific code needs it, a note at most."""
X64 = False
FRAMEWORK = "plain"
EXPECT = []
import jax, jax.numpy as jnp

def build(fixed=False):
    def f(a, b):
        return jnp.matmul(a, b, precision="highest")
    s = jax.ShapeDtypeStruct
    return f, (s((32, 32), jnp.float32), s((32, 8), jnp.float32)), {}
