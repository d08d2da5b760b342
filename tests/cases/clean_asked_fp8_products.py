"""float8 products inside a model asked for bfloat16 are narrower than asked."""
X64 = False
FRAMEWORK = "plain"
VJP = False
EXPECT = []
import jax, jax.numpy as jnp
from jax import lax

def f(p, x):
    x8 = x.astype(jnp.float8_e4m3fn)
    h = lax.dot_general(x8, p["w8"], (((1,), (0,)), ((), ())), preferred_element_type=jnp.bfloat16)
    return h @ p["w"]

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    p = {"w8": s((32, 32), jnp.float8_e4m3fn), "w": s((32, 8), jnp.bfloat16)}
    return f, (p, s((8, 32), jnp.bfloat16)), {"compute_dtype": "bfloat16"}
