"""A convolutional stem left at its defaults reads float32 images in float32; the rest is bfloat16."""
X64 = False
FRAMEWORK = "linen"
EXPECT = [dict(rule="wider-than-asked", cause="parameter", phases={"forward", "backward"})]
import flax.linen as nn, jax, jax.numpy as jnp

class Net(nn.Module):
    fixed: bool
    @nn.compact
    def __call__(self, x):
        bf = jnp.bfloat16
        x = nn.Conv(16, (3, 3), dtype=bf if self.fixed else None, name="stem")(x).astype(bf)  # CAUSE
        return nn.Dense(8, dtype=bf)(x.mean((1, 2)))

def build(fixed=False):
    return Net(fixed), (jax.ShapeDtypeStruct((4, 32, 32, 3), jnp.float32),), {"compute_dtype": "bfloat16"}
