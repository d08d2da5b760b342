"""An Equinox autoencoder: the encoder was cast to bfloat16, the decoder was forgotten and is fed float32."""
X64 = False
FRAMEWORK = "equinox"
EXPECT = [dict(rule="wider-than-asked", cause="parameter", phases={"forward", "backward"})]
import equinox as eqx, jax, jax.numpy as jnp

class Net(eqx.Module):
    encoder: eqx.nn.MLP
    decoder: eqx.nn.MLP
    dtype: str = eqx.field(static=True)
    def __call__(self, x, z):
        h = self.encoder(x)
        return self.decoder(z).astype(h.dtype) + h  # CAUSE

def build(fixed=False):
    a, b = jax.random.split(jax.random.key(0))
    bf = jnp.bfloat16
    net = Net(eqx.nn.MLP(16, 16, 32, 2, dtype=bf, key=a), eqx.nn.MLP(16, 16, 32, 2, dtype=bf if fixed else jnp.float32, key=b), "bfloat16")
    s = jax.ShapeDtypeStruct
    return net, (s((16,), bf), s((16,), bf if fixed else jnp.float32)), {"compute_dtype": "bfloat16"}
