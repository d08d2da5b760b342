"""A function that casts a parameter tree for inference returns another tree by design; nothing is stepped."""
X64 = False
FRAMEWORK = "plain"
VJP = False
EXPECT = []
import jax, jax.numpy as jnp

def build(fixed=False):
    def half(params):
        return jax.tree.map(lambda a: a.astype(jnp.bfloat16), params)
    s = jax.ShapeDtypeStruct
    return half, ({"w": s((16, 8), jnp.float32), "b": s((8,), jnp.float32)},), {}
