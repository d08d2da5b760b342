"""A NumPy metric is called from the step: the device waits for the host every time."""
X64 = False
FRAMEWORK = "plain"
VJP = False
EXPECT = [dict(rule="host-callback", cause="callback", phases={"forward"})]
import jax, jax.numpy as jnp, numpy as np

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    def step(p, x):
        y = x @ p
        if fixed:
            return y, jnp.median(y)
        return y, jax.pure_callback(lambda y: np.median(y).astype(np.float32), s((), jnp.float32), y)  # CAUSE
    return step, (s((8, 8), jnp.float32), s((4, 8), jnp.float32)), {}
