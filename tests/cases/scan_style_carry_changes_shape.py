"""A carry-like pair: the running mean comes back with a broadcast axis, so that the next call compiles again."""
X64 = False
FRAMEWORK = "plain"
VJP = False
EXPECT = [dict(rule="unstable-state", cause={"cast", "creation", "sample"}, phases={"forward"})]
import jax, jax.numpy as jnp

def build(fixed=False):
    def step(carry, x):
        mean = 0.9 * carry["mean"] + 0.1 * jnp.mean(x, axis=0, keepdims=not fixed)  # CAUSE
        return {"mean": mean, "count": carry["count"] + 1.0}, x - mean
    s = jax.ShapeDtypeStruct
    return step, ({"mean": s((16,), jnp.float32), "count": s((), jnp.float32)}, s((4, 16), jnp.float32)), {}
