"""compute_dtype: which words a user gets, which field is named, and what bad input says."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import perfcheck

linen = pytest.importorskip("flax.linen")
S = jax.ShapeDtypeStruct


class GatedUnit(linen.Module):
    width: int
    dropout: Any = 0.0
    dtype: Any = jnp.float32

    @linen.compact
    def __call__(self, x):
        return linen.Dense(x.shape[-1], dtype=self.dtype)(linen.Dense(self.width, dtype=self.dtype)(x))


class Block(linen.Module):
    matmul_type: Any = "float32"

    @linen.compact
    def __call__(self, x):
        return x + linen.Dense(32, dtype=self.matmul_type)(x)


class Net(linen.Module):
    wrong: bool = True
    dtype: Any = jnp.bfloat16

    @linen.compact
    def __call__(self, x):
        for k in range(3):
            x = x + GatedUnit(64, self.dtype, name=f"unit_{k}")(x)
        for k in range(3):
            x = Block(name=f"block_{k}")(x)
        return linen.Dense(64, dtype=self.dtype)(x)


def check(model=None, **options):
    return perfcheck.performance_check(model or Net(), S((8, 32), jnp.float32), warn=False, target="H100", **options)


def test_one_finding_a_kind_of_module_never_one_a_layer_and_the_field_is_named():
    report = check(compute_dtype="bfloat16")
    assert len(report) == 2
    text = " ".join(finding.fix for finding in report)
    assert "GatedUnit.dtype is float32 (default)" in text
    assert "its dropout field holds bfloat16" in text
    assert "Block.matmul_type is float32 (default)" in text
    assert {finding.rule for finding in report} == {"wider-than-asked"}
    assert any("18 matmuls in float32, in Net/unit_*" in finding.message for finding in report)


def test_parts_that_shall_stay_wide_are_named():
    report = check(compute_dtype=jnp.bfloat16, ignore=["wider-than-asked@unit_*", "wider-than-asked@*/block_*"])
    assert not report
    assert len(report.suppressed) == 2


def test_not_asked_is_a_note():
    report = check()
    assert not report
    (note,) = [note for note in report.notes if note.rule == "wider-than-asked"]
    assert str(note).startswith("dtype is bfloat16, and ")
    assert "Net/unit_*" in str(note)


def test_bad_input():
    with pytest.raises(perfcheck.CheckError, match="is no float dtype"):
        check(compute_dtype="bfloat17")
    with pytest.raises(perfcheck.CheckError, match="is no float dtype"):
        check(compute_dtype=jnp.int32)
    notes = " ".join(map(str, check(compute_dtype="float64").notes))
    assert "nothing can be wider than that" in notes
    assert "x64 is off" in notes


def test_a_model_that_does_as_it_says_is_clean_even_where_nothing_is_too_cheap():
    report = check(linen.Dense(8, dtype=jnp.bfloat16), min_slowdown=0)
    assert report.state == "clean"
    assert not report.notes
