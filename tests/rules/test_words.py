"""What the rules beside the matmul rules say: names, counts, bytes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import perfcheck

S = jax.ShapeDtypeStruct
NARROW = jnp.bfloat16
TABLE = np.ones((1024, 512), np.float32)


def only(rule, model, *sample, **options):
    (finding,) = [one for one in perfcheck.performance_check(model, *sample, warn=False, **options) if one.rule == rule]
    return finding


def test_captured_constant_names_the_variable_and_the_total():
    teacher = {"layer": {"w": np.ones((512, 1024), np.float32)}}

    def model(p, x):
        return (x @ teacher["layer"]["w"]) @ TABLE @ p

    found = [
        one
        for one in perfcheck.performance_check(model, S((512, 8), jnp.float32), S((4, 512), jnp.float32), warn=False)
        if one.rule == "captured-constant"
    ]
    assert {one.cause.leaves for one in found} == {("teacher['layer']['w']",), ("TABLE",)}
    assert all("2.0 MiB of constants are baked into the program (4.0 MiB in all)" in one.message for one in found)


def test_many_small_constants_are_one_finding():
    tables = [np.full((512, 256), k, np.float32) for k in range(34)]

    def model(x):
        return sum(jnp.sum(x * table) for table in tables)

    finding = only("captured-constant", model, S((512, 256), jnp.float32))
    assert "17.0 MiB of constants" in finding.message


def test_host_callback_counts_its_calls_and_says_its_order():
    def model(x):
        def step(c, _):
            jax.experimental.io_callback(lambda v: None, None, c, ordered=True)
            return c + 1, None

        return jax.lax.scan(step, x, None, length=7)[0]

    from jax.experimental import io_callback  # noqa: F401

    finding = only("host-callback", model, S((), jnp.float32), vjp=False)
    assert "called 7 times a step, in order" in finding.message


def test_highest_precision_by_configuration_is_one_note():
    def model(w, x):
        return jnp.tanh(x @ w) @ w

    with jax.default_matmul_precision("highest"):
        report = perfcheck.performance_check(
            model, S((64, 64), jnp.float32), S((8, 64), jnp.float32), warn=False, target="TPU v4"
        )
    assert not report
    (note,) = [note for note in report.notes if note.rule == "highest-precision"]
    assert "6 matmuls run at HIGHEST precision, six bfloat16 passes each on TPU v4" in note.message
    assert "jax_default_matmul_precision" in note.message


@pytest.mark.skipif(not hasattr(jax, "shard_map"), reason="this JAX has no public shard_map")
def test_wide_collective_counts_bytes_on_the_wire():
    P = jax.sharding.PartitionSpec
    mesh = jax.sharding.AbstractMesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))

    def local(x):
        return jax.lax.psum(x.astype(jnp.float32), "data")

    model = jax.shard_map(local, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)
    finding = only("wide-collective", model, S((8 * 1024, 64), NARROW), vjp=False)
    whole = 1024 * 64 * 4 * 2 * 7 // 8  # a ring sends each byte 2 (n - 1) / n times
    assert finding.impact.extra_bytes == whole // 2
    assert f"{whole / 1024:.3g} KiB on the wire a device instead of {whole / 2048:.3g} KiB" in finding.message


def test_unstable_state_names_leaf_and_consequence():
    def step(state, x):
        return {"w": state["w"] - np.float32(0.1) * x, "n": state["n"] + 1}

    finding = only("unstable-state", step, {"w": S((8,), NARROW), "n": 0}, S((8,), NARROW), vjp=False)
    assert finding.message.startswith("state['w'] goes in as bfloat16[8] and comes out as float32[8]")
    assert "compiles again" in finding.message


def test_a_step_that_keeps_its_weak_counter_is_stable():
    report = perfcheck.performance_check(
        lambda state, x: {"n": state["n"] + 1}, {"n": 0}, S((8,), NARROW), vjp=False, warn=False
    )
    assert not report


def test_float64_values_says_its_bytes():
    from conftest import x64

    with x64():
        finding = only("float64-values", lambda x: jnp.sum(x * np.linspace(0, 1, 4096)), S((256, 4096), jnp.float32))
        assert finding.cause.kind == "constant"
        assert finding.impact.extra_bytes >= 256 * 4096 * 4
        assert "MiB a step" in finding.message
