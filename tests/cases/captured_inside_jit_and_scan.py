"""A big table is closed over by a jitted helper that a scan calls: it is a constant of the inner program, and counts once."""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="captured-constant", cause="constant", phases={"forward"})]
import jax, jax.numpy as jnp, numpy as np

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    table = jnp.asarray(np.ones((8 if fixed else 4096, 128), np.float32))
    @jax.jit
    def lookup(i):
        return table[i % table.shape[0]]  # CAUSE
    def f(w, idx):
        return jax.lax.scan(lambda h, i: (jnp.tanh(h @ w + lookup(i)), None), jnp.zeros((4, 128), jnp.float32), idx)[0]
    return f, (s((128, 128), jnp.float32), s((5, 4), jnp.int32)), {}
