"""An nnx block with a LayerNorm that was not given a dtype: the projections after it run in float32.
source: google/flax#1776 (the linen twin)"""
X64 = False
FRAMEWORK = "nnx"
EXPECT = [dict(rule="mixed-precision-matmul", cause={"cast", "parameter"}, phases={"forward", "backward"}, sites=3)]
import jax, jax.numpy as jnp
from flax import nnx

class Block(nnx.Module):
    def __init__(self, fixed, rngs):
        bf = jnp.bfloat16
        self.inner = nnx.Linear(16, 32, dtype=bf, param_dtype=bf, rngs=rngs)
        self.norm = nnx.LayerNorm(32, dtype=bf if fixed else None, rngs=rngs)
        self.out = nnx.Linear(32, 8, dtype=None, param_dtype=bf, rngs=rngs)

    def __call__(self, x):
        x = jax.nn.gelu(self.inner(x))
        return self.out(self.norm(x))  # CAUSE

def build(fixed=False):
    return Block(fixed, nnx.Rngs(0)), (jax.ShapeDtypeStruct((4, 16), jnp.bfloat16),), {}
