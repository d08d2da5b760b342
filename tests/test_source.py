"""Places: the user's expression, in characters, on the right side of every border."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import perfcheck

pytestmark = pytest.mark.core
NARROW = jnp.bfloat16
X = jax.ShapeDtypeStruct((4, 8), NARROW)
W = jax.ShapeDtypeStruct((8, 8), NARROW)


def audit(function):
    (finding,) = perfcheck.performance_check(function, W, X, min_slowdown=0, warn=False)
    return finding


def line_of(function, text):
    import inspect

    lines, start = inspect.getsourcelines(function)
    return next(start + k for k, line in enumerate(lines) if text in line)


def test_columns_count_characters_not_bytes():
    def model(w, x):
        é = "𝔘"
        x = x * np.float32(0.5)
        return (x @ w).astype(NARROW)

    meets = audit(model).cause.meets
    assert meets.expression == "x * np.float32(0.5)"
    assert meets.text[meets.column - 1 : meets.end_column - 1] == "x * np.float32(0.5)"
    assert meets.line == line_of(model, "np.float32")
    assert meets.function.endswith("model")


def test_an_expression_over_several_lines_has_its_end():
    def model(w, x):
        # fmt: off
        x = (x
             * np.float32(0.5))
        # fmt: on
        return (x @ w).astype(NARROW)

    meets = audit(model).cause.meets
    assert meets.end_line == meets.line + 1
    assert str(audit(model)).count("^") >= 1


def test_a_helper_traced_before_is_blamed_on_this_call():
    """The frames of a cached inner jaxpr end in whoever traced it first (JAX up to 0.9.1)."""
    helper = jax.jit(lambda x: jnp.where(x > 0, x, 0.1 * x))

    def innocent(w, x):
        return helper(x.astype(jnp.float32)).astype(NARROW) @ w

    def guilty(w, x):
        return helper(x.astype(jnp.float32)) @ w

    assert not perfcheck.performance_check(innocent, W, X, warn=False)
    finding = audit(guilty)
    assert finding.cause.meets.line == line_of(guilty, "helper(")


def test_a_fault_inside_a_helper_is_on_the_helpers_line():
    @jax.jit
    def helper(x):
        return x * np.float32(0.5)

    def model(w, x):
        return (helper(x) @ w).astype(NARROW)

    assert audit(model).cause.meets.line == line_of(helper.__wrapped__, "np.float32")


def test_the_rule_of_a_custom_gradient_is_named_with_its_call():
    @jax.custom_vjp
    def clip(x):
        return x

    def clip_bwd(_, g):
        return (jnp.clip(g.astype(jnp.float32), -1, 1),)

    clip.defvjp(lambda x: (x, None), clip_bwd)

    def model(w, x):
        return clip(x @ w)

    cause = audit(model).cause
    assert cause.kind == "cotangent"
    assert cause.location.line == line_of(clip_bwd, "def clip_bwd")
    assert cause.meets.line == line_of(model, "clip(x @ w)")
    assert "clip_bwd" in cause.description


def test_the_framework_line_is_second():
    linen = pytest.importorskip("flax.linen")

    class Net(linen.Module):
        @linen.compact
        def __call__(self, x):
            return linen.Dense(8)(x)

    (finding,) = perfcheck.performance_check(Net(), X, min_slowdown=0, warn=False)
    assert finding.cause.meets.file == __file__
    assert "flax" in finding.cause.library.file
    assert finding.cause.module == "Net/Dense_0"
    assert finding.cause.leaves == ("params['Dense_0']['kernel']",)
