"""A hand-written RMS norm computes in float32 and returns float32 instead of the dtype it was given.
source: pattern of google/flax#612 in hand-written norms"""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="mixed-precision-matmul", cause={"cast", "parameter"}, phases={"forward", "backward"}, sites=6)]
import jax, jax.numpy as jnp

def rms_norm(x, g, fixed):
    x32 = x.astype(jnp.float32)  # CAUSE
    y = x32 * jax.lax.rsqrt(jnp.mean(x32**2, -1, keepdims=True) + 1e-6)
    return y.astype(x.dtype) * g if fixed else y * g  # CAUSE

def block(p, x, fixed):
    h = rms_norm(x, p["g"], fixed)
    return (jax.nn.silu(h @ p["up"]) @ p["down"]).astype(x.dtype)

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    p = {"g": s((32,), jnp.bfloat16), "up": s((32, 64), jnp.bfloat16), "down": s((64, 32), jnp.bfloat16)}
    return (lambda p, x: block(p, x, fixed)), (p, s((8, 32), jnp.bfloat16)), {}
