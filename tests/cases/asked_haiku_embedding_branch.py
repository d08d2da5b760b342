"""A Haiku model under a bfloat16 policy: one branch reads float32 features with float32 weights."""
X64 = False
FRAMEWORK = "haiku"
EXPECT = [dict(rule="wider-than-asked", cause="parameter", phases={"forward", "backward"})]
import haiku as hk, jax, jax.numpy as jnp

def build(fixed=False):
    def f(x, features):
        if fixed:
            features = features.astype(x.dtype)
        side = hk.Linear(32, name="side")(features)  # CAUSE
        h = hk.Linear(32, name="main")(x)
        return hk.Linear(8, name="head")(jax.nn.relu(h + side.astype(h.dtype)))
    s = jax.ShapeDtypeStruct
    return hk.transform(f), (s((4, 16), jnp.bfloat16), s((4, 16), jnp.float32)), {"compute_dtype": "bfloat16"}
