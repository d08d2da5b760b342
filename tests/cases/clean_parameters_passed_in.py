"""A linen model applied to parameters that are arguments closes over nothing, however large they are."""
X64 = False
FRAMEWORK = "linen"
EXPECT = []
import flax.linen as nn, jax, jax.numpy as jnp

def build(fixed=False):
    model = nn.Dense(4096)
    def loss(variables, x):
        return jnp.mean(model.apply(variables, x) ** 2)
    x = jax.ShapeDtypeStruct((8, 1024), jnp.float32)
    return loss, (jax.eval_shape(model.init, jax.random.key(0), x), x), {}
