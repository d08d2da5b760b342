"""An Equinox train step scales updates with a NumPy float32 scalar: the bfloat16 model comes back as float32.
source: patrick-kidger/equinox#817"""
X64 = False
FRAMEWORK = "equinox"
VJP = False
EXPECT = [dict(rule="unstable-state", cause={"literal", "constant"}, phases={"forward"})]
import equinox as eqx, jax, jax.numpy as jnp, numpy as np

def build(fixed=False):
    rate = 1e-3 if fixed else np.float32(1e-3)
    def step(model, x):
        g = eqx.filter_grad(lambda m, x: jnp.mean(jax.vmap(m)(x).astype(jnp.float32) ** 2))(model, x)
        return jax.tree.map(lambda a, b: a if b is None else a - rate * b, model, g, is_leaf=lambda v: v is None)  # CAUSE
    model = eqx.nn.Linear(8, 4, dtype=jnp.bfloat16, key=jax.random.key(0))
    return step, (model, jax.ShapeDtypeStruct((6, 8), jnp.bfloat16)), {}
