"""A gradient inside the model (WGAN-GP): a NumPy float64 weight reaches products of the inner backward pass too."""
X64 = True
FRAMEWORK = "plain"
VJP = False
EXPECT = [dict(rule="float64-matmul", cause="literal", phases={"forward", "backward"})]
import jax, jax.numpy as jnp, numpy as np

def build(fixed=False):
    alpha = 0.2 if fixed else np.float64(0.2)
    def critic(p, x):
        h = x @ p["a"]
        h = jnp.where(h > 0, h, alpha * h)  # CAUSE
        return jnp.sum(h @ p["b"])
    def penalty(p, x):
        return jnp.sum(jax.grad(critic, 1)(p, x) ** 2)
    s = jax.ShapeDtypeStruct
    return penalty, ({"a": s((16, 16), jnp.float32), "b": s((16, 1), jnp.float32)}, s((4, 16), jnp.float32)), {}
