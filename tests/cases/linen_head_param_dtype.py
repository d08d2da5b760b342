"""A linen model in bfloat16 whose wide vocabulary head was left at its defaults and runs in float32."""
X64 = False
FRAMEWORK = "linen"
EXPECT = [dict(rule="mixed-precision-matmul", cause="parameter", phases={"forward", "backward"}, sites=3)]
import flax.linen as nn, jax, jax.numpy as jnp

class Net(nn.Module):
    fixed: bool
    @nn.compact
    def __call__(self, x):
        x = nn.gelu(nn.Dense(64, dtype=jnp.bfloat16)(x))
        return nn.Dense(4096, dtype=jnp.bfloat16 if self.fixed else None)(x)  # CAUSE

def build(fixed=False):
    return Net(fixed), (jax.ShapeDtypeStruct((8, 32), jnp.bfloat16),), {}
