"""A train step asked for bfloat16 whose model runs in float32, forward and backward."""
X64 = False
FRAMEWORK = "plain"
VJP = False
EXPECT = [dict(rule="wider-than-asked", cause="parameter", phases={"forward", "backward"}, sites=5)]
import jax, jax.numpy as jnp

def build(fixed=False):
    def loss(p, x):
        if fixed:
            p, x = jax.tree.map(lambda a: a.astype(jnp.bfloat16), (p, x))
        return jnp.mean((jnp.tanh(x @ p["a"]) @ p["b"]).astype(jnp.float32) ** 2)  # CAUSE
    def step(p, x):
        return jax.tree.map(lambda a, g: a - 1e-3 * g, p, jax.grad(loss)(p, x))
    s = jax.ShapeDtypeStruct
    return step, ({"a": s((16, 32), jnp.float32), "b": s((32, 8), jnp.float32)}, s((4, 16), jnp.float32)), {"compute_dtype": "bfloat16"}
