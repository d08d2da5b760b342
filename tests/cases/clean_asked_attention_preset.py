"""JAX's own attention keeps its logits in float32 by an algorithm that multiplies in bfloat16."""
X64 = False
FRAMEWORK = "plain"
EXPECT = []
import jax, jax.numpy as jnp

def f(p, x):
    q, k, v = (jnp.einsum("btd,dnh->btnh", x, p[n]) for n in "qkv")
    return jax.nn.dot_product_attention(q, k, v)

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return f, ({n: s((32, 2, 16), jnp.bfloat16) for n in "qkv"}, s((2, 8, 32), jnp.bfloat16)), {"compute_dtype": "bfloat16"}
