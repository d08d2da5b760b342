"""What a model may be: each framework's modules as their users have them."""

import jax
import jax.numpy as jnp
import pytest

import perfcheck

X = jax.ShapeDtypeStruct((4, 8), jnp.float32)


def check(*arguments, **options):
    return perfcheck.performance_check(*arguments, warn=False, **options)


def test_linen_with_streams_batch_norm_and_keywords():
    nn = pytest.importorskip("flax.linen")

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x, train):
            x = nn.BatchNorm(use_running_average=not train)(nn.Dense(8)(x))
            x = nn.Dropout(0.5, deterministic=not train)(x)
            return nn.Dense(4)(x + jax.random.normal(self.make_rng("noise"), x.shape))

    for rngs in (None, {"noise": jax.random.key(1)}, ["noise"], jax.random.key(0)):
        report = check(Net(), X, train=True, rngs=rngs)
        assert report.program.matmuls == {"forward": 2, "backward": 4}
    assert check(Net(), X, train=False).state == "clean"


def test_linen_variables_methods_and_partitioned_parameters():
    nn = pytest.importorskip("flax.linen")
    variables = jax.eval_shape(nn.Dense(3).init, jax.random.key(0), X)
    assert check(nn.Dense(3), X, variables=variables).state == "clean"
    assert check(nn.Embed(10, 8), X, method="attend").program.matmuls["forward"] == 1
    init = nn.with_partitioning(nn.initializers.lecun_normal(), (None, "model"))
    (finding,) = check(nn.Dense(8, kernel_init=init), jax.ShapeDtypeStruct((4, 8), jnp.bfloat16), min_slowdown=0)
    assert finding.cause.leaves == ("params['kernel']",)
    with pytest.raises(perfcheck.CheckError, match="no method 'nothing'"):
        check(nn.Dense(3), X, method="nothing")
    with pytest.raises(perfcheck.CheckError, match="missing a required argument"):
        check(nn.Dense(3))
    with pytest.raises(perfcheck.CheckError, match="pass an instance"):
        check(nn.Dense, X)


def test_linen_that_cannot_be_initialised():
    nn = pytest.importorskip("flax.linen")

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(8)(x) + self.param("b", nn.initializers.zeros, (3,))

    with pytest.raises(perfcheck.CheckError, match="cannot be initialised") as caught:
        check(Net(), X)
    assert isinstance(caught.value.__cause__, TypeError | ValueError)


def test_nnx_concrete_and_abstract_with_state():
    nnx = pytest.importorskip("flax.nnx")

    def make():
        rngs = nnx.Rngs(0)
        return nnx.Sequential(
            nnx.Linear(8, 16, rngs=rngs),
            nnx.BatchNorm(16, rngs=rngs),
            nnx.Dropout(0.5, rngs=rngs),
            nnx.Linear(16, 4, rngs=rngs),
        )

    for model in (make(), nnx.eval_shape(make)):
        assert check(model, X).program.matmuls == {"forward": 2, "backward": 4}
    (finding,) = check(make(), jax.ShapeDtypeStruct((4, 8), jnp.bfloat16), min_slowdown=0)
    assert finding.cause.leaves == ("layers.0.kernel",)
    assert finding.cause.module == "layers/0"
    with pytest.raises(perfcheck.CheckError, match="variables= is not for an nnx module"):
        check(make(), X, variables={})


def test_nnx_modules_as_arguments_of_a_function():
    nnx = pytest.importorskip("flax.nnx")
    model = nnx.Linear(8, 4, rngs=nnx.Rngs(0))
    report = check(lambda model, x: jnp.sum(model(x)), model, X)
    assert report.program.matmuls["forward"] == 1
    step = nnx.jit(lambda model, x: nnx.grad(lambda model: jnp.sum(model(x)))(model))
    assert check(step, model, X, vjp=False).state == "clean"


def test_equinox_concrete_abstract_and_as_an_argument():
    eqx = pytest.importorskip("equinox")
    make = lambda: eqx.nn.MLP(8, 4, 16, 2, key=jax.random.key(0))  # noqa: E731
    vector = jax.ShapeDtypeStruct((8,), jnp.float32)
    for model in (make(), eqx.filter_eval_shape(make)):
        assert check(model, vector).program.matmuls == {"forward": 3, "backward": 6}
    loss = eqx.filter_jit(lambda model, x: jnp.sum(jax.vmap(model)(x)))
    assert check(loss, make(), X).state == "clean"
    (finding,) = check(make(), jax.ShapeDtypeStruct((8,), jnp.bfloat16), min_slowdown=0)
    assert finding.cause.leaves == ("layers.0.weight",)
    assert finding.cause.module == "layers/0"
    assert [site.module for site in finding.sites][:3] == ["layers/0", "layers/1", "layers/2"]


def test_haiku_with_and_without_state():
    hk = pytest.importorskip("haiku")
    plain = hk.transform(lambda x: hk.nets.MLP([8, 4])(x))
    assert check(plain, X).program.matmuls == {"forward": 2, "backward": 4}
    params = jax.eval_shape(plain.init, jax.random.key(0), X)
    assert check(plain, X, variables=params).state == "clean"
    stateful = hk.transform_with_state(lambda x, train: hk.BatchNorm(True, True, 0.9)(hk.Linear(4)(x), train))
    assert check(stateful, X, train=True).state == "clean"
    with pytest.raises(perfcheck.CheckError, match=r"\(params, state\)"):
        check(stateful, X, variables={}, train=True)


@pytest.mark.core
def test_plain_jitted_and_partial_functions():
    import functools

    model = lambda w, x: x @ w  # noqa: E731
    W = jax.ShapeDtypeStruct((8, 8), jnp.float32)
    for one in (model, jax.jit(model), functools.partial(lambda scale, w, x: scale * x @ w, 2.0)):
        assert check(one, W, X).program.matmuls == {"forward": 1, "backward": 2}


@pytest.mark.core
def test_keyword_arrays_are_traced_and_the_rest_is_passed():
    W = jax.ShapeDtypeStruct((8, 8), jnp.float32)

    def model(w, x, *, mask, name, train=False):
        assert name == "a"
        return jnp.where(mask, x, 0) @ w if train else x

    assert check(model, W, X, mask=jax.ShapeDtypeStruct((4, 8), bool), name="a", train=True).program.matmuls["forward"] == 1


@pytest.mark.core
@pytest.mark.parametrize(
    ("model", "sample", "words"),
    [
        (lambda p, x: x @ p, (X,), "missing a required argument: 'x'"),
        (lambda x: x, ("abc",), "x holds a str"),
        (lambda x: x, ({"a": ["abc"]},), "x holds a str"),
        (3, (X,), "cannot audit a int"),
        (lambda x, train: x if train else 2 * x, (X, True), "pass it by keyword"),
    ],
)
def test_bad_input_says_what_to_pass(model, sample, words):
    with pytest.raises(perfcheck.CheckError, match=words):
        check(model, *sample)
