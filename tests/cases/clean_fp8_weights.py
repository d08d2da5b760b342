"""float8 weights and their scale are brought to bfloat16 to be multiplied: storage is narrow, the product is as asked."""
X64 = False
FRAMEWORK = "plain"
EXPECT = []
import jax, jax.numpy as jnp

def f(p, x):
    w = p["w"].astype(jnp.bfloat16) * p["scale"]
    return jax.nn.relu(x @ w)

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return f, ({"w": s((16, 8), jnp.float8_e4m3fn), "scale": s((8,), jnp.bfloat16)}, s((4, 16), jnp.bfloat16)), {}
