"""Attention weights are asked for in float32 by `dtype=` (softmax in float32), and the product of queries and keys is float32 with them.
source: huggingface/transformers, the flax Llama with attention_softmax_in_fp32"""
X64 = False
FRAMEWORK = "linen"
EXPECT = [dict(rule="mixed-precision-matmul", cause="cast", phases={"forward", "backward"}, sites=3)]
import flax.linen as nn, jax, jax.numpy as jnp

class Attention(nn.Module):
    fixed: bool
    @nn.compact
    def __call__(self, x):
        q, k, v = (nn.DenseGeneral((2, 64), dtype=jnp.bfloat16, name=n)(x) for n in "qkv")
        dtype = jnp.bfloat16 if self.fixed else jnp.float32
        weights = nn.dot_product_attention_weights(q, k, dtype=dtype).astype(x.dtype)  # CAUSE
        out = jnp.einsum("...hqk,...khd->...qhd", weights, v)
        return nn.DenseGeneral(64, axis=(-2, -1), dtype=jnp.bfloat16, name="o")(out)

def build(fixed=False):
    return Attention(fixed), (jax.ShapeDtypeStruct((2, 128, 64), jnp.bfloat16),), {}
