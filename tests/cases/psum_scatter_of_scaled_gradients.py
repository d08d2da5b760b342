"""Gradients are scaled by a float32 scalar before a reduce-scatter of a ZeRO-style step."""
X64 = False
MIN_JAX = (0, 6, 1)
FRAMEWORK = "plain"
EXPECT = [dict(rule="wide-collective", cause="literal", phases={"forward"})]
VJP = False
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AbstractMesh, AxisType, PartitionSpec as P

def build(fixed=False):
    mesh = AbstractMesh((8,), ("data",), axis_types=(AxisType.Auto,))
    scale = 1 / 8 if fixed else np.float32(1 / 8)
    def local(w, x):
        g = jax.grad(lambda w: jnp.sum((x @ w).astype(jnp.float32)))(w)
        return jax.lax.psum_scatter(g * scale, "data", tiled=True)  # CAUSE
    f = jax.shard_map(local, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"), check_vma=False)
    s = jax.ShapeDtypeStruct
    return f, (s((16, 8), jnp.bfloat16), s((64, 16), jnp.bfloat16)), {}
