"""Gradients of float32 parameters are summed in float32, and so is a float32 loss of a bfloat16 model: born wide, or a scalar."""
X64 = False
MIN_JAX = (0, 6, 1)
FRAMEWORK = "plain"
EXPECT = []
VJP = False
import jax, jax.numpy as jnp
from jax.sharding import AbstractMesh, AxisType, PartitionSpec as P

def build(fixed=False):
    mesh = AbstractMesh((8,), ("data",), axis_types=(AxisType.Auto,))
    def local(w, x):
        def loss(w):
            return jnp.mean((x @ w.astype(x.dtype)).astype(jnp.float32) ** 2)
        l, g = jax.value_and_grad(loss)(w)
        return jax.lax.pmean(l, "data"), jax.lax.psum(g, "data")
    f = jax.shard_map(local, mesh=mesh, in_specs=(P(), P("data")), out_specs=(P(), P()), check_vma=False)
    s = jax.ShapeDtypeStruct
    return f, (s((16, 8), jnp.float32), s((64, 16), jnp.bfloat16)), {}
