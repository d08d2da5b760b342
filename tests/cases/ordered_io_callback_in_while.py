"""A solver reports every iteration by an ordered io_callback."""
X64 = False
FRAMEWORK = "plain"
VJP = False
EXPECT = [dict(rule="host-callback", cause="callback", phases={"forward"})]
import jax, jax.numpy as jnp
from jax.experimental import io_callback

def build(fixed=False):
    def solve(a, x):
        def body(c):
            k, x = c
            if not fixed:
                io_callback(lambda r: None, None, jnp.sum(x), ordered=True)  # CAUSE
            return k + 1, x - 0.1 * (a @ x)
        return jax.lax.while_loop(lambda c: c[0] < 50, body, (0, x))[1]
    s = jax.ShapeDtypeStruct
    return solve, (s((8, 8), jnp.float32), s((8, 1), jnp.float32)), {}
