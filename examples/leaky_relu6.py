"""The model that started this project: one NumPy scalar in an activation, and half of the network runs in float64.

Run me:  python examples/leaky_relu6.py            audit the model
         python examples/leaky_relu6.py --fixed    audit it with a Python number in place of the NumPy scalar
"""

import sys

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

import perfcheck

jax.config.update("jax_enable_x64", True)  # common in scientific code, and what makes the fault possible

FIXED = "--fixed" in sys.argv[1:]
SLOPE = 0.01 if FIXED else np.float64(0.01)  # a Python number is weakly typed; a NumPy scalar is not


def leaky_relu6(x):
    return SLOPE * x + jnp.clip(x, 0, 6)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(1280, param_dtype=jnp.float32)(x)
        x = leaky_relu6(x)
        x = nn.Dense(1280, param_dtype=jnp.float32)(x)
        return nn.Dense(1, param_dtype=jnp.float32)(x)


def main():
    batch = jax.ShapeDtypeStruct((1000, 1280), jnp.float32)  # a shape is enough: nothing is executed
    report = perfcheck.performance_check(Net(), batch, warn=False)
    report.print()


if __name__ == "__main__":
    main()
