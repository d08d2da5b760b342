"""A float32 model asked for float32."""
X64 = False
FRAMEWORK = "nnx"
EXPECT = []
import jax, jax.numpy as jnp
from flax import nnx

def build(fixed=False):
    return nnx.Linear(16, 8, rngs=nnx.Rngs(0)), (jax.ShapeDtypeStruct((4, 16), jnp.float32),), {"compute_dtype": "float32"}
