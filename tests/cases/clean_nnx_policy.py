"""nnx modules with dtype=bfloat16 over float32 parameters: every module narrows its own."""
X64 = False
FRAMEWORK = "nnx"
EXPECT = []
import jax, jax.numpy as jnp
from flax import nnx

class Block(nnx.Module):
    def __init__(self, rngs):
        bf = jnp.bfloat16
        self.norm = nnx.LayerNorm(16, dtype=bf, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(2, 16, dtype=bf, decode=False, rngs=rngs)
        self.out = nnx.Linear(16, 16, dtype=bf, rngs=rngs)
    def __call__(self, x):
        return x + self.out(jax.nn.gelu(self.attention(self.norm(x))))

def build(fixed=False):
    return nnx.eval_shape(lambda: Block(nnx.Rngs(0))), (jax.ShapeDtypeStruct((2, 8, 16), jnp.bfloat16),), {}
