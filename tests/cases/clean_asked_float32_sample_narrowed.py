"""A float32 sample that is narrowed before its first product, in a model that does as it was asked."""
X64 = False
FRAMEWORK = "linen"
EXPECT = []
import flax.linen as nn, jax, jax.numpy as jnp

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.gelu(nn.Dense(64, dtype=jnp.bfloat16)(x))
        return nn.Dense(8, dtype=jnp.bfloat16)(nn.LayerNorm(dtype=jnp.bfloat16)(x)).astype(jnp.float32)

def build(fixed=False):
    return Net(), (jax.ShapeDtypeStruct((8, 32), jnp.float32),), {"compute_dtype": "bfloat16"}
