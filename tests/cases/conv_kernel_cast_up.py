"""A convolution casts its bfloat16 input up to match float32 kernels that nobody narrowed."""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="mixed-precision-matmul", cause={"parameter", "cast"}, phases={"forward", "backward"}, sites=3)]
import jax, jax.numpy as jnp
from jax import lax

def f(w, x):
    y = lax.conv_general_dilated(x.astype(w.dtype), w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))  # CAUSE
    return y.astype(x.dtype)

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    return f, (s((3, 3, 16, 32), jnp.bfloat16 if fixed else jnp.float32), s((2, 16, 16, 16), jnp.bfloat16)), {}
