"""Under jax.checkpoint the widened product is computed again in the backward pass: that is one more affected product."""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="mixed-precision-matmul", cause="literal", phases={"forward", "backward"})]
import jax, jax.numpy as jnp, numpy as np

def layer(w, x, fixed):
    h = jnp.sin(x) * (0.5 if fixed else np.float32(0.5))  # CAUSE
    return jnp.tanh(h @ w["a"]) @ w["b"]

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    f = jax.checkpoint(lambda w, x: layer(w, x, fixed))
    return (lambda w, x: f(w, x).astype(jnp.bfloat16)), ({"a": s((16, 16), jnp.bfloat16), "b": s((16, 16), jnp.bfloat16)}, s((4, 16), jnp.bfloat16)), {}
