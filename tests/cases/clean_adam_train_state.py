"""A flax TrainState with Adam: everything comes back as it went in."""
X64 = False
FRAMEWORK = "linen"
VJP = False
EXPECT = []
import flax.linen as nn, jax, jax.numpy as jnp, optax
from flax.training.train_state import TrainState

def build(fixed=False):
    model = nn.Dense(4)
    x = jax.ShapeDtypeStruct((8, 16), jnp.float32)
    def create():
        return TrainState.create(apply_fn=model.apply, params=model.init(jax.random.key(0), jnp.zeros(x.shape)), tx=optax.adam(1e-3))
    def step(state, x):
        g = jax.grad(lambda p: jnp.mean(state.apply_fn(p, x) ** 2))(state.params)
        return state.apply_gradients(grads=g)
    state = jax.eval_shape(create)
    return step, (state.replace(step=jax.ShapeDtypeStruct((), jnp.int32)), x), {}
