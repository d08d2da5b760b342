"""A whole train step differentiates itself: the literal in the model widens forward and backward products.
source: google-deepmind/optax#1405 (numpy scalar promotion), FluxML/Flux.jl#613"""
X64 = False
FRAMEWORK = "plain"
VJP = False
EXPECT = [dict(rule="mixed-precision-matmul", cause="literal", phases={"forward", "backward"}, sites=6)]
import jax, jax.numpy as jnp, numpy as np

def build(fixed=False):
    scale = 0.125 if fixed else np.float32(0.125)
    def loss(p, x):
        h = jnp.tanh(x @ p["a"]) * scale  # CAUSE
        return jnp.mean((h @ p["b"] @ p["c"]).astype(jnp.float32) ** 2)
    def step(p, x):
        l, g = jax.value_and_grad(loss)(p, x)
        return jax.tree.map(lambda a, b: (a - 1e-3 * b).astype(a.dtype), p, g), l
    s = jax.ShapeDtypeStruct
    p = {"a": s((16, 16), jnp.bfloat16), "b": s((16, 8), jnp.bfloat16), "c": s((8, 8), jnp.bfloat16)}
    return step, (p, s((4, 16), jnp.bfloat16)), {}
