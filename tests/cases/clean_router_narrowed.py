"""A mixture of experts: router weights are float32 parameters narrowed for the product, the gates are float32 and narrowed
before they weigh the experts."""
X64 = False
FRAMEWORK = "linen"
EXPECT = []
import flax.linen as nn, jax, jax.numpy as jnp

class MoE(nn.Module):
    @nn.compact
    def __call__(self, x):
        bf = jnp.bfloat16
        logits = nn.Dense(4, dtype=bf, name="router")(x)
        gates = jax.nn.softmax(logits.astype(jnp.float32)).astype(x.dtype)
        w = self.param("experts", nn.initializers.lecun_normal(), (4, 16, 16)).astype(bf)
        return jnp.einsum("be,bi,eij->bj", gates, x, w)

def build(fixed=False):
    return MoE(), (jax.ShapeDtypeStruct((8, 16), jnp.bfloat16),), {}
