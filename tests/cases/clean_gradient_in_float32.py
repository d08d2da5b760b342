"""A function that returns the gradient of bfloat16 parameters in float32 is no state that changed: nothing is fed back."""
X64 = False
FRAMEWORK = "plain"
VJP = False
EXPECT = []
import jax, jax.numpy as jnp

def build(fixed=False):
    def gradient(p, x):
        g = jax.grad(lambda p: jnp.sum((x @ p["w"] + p["b"]).astype(jnp.float32) ** 2))(p)
        return jax.tree.map(lambda a: a.astype(jnp.float32) / 8, g)
    s = jax.ShapeDtypeStruct
    return gradient, ({"w": s((16, 8), jnp.bfloat16), "b": s((8,), jnp.bfloat16)}, s((4, 16), jnp.bfloat16)), {}
