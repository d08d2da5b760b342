"""One float32 sinusoid table is added in every layer: one cause, however many layers."""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="mixed-precision-matmul", cause={"constant", "creation", "integer"}, phases={"forward", "backward"}, sites=12)]
import jax, jax.numpy as jnp, numpy as np
TABLE = np.sin(np.arange(8 * 16, dtype=np.float32).reshape(8, 16))

def f(ws, x, table):
    x = (x @ ws[0]).astype(jnp.bfloat16)
    for w in ws[1:]:
        x = jnp.tanh((x + table) @ w).astype(jnp.bfloat16)  # CAUSE
    return x

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    table = jnp.asarray(TABLE, jnp.bfloat16) if fixed else TABLE
    return (lambda ws, x: f(ws, x, table)), ([s((16, 16), jnp.bfloat16)] * 5, s((8, 16), jnp.bfloat16)), {}
