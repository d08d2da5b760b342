"""A bfloat16 train step with float32 loss, loss scaling, float32 gradient accumulation by scan and an EMA: all of it meant."""
X64 = False
FRAMEWORK = "plain"
VJP = False
EXPECT = []
import jax, jax.numpy as jnp

def loss(p, x, y):
    logits = jnp.tanh(x @ p["a"]) @ p["b"]
    return jnp.mean((logits.astype(jnp.float32) - y) ** 2) * 1024.0

def step(p, ema, xs, ys):
    def micro(acc, batch):
        g = jax.grad(loss)(p, *batch)
        return jax.tree.map(lambda a, b: a + b.astype(jnp.float32) / 1024.0, acc, g), None
    zeros = jax.tree.map(lambda a: jnp.zeros(a.shape, jnp.float32), p)
    g, _ = jax.lax.scan(micro, zeros, (xs, ys))
    p = jax.tree.map(lambda a, b: (a.astype(jnp.float32) - 1e-3 * b).astype(a.dtype), p, g)
    return p, jax.tree.map(lambda e, a: 0.99 * e + 0.01 * a.astype(jnp.float32), ema, p)

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    p = {"a": s((16, 32), jnp.bfloat16), "b": s((32, 8), jnp.bfloat16)}
    ema = {"a": s((16, 32), jnp.float32), "b": s((32, 8), jnp.float32)}
    return step, (p, ema, s((4, 8, 16), jnp.bfloat16), s((4, 8, 8), jnp.float32)), {}
