"""Gumbel noise drawn in float64 by default under x64 is added to float32 logits before an argmax: no product, twice the bytes."""
X64 = True
FRAMEWORK = "plain"
VJP = False
EXPECT = [dict(rule="float64-values", cause="creation", phases={"forward"})]
import jax, jax.numpy as jnp

def build(fixed=False):
    def sample(p, key, x):
        logits = x @ p
        noise = jax.random.gumbel(key, logits.shape, logits.dtype) if fixed else jax.random.gumbel(key, logits.shape)  # CAUSE
        return jnp.argmax(logits + noise, -1)  # CAUSE
    s = jax.ShapeDtypeStruct
    key = jax.eval_shape(jax.random.key, 0)
    return sample, (s((64, 1000), jnp.float32), key, s((512, 64), jnp.float32)), {}
