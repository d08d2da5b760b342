"""A debug print left inside a scan body syncs with the host at every step.
source: jax sharp bits; jax-ml/jax reports on debug callbacks in loops"""
X64 = False
MIN_JAX = (0, 6, 0)
FRAMEWORK = "plain"
EXPECT = [dict(rule="host-callback", cause="callback", phases={"forward"})]
import jax, jax.numpy as jnp

def build(fixed=False):
    def f(w, xs):
        def step(h, x):
            h = jnp.tanh(h @ w + x)
            if not fixed:
                jax.debug.print("h {}", h[0, 0])  # CAUSE
            return h, None
        return jax.lax.scan(step, xs[0], xs)[0]
    s = jax.ShapeDtypeStruct
    return f, (s((8, 8), jnp.float32), s((5, 4, 8), jnp.float32)), {}
