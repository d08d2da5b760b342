"""A language model that takes no dtype at all: everything runs in float32.
source: a public language model, 100% of matmul FLOPs"""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="wider-than-asked", cause="parameter", phases={"forward", "backward"})]
import jax, jax.numpy as jnp

def f(p, tokens, dtype):
    p = jax.tree.map(lambda a: a.astype(dtype), p)
    x = p["embed"][tokens]
    for layer in p["layers"]:
        x = x + jnp.tanh(x @ layer["w"])  # CAUSE
    return x @ p["out"]  # CAUSE

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    p = {"embed": s((100, 32), jnp.float32), "layers": [{"w": s((32, 32), jnp.float32)}] * 2, "out": s((32, 100), jnp.float32)}
    dtype = jnp.bfloat16 if fixed else jnp.float32
    return (lambda p, t: f(p, t, dtype)), (p, s((4, 16), jnp.int32)), {"compute_dtype": jnp.bfloat16}
