"""A jitted helper is used twice; the fault is inside it and must be blamed on its own line, not on a caller.
source: the frames of cached inner jits end in whoever called them first"""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="mixed-precision-matmul", cause="literal", phases={"forward", "backward"}, sites=6)]
import jax, jax.numpy as jnp, numpy as np

def make(fixed):
    @jax.jit
    def half(x):
        return x * (0.5 if fixed else np.float32(0.5))  # CAUSE
    return half

def f(p, x, half):
    x = (half(x) @ p["a"]).astype(jnp.bfloat16)
    return (half(jnp.tanh(x)) @ p["b"]).astype(jnp.bfloat16)

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    half = make(fixed)
    return (lambda p, x: f(p, x, half)), ({"a": s((16, 16), jnp.bfloat16), "b": s((16, 16), jnp.bfloat16)}, s((4, 16), jnp.bfloat16)), {}
