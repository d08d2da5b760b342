"""A float32 model computes its attention in bfloat16 and adds the result to its float32 stream: the stream, and the products
that read it, are float32 with and without that."""
X64 = False
FRAMEWORK = "plain"
EXPECT = []
import jax, jax.numpy as jnp

def attention(p, x):
    q, k, v = (x.astype(jnp.bfloat16) @ p[n].astype(jnp.bfloat16) for n in "qkv")
    return jax.nn.softmax((q @ k.T).astype(jnp.float32)).astype(jnp.bfloat16) @ v

def f(p, x):
    x = jnp.tanh(x @ p["in"])
    for layer in p["layers"]:
        x = x + attention(layer, x)
        x = x + attention(layer, x).astype(x.dtype)
        x = x + jax.nn.gelu(x @ layer["up"]) @ layer["down"]
    return x

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    layer = {n: s((32, 32), jnp.float32) for n in (*"qkv", "up", "down")}
    return f, ({"in": s((16, 32), jnp.float32), "layers": [layer] * 2}, s((8, 16), jnp.float32)), {}
