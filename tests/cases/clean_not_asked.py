"""Nobody asked, and a float32 part of a bfloat16 model that says so is a note, never a finding."""
X64 = False
FRAMEWORK = "linen"
EXPECT = []
import flax.linen as nn, jax, jax.numpy as jnp
from typing import Any

class Net(nn.Module):
    dtype: Any = jnp.bfloat16
    @nn.compact
    def __call__(self, x, t):
        c = nn.Dense(32, name="condition")(t).astype(self.dtype)
        return nn.Dense(32, dtype=self.dtype, name="body")(x + c)

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return Net(), (s((4, 32), jnp.bfloat16), s((4, 32), jnp.float32)), {}
