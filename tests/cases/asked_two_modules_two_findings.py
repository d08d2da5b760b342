"""Two modules of different kinds of fault: a conditioning network that is float32, and a constant projection."""
X64 = False
FRAMEWORK = "linen"
EXPECT = [dict(rule="wider-than-asked", cause="parameter", phases={"forward", "backward"}),
          dict(rule="wider-than-asked", cause="constant", phases={"forward", "backward"})]
import flax.linen as nn, jax, jax.numpy as jnp, numpy as np
PROJECTION = np.linspace(-1, 1, 32 * 32, dtype=np.float32).reshape(32, 32)

class Net(nn.Module):
    fixed: bool
    @nn.compact
    def __call__(self, x, t, y):
        bf = jnp.bfloat16
        c = nn.Dense(32, dtype=bf if self.fixed else None, name="condition")(t).astype(bf)  # CAUSE
        y = (y.astype(bf) @ PROJECTION.astype(bf)) if self.fixed else (y @ PROJECTION).astype(bf)  # CAUSE
        return nn.Dense(32, dtype=bf, name="body")(x + c + y)

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return Net(fixed), (s((4, 32), jnp.bfloat16), s((4, 32), jnp.float32), s((4, 32), jnp.float32)), {"compute_dtype": "bfloat16"}
