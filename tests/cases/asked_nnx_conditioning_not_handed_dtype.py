"""The conditioning network of an nnx model was not handed the dtype."""
X64 = False
FRAMEWORK = "nnx"
EXPECT = [dict(rule="wider-than-asked", cause="parameter", phases={"forward", "backward"})]
import jax, jax.numpy as jnp
from flax import nnx

class Net(nnx.Module):
    def __init__(self, fixed, dtype, rngs):
        self.dtype = dtype
        self.time = nnx.Linear(64, 64, dtype=dtype if fixed else None, rngs=rngs)
        self.body = nnx.Linear(64, 64, dtype=dtype, rngs=rngs)
        self.out = nnx.Linear(64, 64, dtype=dtype, rngs=rngs)

    def __call__(self, x, t):
        condition = jax.nn.silu(self.time(t)).astype(x.dtype)  # CAUSE
        return self.out(jax.nn.gelu(self.body(x) + condition))

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return Net(fixed, jnp.bfloat16, nnx.Rngs(0)), (s((8, 64), jnp.bfloat16), s((8, 64), jnp.float32)), {"compute_dtype": "bfloat16"}
