"""float32 operands with an algorithm that multiplies in bfloat16: the product is narrow whatever its operands say."""
X64 = False
FRAMEWORK = "plain"
EXPECT = []
import jax, jax.numpy as jnp
from jax import lax

def f(p, x):
    y = lax.dot_general(x.astype(jnp.float32), p, (((1,), (0,)), ((), ())), precision=lax.DotAlgorithmPreset.BF16_BF16_F32)
    return y.astype(jnp.bfloat16)

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return f, (s((16, 8), jnp.float32), s((4, 16), jnp.bfloat16)), {}
