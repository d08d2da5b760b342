"""One run of the user's Python, nothing executed, nothing allocated, nothing changed."""

import gc

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import perfcheck

pytestmark = pytest.mark.core
W = jax.ShapeDtypeStruct((8, 8), jnp.float32)
X = jax.ShapeDtypeStruct((4, 8), jnp.float32)


def check(*arguments, **options):
    return perfcheck.performance_check(*arguments, warn=False, **options)


def test_the_users_python_runs_once():
    runs = []

    def model(w, x):
        runs.append(1)
        return jnp.tanh(x @ w)

    check(model, W, X)
    assert len(runs) == 1
    check(model, W, X)  # and again for a second audit, whatever JAX has cached
    assert len(runs) == 2
    check(model, W, X, vjp=False)
    assert len(runs) == 3


def test_no_array_is_made_and_the_configuration_is_kept():
    linen = pytest.importorskip("flax.linen")
    gc.collect()
    before = len(jax.live_arrays())
    config = dict(jax.config.values)
    check(linen.Dense(8), X)
    check(lambda w, x: x @ w, W, X)
    assert len(jax.live_arrays()) <= before
    assert dict(jax.config.values) == config


def test_a_model_far_larger_than_the_machine():
    layers, width = 80, 8192  # 80 x 12 x 8192^2 parameters, about 64 billion

    def model(p, x):
        def layer(x, w):
            h = jax.nn.gelu(x @ w["up"]) @ w["down"]
            return x + h + x @ w["attention"][0] @ w["attention"][1], None

        return jax.lax.scan(layer, x, p)[0]

    shape = lambda *dims: jax.ShapeDtypeStruct((layers, *dims), jnp.bfloat16)  # noqa: E731
    params = {"up": shape(width, 4 * width), "down": shape(4 * width, width), "attention": [shape(width, width)] * 2}
    report = check(model, params, jax.ShapeDtypeStruct((4096, width), jnp.bfloat16))
    assert report.state == "clean"
    assert report.program.flops["bfloat16", "forward"] == layers * 2 * 4096 * 10 * width * width


def test_wrt_chooses_what_is_differentiated():
    def model(p, x):
        return jnp.tanh(x @ p["a"]) @ p["b"]

    sample = {"a": W, "b": W}, X
    assert check(model, *sample).program.matmuls["backward"] == 4
    assert check(model, *sample, wrt=0).program.matmuls["backward"] == 3
    assert check(model, *sample, wrt="p['b']").program.matmuls["backward"] == 1
    assert check(model, *sample, wrt=["p*"]).program.matmuls["backward"] == 3
    with pytest.raises(perfcheck.CheckError, match=r"names no float leaf.*p\['a'\]"):
        check(model, *sample, wrt="q")
    with pytest.raises(perfcheck.CheckError, match=r"2 positional arguments"):
        check(model, *sample, wrt=2)


def test_named_axes():
    def model(w, x):
        return jax.lax.pmean(x @ w, "batch")

    assert check(model, W, X, axes={"batch": 8}).state == "clean"
    with pytest.raises(perfcheck.CheckError, match=r'axes=\{"batch": its size\}') as caught:
        check(model, W, X)
    assert isinstance(caught.value.__cause__, NameError)


def test_float64_samples_are_noted_where_x64_is_off():
    report = check(lambda w, x: x @ w, W, np.zeros((4, 8)))
    assert not report
    assert "float64 given, but x64 is off" in str(report.notes[0])


def test_integers_have_no_backward_pass():
    report = check(lambda w, x: x @ w, *(jax.ShapeDtypeStruct(s, jnp.int32) for s in ((8, 8), (4, 8))))
    assert report.state == "clean"
    assert report.program.vjp_error == "no input is a float array"


@pytest.mark.parametrize("output", [None, "text", object(), 3, {"a": [None]}], ids=["none", "text", "object", "number", "tree"])
def test_outputs_that_are_no_arrays(output):
    def model(w, x):
        x @ w
        return output

    report = check(model, W, X)
    assert report.program.matmuls == {"forward": 1, "backward": 0}
    assert report.program.vjp_error == "no output is a float array"


def test_a_broken_gradient_is_told_and_the_forward_pass_is_checked():
    @jax.custom_vjp
    def identity(x):
        return x

    identity.defvjp(lambda x: (x, None), lambda _, g: (g, g))
    report = check(lambda w, x: identity(x @ w), W, X)
    assert report.state == "could not check"
    assert report.program.matmuls == {"forward": 1, "backward": 0}
    assert "bwd" in report.program.vjp_error


def test_the_models_own_error_is_the_cause():
    def model(w, x):
        raise KeyError("not here")

    with pytest.raises(perfcheck.CheckError, match=r"model cannot be traced: KeyError") as caught:
        check(model, W, X)
    assert isinstance(caught.value.__cause__, KeyError)


def test_zero_sized_arrays():
    assert check(lambda w, x: x @ w, W, jax.ShapeDtypeStruct((0, 8), jnp.float32)).state == "clean"
