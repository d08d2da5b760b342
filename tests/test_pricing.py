"""The line between a finding and a note, on every device."""

import jax
import jax.numpy as jnp
import pytest

import perfcheck
from perfcheck.targets import known_targets

linen = pytest.importorskip("flax.linen")


class Block(linen.Module):
    dtypes: dict

    @linen.compact
    def __call__(self, x):
        x = x + linen.SelfAttention(12, **self.dtypes)(linen.LayerNorm(**self.dtypes)(x))
        h = linen.gelu(linen.Dense(3072, **self.dtypes)(linen.LayerNorm(**self.dtypes)(x)))
        return x + linen.Dense(768, **self.dtypes)(h)


class Vit(linen.Module):
    """ViT-B/16 in bfloat16; by default with a float32 classifier head, else with a float32 norm in the middle."""

    norm: bool = False

    @linen.compact
    def __call__(self, images):
        narrow = {"param_dtype": jnp.bfloat16} if self.norm else {"dtype": jnp.bfloat16}
        x = linen.Conv(768, (16, 16), strides=(16, 16), **narrow)(images)
        x = x.reshape(x.shape[0], -1, 768)
        for layer in range(12):
            x = Block(narrow)(x)
            if self.norm and layer == 5:
                x = linen.LayerNorm()(x)
        return linen.Dense(1000, **(narrow if self.norm else {}))(x.mean(1))


@pytest.fixture(scope="module")
def jaxpr():
    """The VJP of the model, traced once for all devices."""
    images = jax.ShapeDtypeStruct((64, 224, 224, 3), jnp.bfloat16)
    variables = jax.eval_shape(Vit().init, jax.random.key(0), images)

    def both(variables, images):
        out, pullback = jax.vjp(Vit().apply, variables, images)
        return pullback(out)

    return jax.make_jaxpr(both)(variables, images)


@pytest.mark.parametrize("name", sorted(known_targets()))
def test_the_float32_head_of_a_vision_transformer_is_a_note(jaxpr, name):
    report = perfcheck.check_jaxpr(jaxpr, target=name)
    assert not report, str(report)
    (note,) = report.notes
    assert note.finding.cause.leaves == ("variables['params']['Dense_0']['kernel']",)
    assert note.finding.impact.share < 0.01


def test_a_float32_norm_that_lifts_half_a_transformer_is_a_finding():
    images = jax.ShapeDtypeStruct((2, 224, 224, 3), jnp.bfloat16)
    report = perfcheck.performance_check(Vit(norm=True), images, target="H100", warn=False)
    assert [finding.rule for finding in report] == ["mixed-precision-matmul"]
    assert report[0].impact.slowdown > 1.2
    assert 0.4 < report[0].impact.share < 0.6
    assert report[0].impact.extra_bytes > 0
