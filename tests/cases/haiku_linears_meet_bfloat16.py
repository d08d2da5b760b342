"""A Haiku model narrows its activations between layers but not its parameters: the same thing in every layer, on every line."""
X64 = False
FRAMEWORK = "haiku"
EXPECT = [dict(rule="mixed-precision-matmul", cause={"parameter", "cast"}, phases={"forward", "backward"}, sites=9)]
import haiku as hk, jax, jax.numpy as jnp

def build(fixed=False):
    dtype = jnp.bfloat16 if fixed else jnp.float32
    def dense(x, name):
        w = hk.get_parameter(name, (32, 32), dtype, init=hk.initializers.RandomNormal())
        return x, w
    def f(x):
        x, w = dense(x, "first")
        x = jnp.tanh(x @ w).astype(jnp.bfloat16)  # CAUSE
        x, w = dense(x, "second")
        x = jnp.sin(x @ w).astype(jnp.bfloat16)
        x, w = dense(x, "third")
        return jnp.cos(x @ w).astype(jnp.bfloat16)
    return hk.transform(f), (jax.ShapeDtypeStruct((16, 32), jnp.bfloat16),), {}
