"""Inside a shard_map a NumPy scalar scales the local batch: JAX marks the scalar as varying, it is a literal all the same."""
X64 = False
MIN_JAX = (0, 6, 1)
FRAMEWORK = "plain"
EXPECT = [dict(rule="mixed-precision-matmul", cause="literal", phases={"forward", "backward"}, sites=3)]
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AbstractMesh, AxisType, PartitionSpec as P

def build(fixed=False):
    mesh = AbstractMesh((8,), ("data",), axis_types=(AxisType.Auto,))
    half = 0.5 if fixed else np.float32(0.5)
    def local(w, x):
        return (x * half) @ w  # CAUSE
    f = jax.shard_map(local, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"))
    s = jax.ShapeDtypeStruct
    return f, (s((32, 16), jnp.bfloat16), s((64, 32), jnp.bfloat16)), {}
