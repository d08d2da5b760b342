"""Inside a train step, logits accumulated in float32 hand a float32 cotangent to the backward products."""
X64 = False
FRAMEWORK = "plain"
VJP = False
EXPECT = [dict(rule="mixed-precision-matmul", cause="accumulation", phases={"backward"}, sites=2)]
import jax, jax.numpy as jnp

def build(fixed=False):
    def loss(p, x):
        h = jnp.tanh(x @ p["a"])
        logits = h @ p["b"] if fixed else jnp.matmul(h, p["b"], preferred_element_type=jnp.float32)  # CAUSE
        return jnp.sum(logits.astype(jnp.float32))
    def step(p, x):
        return jax.grad(loss)(p, x)
    s = jax.ShapeDtypeStruct
    return step, ({"a": s((16, 16), jnp.bfloat16), "b": s((16, 8), jnp.bfloat16)}, s((4, 16), jnp.bfloat16)), {}
