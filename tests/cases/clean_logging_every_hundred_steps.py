"""A debug print under a condition runs every hundred steps: that is how it should be done, and a note at most."""
X64 = False
FRAMEWORK = "plain"
VJP = False
EXPECT = []
import jax, jax.numpy as jnp

def build(fixed=False):
    def step(p, x, k):
        loss = jnp.mean((x @ p) ** 2)
        jax.lax.cond(k % 100 == 0, lambda l: jax.debug.print("loss {}", l), lambda l: None, loss)
        return loss
    s = jax.ShapeDtypeStruct
    return step, (s((8, 8), jnp.float32), s((4, 8), jnp.float32), s((), jnp.int32)), {}
