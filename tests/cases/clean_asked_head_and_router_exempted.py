"""A float32 head and router are wanted, and said so by name."""
X64 = False
FRAMEWORK = "linen"
EXPECT = []
import flax.linen as nn, jax, jax.numpy as jnp

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        bf, f32 = jnp.bfloat16, jnp.float32
        gates = jax.nn.softmax(nn.Dense(4, dtype=f32, name="router")(x.astype(f32))).astype(bf)
        x = nn.Dense(32, dtype=bf, name="body")(x) * gates.sum(-1, keepdims=True)
        return nn.Dense(10, dtype=f32, name="head")(x.astype(f32))

def build(fixed=False):
    ignore = ["wider-than-asked@head", "wider-than-asked@*/router", "mixed-precision-matmul@head", "mixed-precision-matmul@router"]
    return Net(), (jax.ShapeDtypeStruct((8, 32), jnp.bfloat16),), {"compute_dtype": "bfloat16", "ignore": ignore}
