"""Two nested scans: the inner carry starts as a float32 default and every inner step multiplies in float32."""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="mixed-precision-matmul", cause="creation", phases={"forward", "backward"})]
import jax, jax.numpy as jnp

def f(w, xs, fixed):
    def outer(c, x):
        h0 = jnp.zeros((8, 16), x.dtype if fixed else jnp.float32)  # CAUSE
        inner = lambda h, xi: (jnp.tanh(h @ w + xi), None)  # CAUSE
        h, _ = jax.lax.scan(inner, h0, x)
        return (c + h.astype(c.dtype)).astype(c.dtype), None
    return jax.lax.scan(outer, jnp.zeros((8, 16), jnp.bfloat16), xs)[0]

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return (lambda w, xs: f(w, xs, fixed)), (s((16, 16), jnp.bfloat16), s((3, 5, 8, 16), jnp.bfloat16)), {}
