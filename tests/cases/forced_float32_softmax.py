"""flax attention with force_fp32_for_softmax: the probabilities stay float32 and meet bfloat16 values."""
X64 = False
FRAMEWORK = "linen"
EXPECT = [dict(rule="mixed-precision-matmul", cause={"cast", "accumulation"}, phases={"forward", "backward"})]
import flax.linen as nn, jax, jax.numpy as jnp

class Net(nn.Module):
    fixed: bool
    @nn.compact
    def __call__(self, x):
        return nn.MultiHeadDotProductAttention(2, dtype=jnp.bfloat16, force_fp32_for_softmax=not self.fixed)(x, x)  # CAUSE

def build(fixed=False):
    return Net(fixed), (jax.ShapeDtypeStruct((2, 64, 32), jnp.bfloat16),), {}
