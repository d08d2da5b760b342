"""A jitted helper is used twice; one caller hands it a float32 weight, and only that call is at fault."""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="mixed-precision-matmul", cause="parameter", phases={"forward", "backward"}, sites=3)]
import jax, jax.numpy as jnp

@jax.jit
def dense(w, x):
    return jax.nn.relu(x @ w).astype(jnp.bfloat16)  # CAUSE

def f(p, x):
    return dense(p["b"], dense(p["a"], x))

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    p = {"a": s((16, 16), jnp.bfloat16), "b": s((16, 16), jnp.bfloat16 if fixed else jnp.float32)}
    return f, (p, s((4, 16), jnp.bfloat16)), {}
