"""Large arrays that the program makes itself (iota, zeros, broadcasts) are no captured data."""
X64 = False
FRAMEWORK = "plain"
EXPECT = []
import jax, jax.numpy as jnp

def f(p, x):
    positions = jnp.sin(jnp.arange(4096 * 256, dtype=jnp.float32).reshape(4096, 256))
    return (x + positions + jnp.zeros((4096, 256)) + jnp.ones(())) @ p

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return f, (s((256, 8), jnp.float32), s((4096, 256), jnp.float32)), {}
