"""An Equinox model is cast to bfloat16 inside the step, weights stay float32 outside: the usual mixed-precision recipe."""
X64 = False
FRAMEWORK = "equinox"
VJP = False
EXPECT = []
import equinox as eqx, jax, jax.numpy as jnp

def build(fixed=False):
    def loss(model, x, y):
        half = jax.tree.map(lambda a: a.astype(jnp.bfloat16) if eqx.is_inexact_array(a) else a, model)
        out = jax.vmap(half)(x.astype(jnp.bfloat16))
        return jnp.mean((out.astype(jnp.float32) - y) ** 2)
    def step(model, x, y):
        g = eqx.filter_grad(loss)(model, x, y)
        return eqx.apply_updates(model, jax.tree.map(lambda a: -1e-3 * a, g))
    s = jax.ShapeDtypeStruct
    return step, (eqx.nn.MLP(8, 4, 16, 2, key=jax.random.key(0)), s((6, 8), jnp.float32), s((6, 4), jnp.float32)), {}
