"""x64 is on, the model does as it was asked in float32."""
X64 = True
FRAMEWORK = "haiku"
EXPECT = []
import haiku as hk, jax, jax.numpy as jnp

def build(fixed=False):
    f = hk.transform(lambda x: hk.nets.MLP([32, 8])(x))
    return f, (jax.ShapeDtypeStruct((4, 16), jnp.float32),), {"compute_dtype": "float32"}
