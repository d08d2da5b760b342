"""Predicted against measured slowdown, on the device JAX runs on: programs with one cause, and the same without it.

The prediction is `impact.slowdown`: the time of all matmuls with the cause over that without. What is measured is the whole
compiled program, forward and backward. The two differ by everything that is no matmul, and by how far the kernels are from
the peak.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import perfcheck

from .timing import interleaved, print_table

CPU = {
    "name": "this CPU (assumed float32 twice as fast as float64)",
    "float64": 1.0,
    "float32": 2.0,
    "bandwidth": 1000.0,
}


def mlp(scale, act=jnp.tanh):
    def model(p, x):
        x = act(x @ p["a"])
        x = x * scale
        return act(x @ p["b"]) @ p["c"]

    return model


def attention(scale):
    def model(p, x):
        q, k, v = x @ p["a"], x @ p["b"], x @ p["c"]
        return jax.nn.softmax(q @ k.T * scale) @ v

    return model


def convolution(scale):
    def model(p, x):
        image = x.reshape(16, 32, 32, -1)
        kernel = p["a"].reshape(-1)[: 9 * image.shape[-1] ** 2].reshape(3, 3, image.shape[-1], image.shape[-1])
        x = image * scale
        layout = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(x, kernel.astype(x.dtype), (1, 1), "SAME", dimension_numbers=layout)

    return model


def recurrent(scale):
    def model(p, x):
        def step(h, row):
            return jnp.tanh(row @ p["a"] + (h * scale) @ p["b"]).astype(h.dtype), None

        rows = x.reshape(8, -1, x.shape[-1])
        return jax.lax.scan(step, jnp.zeros(rows.shape[1:], x.dtype), rows)[0]

    return model


def leaky_relu6(scale):
    return mlp(scale, lambda x: 0.01 * x + jnp.clip(x, 0, 6))


PROGRAMS = {
    "MLP 256, scalar after the first layer": (mlp, 512, 256),
    "MLP 512, scalar after the first layer": (mlp, 512, 512),
    "MLP 1024, scalar after the first layer": (mlp, 1000, 1024),
    "MLP 1280, leaky_relu6 (the original report)": (leaky_relu6, 1000, 1280),
    "MLP 2048, batch 64": (mlp, 64, 2048),
    "attention 512 x 256": (attention, 512, 256),
    "attention 1024 x 512": (attention, 1024, 512),
    "recurrent, 8 steps of 512": (recurrent, 1024, 512),
    "convolution 3 x 3, 64 channels": (convolution, 16384, 64),
}


def gradient(model):
    def both(p, x):
        out, pullback = jax.vjp(model, p, x)
        return out, pullback(jnp.ones_like(out))

    return both


def measure(make, rows, width, target):
    rng = np.random.default_rng(0)
    p = {name: rng.standard_normal((width, width)).astype(np.float32) / width**0.5 for name in "abc"}
    x = rng.standard_normal((rows, width)).astype(np.float32)
    if make is convolution:
        p["a"] = rng.standard_normal((width * 9, width)).astype(np.float32) / 24
    slow, fast = make(np.float64(0.5)), make(0.5)
    report = perfcheck.performance_check(slow, p, x, warn=False, target=target)
    (finding,) = report
    (before, after), (_, ratio) = interleaved([gradient(slow), gradient(fast)], [(p, x)] * 2)
    return finding.impact.slowdown, before, after, ratio


def main():
    """Print the table for float64 scalars in float32 programs."""
    with _x64():
        rows = []
        for name, (make, size, width) in PROGRAMS.items():
            predicted, before, after, ratio = measure(make, size, width, CPU)
            times = f"{before * 1e3:.1f}", f"{after * 1e3:.1f}"
            rows.append((name, *times, f"{predicted:.2f}", f"{ratio:.2f}", f"{predicted / ratio - 1:+.0%}"))
    print_table(
        f"Predicted and measured slowdown by a float64 scalar, on {jax.devices()[0].device_kind}",
        ("program", "with it (ms)", "without (ms)", "predicted", "measured", "error"),
        rows,
    )
    print(
        "\nThe prediction counts matmuls alone, at peak rates assumed for the device; what else a program does is in the\n"
        "measured figures. On a CPU, tanh and softmax in float64 cost more than twice those in float32, and small products\n"
        "never reach the peak, so that either way of erring shows. XLA has a tuned float32 convolution for CPUs but none for\n"
        "float64, which no table of peak rates can know."
    )


def _x64():
    switch = getattr(jax, "enable_x64", None)
    if not callable(switch):
        from jax.experimental import enable_x64 as switch
    return switch(True)
