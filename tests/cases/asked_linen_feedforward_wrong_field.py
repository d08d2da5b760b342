"""A gated feed-forward passes its dtype positionally into another field: it computes in float32 in a model configured for bfloat16.
source: a public diffusion transformer, 66% of matmul FLOPs"""
X64 = False
FRAMEWORK = "linen"
EXPECT = [dict(rule="wider-than-asked", cause="parameter", phases={"forward", "backward"})]
import flax.linen as nn, jax, jax.numpy as jnp
from typing import Any

class GatedUnit(nn.Module):
    width: int
    dropout: Any = 0.0
    dtype: Any = jnp.float32
    @nn.compact
    def __call__(self, x):
        gate, up = jnp.split(nn.Dense(2 * self.width, dtype=self.dtype)(x), 2, -1)  # CAUSE
        return nn.Dense(x.shape[-1], dtype=self.dtype)(nn.gelu(gate) * up)  # CAUSE

class Net(nn.Module):
    fixed: bool
    dtype: Any = jnp.bfloat16
    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            h = nn.SelfAttention(2, dtype=self.dtype)(x)
            unit = GatedUnit(64, 0.0, self.dtype) if self.fixed else GatedUnit(64, self.dtype)
            x = x + h.astype(x.dtype) + unit(x).astype(x.dtype)
        return x

def build(fixed=False):
    return Net(fixed), (jax.ShapeDtypeStruct((2, 8, 32), jnp.float32),), {"compute_dtype": "bfloat16"}
