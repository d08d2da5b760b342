"""The attention weights of a bfloat16 model were restored as float32, the rest was not: one subtree, one cause.
source: huggingface/transformers#12534 (weights loaded in another dtype)"""
X64 = False
FRAMEWORK = "plain"
EXPECT = [dict(rule="mixed-precision-matmul", cause="parameter", phases={"forward", "backward"})]
import jax, jax.numpy as jnp

def block(p, x):
    bf = jnp.bfloat16
    q = (x @ p["attention"]["q"]).astype(bf)  # CAUSE
    k = (x @ p["attention"]["k"]).astype(bf)  # CAUSE
    v = (x @ p["attention"]["v"]).astype(bf)  # CAUSE
    h = jax.nn.softmax(q @ k.T) @ v
    return x + jax.nn.gelu(h @ p["mlp"]["up"]) @ p["mlp"]["down"]

def build(fixed=False):
    s = jax.ShapeDtypeStruct
    attention = {n: s((32, 32), jnp.bfloat16 if fixed else jnp.float32) for n in "qkv"}
    p = {"attention": attention, "mlp": {"up": s((32, 64), jnp.bfloat16), "down": s((64, 32), jnp.bfloat16)}}
    return block, (p, s((16, 32), jnp.bfloat16)), {}
