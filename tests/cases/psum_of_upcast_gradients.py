"""Data-parallel gradients are cast to float32 before the all-reduce, which doubles the bytes on the network for a bfloat16 model.
source: AI-Hypercomputer/maxtext reports on gradient all-reduce dtype"""
X64 = False
MIN_JAX = (0, 6, 0)
FRAMEWORK = "plain"
EXPECT = [dict(rule="wide-collective", cause="cast", phases={"forward"})]
VJP = False
import jax, jax.numpy as jnp
from jax.sharding import AbstractMesh, AxisType, PartitionSpec as P

def build(fixed=False):
    mesh = AbstractMesh((8,), ("data",), axis_types=(AxisType.Auto,))
    def local(w, x):
        g = jax.grad(lambda w: jnp.sum((x @ w).astype(jnp.float32)))(w)
        if not fixed:
            g = g.astype(jnp.float32)  # CAUSE
        return jax.lax.psum(g, "data")
    f = jax.shard_map(local, mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), check_vma=False)
    s = jax.ShapeDtypeStruct
    return f, (s((16, 8), jnp.bfloat16), s((64, 16), jnp.bfloat16)), {}
