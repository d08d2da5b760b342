"""HIGHEST precision left on in attention: bfloat16 values are multiplied in many passes for nothing.
source: apple/axlearn#1098"""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="highest-precision", cause={"cast"}, phases={"forward", "backward"})]
import jax, jax.numpy as jnp

def build(fixed=False):
    def f(p, x):
        q, k = x @ p["q"], x @ p["k"]
        scores = jnp.einsum("td,sd->ts", q, k, precision=None if fixed else jax.lax.Precision.HIGHEST)  # CAUSE
        return jax.nn.softmax(scores) @ x
    s = jax.ShapeDtypeStruct
    return f, ({"q": s((32, 32), jnp.bfloat16), "k": s((32, 32), jnp.bfloat16)}, s((16, 32), jnp.bfloat16)), {}
