"""Under x64 jax.nn.one_hot is float64 by default; an embedding by one-hot product then runs in float64.
source: defaults under x64 (jax-ml/jax#1815)"""
X64 = True
FRAMEWORK = "plain"
EXPECT = [dict(rule="float64-matmul", cause={"creation", "integer"}, phases={"forward", "backward"})]
import jax, jax.numpy as jnp

def f(p, tokens, fixed):
    hot = jax.nn.one_hot(tokens, 50, dtype=jnp.float32) if fixed else jax.nn.one_hot(tokens, 50)  # CAUSE
    return jnp.tanh(hot @ p["embed"]) @ p["out"]  # CAUSE

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return (lambda p, t: f(p, t, fixed)), ({"embed": s((50, 16), jnp.float32), "out": s((16, 4), jnp.float32)}, s((8,), jnp.int32)), {}
