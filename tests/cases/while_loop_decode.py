"""A decoding loop (while_loop, no gradient) keeps its state in float32 by a default dtype; every step's product runs in float32."""
X64 = False
FRAMEWORK = "plain"
VJP = False
EXPECT = [dict(rule="mixed-precision-matmul", cause="creation", phases={"forward"}, sites=1)]
import jax, jax.numpy as jnp

def decode(w, x, fixed):
    h0 = jnp.zeros(x.shape, x.dtype if fixed else jnp.float32)  # CAUSE
    def body(c):
        k, h = c
        return k + 1, jnp.tanh(x + h @ w)  # CAUSE
    return jax.lax.while_loop(lambda c: c[0] < 10, body, (0, h0))[1]

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return (lambda w, x: decode(w, x, fixed)), (s((16, 16), jnp.bfloat16), s((4, 16), jnp.bfloat16)), {}
