"""A vision tower whose blocks have a field of another name, with default float32, inside a bfloat16 model.
source: a public vision-language model, 45% of matmul FLOPs"""
X64 = False
FRAMEWORK = "linen"
EXPECT = [dict(rule="wider-than-asked", cause="parameter", phases={"forward", "backward"})]
import flax.linen as nn, jax, jax.numpy as jnp
from typing import Any

class Block(nn.Module):
    matmul_type: Any = "float32"
    @nn.compact
    def __call__(self, x):
        return x + nn.Dense(32, dtype=self.matmul_type)(nn.gelu(nn.Dense(64, dtype=self.matmul_type)(x)))  # CAUSE

class Vision(nn.Module):
    fixed: bool
    @nn.compact
    def __call__(self, x):
        for _ in range(4):
            x = Block("bfloat16")(x) if self.fixed else Block()(x)  # CAUSE
        return x

class Net(nn.Module):
    fixed: bool
    dtype: Any = jnp.bfloat16
    @nn.compact
    def __call__(self, image, text):
        seen = Vision(self.fixed, name="vision_encoder")(image)
        x = jnp.concatenate([seen.astype(self.dtype), text], 1)
        return nn.Dense(32, dtype=self.dtype)(nn.gelu(nn.Dense(64, dtype=self.dtype)(x)))

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return Net(fixed), (s((2, 8, 32), jnp.float32), s((2, 4, 32), jnp.bfloat16)), {"compute_dtype": "bfloat16"}
