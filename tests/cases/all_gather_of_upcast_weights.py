"""Sharded bfloat16 weights are cast to float32 before they are gathered: twice the bytes on the wire."""
X64 = False
MIN_JAX = (0, 6, 1)
FRAMEWORK = "plain"
EXPECT = [dict(rule="wide-collective", cause="cast", phases={"forward"})]
VJP = False
import jax, jax.numpy as jnp
from jax.sharding import AbstractMesh, AxisType, PartitionSpec as P

def build(fixed=False):
    mesh = AbstractMesh((16,), ("model",), axis_types=(AxisType.Auto,))
    def local(w, x):
        if not fixed:
            w = w.astype(jnp.float32)  # CAUSE
        w = jax.lax.all_gather(w, "model", tiled=True)
        return x @ w.astype(x.dtype)
    f = jax.shard_map(local, mesh=mesh, in_specs=(P("model"), P()), out_specs=P(), check_vma=False)
    s = jax.ShapeDtypeStruct
    return f, (s((64, 32), jnp.bfloat16), s((8, 64), jnp.bfloat16)), {}
