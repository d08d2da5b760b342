"""x64 is on for 64-bit indices; embeddings, masks and positions are made in the model's float32."""
X64 = True
FRAMEWORK = "plain"
EXPECT = []
import jax, jax.numpy as jnp

def f(p, tokens):
    x = p["embed"][tokens] + jnp.sin(jnp.arange(tokens.shape[-1], dtype=p["embed"].dtype))[:, None]
    scores = x @ jnp.swapaxes(x, -1, -2) / x.shape[-1] ** 0.5
    mask = jnp.arange(tokens.shape[-1])[:, None] >= jnp.arange(tokens.shape[-1])
    return jax.nn.softmax(jnp.where(mask, scores, -1e9)) @ x @ p["out"]

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return f, ({"embed": s((100, 16), jnp.float32), "out": s((16, 8), jnp.float32)}, s((2, 12), jnp.int64)), {}
