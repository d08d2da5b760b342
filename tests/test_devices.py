"""Programs for machines larger than this one: imagined meshes, explicit shardings, and a job of two processes."""

import json
import socket
import subprocess
import sys
import textwrap
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import perfcheck

sharding = pytest.importorskip("jax.sharding")
if not hasattr(jax, "shard_map") or not hasattr(sharding, "AxisType"):
    pytest.skip("this JAX has no public shard_map", allow_module_level=True)

P = sharding.PartitionSpec
S = jax.ShapeDtypeStruct
NARROW = jnp.bfloat16


def mesh(kind="Auto", **sizes):
    types = (getattr(sharding.AxisType, kind),) * len(sizes)
    return sharding.AbstractMesh(tuple(sizes.values()), tuple(sizes), axis_types=types)


def test_a_train_step_on_4096_imagined_devices():
    layers, width = 24, 2048
    devices = mesh(data=256, model=16)

    def block(x, w):
        h = jax.nn.gelu(x @ w["up"]) @ w["down"]
        return x + jax.lax.psum(h * np.float32(0.5), "model").astype(x.dtype), None

    def step(p, x):
        def loss(p):
            y, _ = jax.lax.scan(block, x, p)
            return jnp.mean(y.astype(jnp.float32) ** 2)

        grads = jax.grad(loss)(p)
        return jax.tree.map(lambda a, g: (a - 1e-3 * jax.lax.psum(g, "data")).astype(a.dtype), p, grads)

    specs = {"up": P(None, None, "model"), "down": P(None, "model", None)}
    sharded = jax.shard_map(step, mesh=devices, in_specs=(specs, P("data")), out_specs=specs, check_vma=False)
    params = {"up": S((layers, width, 4 * width), NARROW), "down": S((layers, 4 * width, width), NARROW)}
    start = time.perf_counter()
    report = perfcheck.performance_check(sharded, params, S((1024, width), NARROW), vjp=False, warn=False)
    assert time.perf_counter() - start < 30
    collective = next(finding for finding in report if finding.rule == "wide-collective")
    assert "over model" in collective.message
    # one device has 4 rows and a sixteenth of the hidden width: the FLOPs are its own
    forward = sum(count for (_, phase), count in report.program.flops.items() if phase == "forward")
    assert forward == layers * 2 * (2 * 4 * width * (4 * width // 16))


def test_explicit_shardings_divide_the_work():
    devices = mesh("Explicit", data=8, model=4)

    def model(w, x):
        return x @ w

    def place(*shape, spec):
        return S(shape, jnp.float32, sharding=sharding.NamedSharding(devices, P(*spec)))

    report = perfcheck.performance_check(
        model, place(64, 32, spec=(None, "model")), place(16, 64, spec=("data", None)), vjp=False, warn=False
    )
    assert report.state == "clean"
    assert report.program.flops["float32", "forward"] == 2 * 16 * 64 * 32 // 32


def test_sharding_constraints_and_partitioned_parameters():
    nn = pytest.importorskip("flax.linen")
    devices = mesh(data=1024, model=4)

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            init = nn.with_partitioning(nn.initializers.lecun_normal(), (None, "model"))
            x = nn.Dense(64, kernel_init=init)(x)
            return jax.lax.with_sharding_constraint(x, sharding.NamedSharding(devices, P("data", "model")))

    assert perfcheck.performance_check(Net(), S((4096, 32), jnp.float32), warn=False).state == "clean"


WORKER = """
import json, os, sys
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, jax.numpy as jnp, numpy as np
jax.distributed.initialize("127.0.0.1:{port}", num_processes=2, process_id=int(sys.argv[1]))
import perfcheck
from jax.sharding import Mesh, PartitionSpec as P
assert jax.process_count() == 2 and jax.device_count() == 8
mesh = Mesh(np.array(jax.devices()), ("data",))
def step(w, x):
    g = jax.grad(lambda w: jnp.sum((x @ w).astype(jnp.float32)))(w)
    return jax.lax.psum(g.astype(jnp.float32), "data")
f = jax.shard_map(step, mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), check_vma=False)
S = jax.ShapeDtypeStruct
if sys.argv[1] == "0":  # one process alone: an audit that ran a collective would wait for the other for ever
    report = perfcheck.performance_check(f, S((16, 8), jnp.bfloat16), S((64, 16), jnp.bfloat16), vjp=False, warn=False)
    print(json.dumps(str(report)), flush=True)
    open({flag!r}, "w").close()
else:
    import time
    while not os.path.exists({flag!r}):
        time.sleep(0.1)
    report = perfcheck.performance_check(f, S((16, 8), jnp.bfloat16), S((64, 16), jnp.bfloat16), vjp=False, warn=False)
    print(json.dumps(str(report)), flush=True)
assert len(jax.live_arrays()) == 0
"""


def test_a_job_of_two_processes(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = tmp_path / "worker.py"
    script.write_text(textwrap.dedent(WORKER).format(port=port, flag=str(tmp_path / "first_is_done")))
    workers = [
        subprocess.Popen([sys.executable, str(script), str(k)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for k in range(2)
    ]
    try:
        outputs = [worker.communicate(timeout=120) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    for worker, (_, errors) in zip(workers, outputs, strict=True):
        assert worker.returncode == 0, errors[-2000:]
    first, second = (json.loads(out.splitlines()[-1]) for out, _ in outputs)
    assert first == second
    assert "wide-collective" in first
