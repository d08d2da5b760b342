"""A Haiku model creates its parameters in float32 and feeds bfloat16 inputs: every product is float32."""
X64 = False
FRAMEWORK = "haiku"
EXPECT = [dict(rule="mixed-precision-matmul", cause="parameter", phases={"forward", "backward"}, sites=6)]
import haiku as hk, jax, jax.numpy as jnp

def build(fixed=False):
    dtype = jnp.bfloat16 if fixed else jnp.float32
    def f(x):
        for n in range(2):
            w = hk.get_parameter(f"w{n}", (32, 32), dtype, init=hk.initializers.RandomNormal())
            x = jnp.tanh(x @ w).astype(jnp.bfloat16)  # CAUSE
        return x
    return hk.transform(f), (jax.ShapeDtypeStruct((16, 32), jnp.bfloat16),), {}
