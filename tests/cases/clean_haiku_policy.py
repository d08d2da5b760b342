"""Haiku with a jmp-like policy by hand: parameters float32, narrowed as they are fetched."""
X64 = False
FRAMEWORK = "haiku"
EXPECT = []
import haiku as hk, jax, jax.numpy as jnp

def narrow(next_getter, value, context):
    return next_getter(value).astype(jnp.bfloat16)

def build(fixed=False):
    def f(x):
        with hk.custom_getter(narrow):
            return hk.nets.MLP([32, 8])(hk.LayerNorm(-1, True, True)(x))
    return hk.transform(f), (jax.ShapeDtypeStruct((4, 16), jnp.bfloat16),), {}
