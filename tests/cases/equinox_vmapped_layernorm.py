"""An Equinox block in bfloat16 with a float32 LayerNorm, vmapped over the sequence."""
X64 = False
FRAMEWORK = "equinox"
EXPECT = [dict(rule="mixed-precision-matmul", cause={"cast", "parameter"}, phases={"forward", "backward"}, sites=3)]
import equinox as eqx, jax, jax.numpy as jnp

class Block(eqx.Module):
    a: eqx.nn.Linear
    scale: jax.Array
    b: eqx.nn.Linear
    def __call__(self, xs):
        xs = jax.vmap(self.a)(xs)
        xs = xs * self.scale  # CAUSE
        return jax.vmap(self.b)(xs)

def build(fixed=False):
    k = jax.random.key(0)
    bf = jnp.bfloat16
    scale = jnp.ones(32, bf if fixed else jnp.float32)
    return Block(eqx.nn.Linear(16, 32, dtype=bf, key=k), scale, eqx.nn.Linear(32, 8, dtype=bf, key=k)), (jax.ShapeDtypeStruct((4, 16), bf),), {}
