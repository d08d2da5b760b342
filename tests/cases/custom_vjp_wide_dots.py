"""A hand-written gradient casts everything to float32 for accuracy, so its own products run in float32; the forward is clean."""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="mixed-precision-matmul", cause={"cotangent", "cast"}, phases={"backward"}, sites=2)]
import jax, jax.numpy as jnp

def make(fixed):
    @jax.custom_vjp
    def linear(w, x):
        return x @ w
    def fwd(w, x):
        return linear(w, x), (w, x)
    def bwd(saved, g):  # CAUSE
        w, x = saved
        if not fixed:
            w, x, g = (v.astype(jnp.float32) for v in (w, x, g))  # CAUSE
        return (x.T @ g).astype(jnp.bfloat16), (g @ w.T).astype(jnp.bfloat16)
    linear.defvjp(fwd, bwd)
    return linear

def build(fixed=False):
    linear = make(fixed)
    def f(p, x):
        return jnp.tanh(linear(p, x))  # CAUSE
    s = jax.ShapeDtypeStruct
    return f, (s((16, 8), jnp.bfloat16), s((4, 16), jnp.bfloat16)), {}
