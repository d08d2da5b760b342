"""A schedule returns a float32 scalar array: momentum and parameters come back float32 from a bfloat16 step.
source: google-deepmind/optax#1405"""
X64 = False
FRAMEWORK = "plain"
VJP = False
EXPECT = [dict(rule="unstable-state", cause={"creation", "integer", "literal", "sample", "parameter"}, phases={"forward"})]
import jax, jax.numpy as jnp

def build(fixed=False):
    def step(state, x):
        g = jax.grad(lambda p: jnp.sum((x @ p).astype(jnp.float32) ** 2))(state["p"])
        rate = 1e-3 / (1.0 + state["step"].astype(jnp.float32))  # CAUSE
        if fixed:
            rate = rate.astype(g.dtype)
        return {"p": state["p"] - rate * g, "step": state["step"] + 1}  # CAUSE
    s = jax.ShapeDtypeStruct
    return step, ({"p": s((16, 8), jnp.bfloat16), "step": s((), jnp.int32)}, s((4, 16), jnp.bfloat16)), {}
