"""A spectral layer in float32: complex64 has the width of its float32 components, so nothing was widened."""
X64 = False
FRAMEWORK = "plain"
EXPECT = []
import jax, jax.numpy as jnp

def f(p, x):
    modes = jnp.fft.rfft(x, axis=1)[:, :8]
    mixed = jnp.einsum("bmi,mio->bmo", modes, p["re"] + 1j * p["im"])
    return jnp.fft.irfft(mixed, n=x.shape[1], axis=1) + x @ p["w"]

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    p = {"re": s((8, 16, 16), jnp.float32), "im": s((8, 16, 16), jnp.float32), "w": s((16, 16), jnp.float32)}
    return f, (p, s((2, 32, 16), jnp.float32)), {}
