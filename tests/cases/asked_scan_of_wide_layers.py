"""Stacked float32 layers under a scan in a model asked for bfloat16."""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="wider-than-asked", cause="parameter", phases={"forward", "backward"}, sites=3)]
import jax, jax.numpy as jnp

def build(fixed=False):
    def f(ws, x):
        if fixed:
            ws, x = ws.astype(jnp.bfloat16), x.astype(jnp.bfloat16)
        return jax.lax.scan(lambda c, w: (jnp.tanh(c @ w), None), x, ws)[0]  # CAUSE
    s = jax.ShapeDtypeStruct
    return f, (s((6, 32, 32), jnp.float32), s((4, 32), jnp.float32)), {"compute_dtype": "bfloat16"}
