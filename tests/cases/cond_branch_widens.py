"""One branch of a cond computes a gate with a NumPy float32 array; both branches then return float32:
the array in one branch, the cast that matches it in the other.
source: composed from jax-ml/jax reports on cond branches that disagree on dtype"""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="mixed-precision-matmul", cause="constant", phases={"forward", "backward"}, sites=3),
          dict(rule="mixed-precision-matmul", cause="cast", phases={"forward", "backward"}, sites=3)]
import jax, jax.numpy as jnp, numpy as np
GATE = np.linspace(0, 1, 16, dtype=np.float32)

def f(p, x, flag, fixed):
    gate = jnp.asarray(GATE, x.dtype) if fixed else GATE
    out = x.dtype if fixed else jnp.float32
    x = jax.lax.cond(flag, lambda x: (x * gate).astype(out), lambda x: x.astype(out), x)  # CAUSE
    return x @ p

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return (lambda p, x, flag: f(p, x, flag, fixed)), (s((16, 8), jnp.bfloat16), s((4, 16), jnp.bfloat16), s((), bool)), {}
