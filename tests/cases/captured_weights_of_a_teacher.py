"""A distillation loss closes over the teacher's weights: they are baked into the program.
source: jax-ml/jax#10596"""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="captured-constant", cause="constant", phases={"forward"})]
import jax, jax.numpy as jnp, numpy as np
TEACHER = {"a": np.ones((512, 1024), np.float32), "b": np.ones((1024, 512), np.float32)}

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    def loss(p, x, teacher):
        target = jnp.tanh(x @ teacher["a"]) @ teacher["b"]  # CAUSE
        return jnp.mean((x @ p - target) ** 2)
    if fixed:
        return loss, (s((512, 512), jnp.float32), s((8, 512), jnp.float32), TEACHER), {}
    return (lambda p, x: loss(p, x, TEACHER)), (s((512, 512), jnp.float32), s((8, 512), jnp.float32)), {}
