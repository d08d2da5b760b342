"""float32 master parameters narrowed before use, in an Equinox step with a float32 loss and optimiser."""
X64 = False
FRAMEWORK = "equinox"
VJP = False
EXPECT = []
import equinox as eqx, jax, jax.numpy as jnp, optax

def build(fixed=False):
    tx = optax.adam(1e-3)
    def loss(model, x, y):
        half = jax.tree.map(lambda a: a.astype(jnp.bfloat16) if eqx.is_inexact_array(a) else a, model)
        return jnp.mean((jax.vmap(half)(x.astype(jnp.bfloat16)).astype(jnp.float32) - y) ** 2)
    def step(model, state, x, y):
        g = eqx.filter_grad(loss)(model, x, y)
        updates, state = tx.update(g, state, model)
        return eqx.apply_updates(model, updates), state
    model = eqx.nn.MLP(8, 4, 16, 1, key=jax.random.key(0))
    state = jax.eval_shape(tx.init, eqx.filter(model, eqx.is_inexact_array))
    s = jax.ShapeDtypeStruct
    return step, (model, state, s((6, 8), jnp.float32), s((6, 4), jnp.float32)), {"compute_dtype": "bfloat16"}
