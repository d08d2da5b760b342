"""The device table: every row complete, names forgiving, unknown ones told."""

import pytest

import perfcheck
from perfcheck.targets import DEFAULT, Target, _rows, find_target, known_targets


@pytest.mark.parametrize("name", sorted(known_targets()))
def test_every_row_is_complete_and_has_a_source(name):
    target = known_targets()[name]
    assert target.bandwidth > 0
    assert len(target.source) > 20
    assert target.kind in {"gpu", "tpu", "cpu"}
    for dtype in ("float64", "float32", "bfloat16", "float16", "float8_e4m3fn", "int8", "complex64"):
        assert target.rate(dtype) > 0
    assert target.rate("float64") <= target.rate("float32") <= target.rate("bfloat16")
    assert target.rate("float32", "HIGHEST") <= target.rate("float32", "HIGH") <= target.rate("float32")


def test_no_name_or_device_kind_means_two_devices():
    for field in ("aliases", "device_kinds"):
        known = [item for row in _rows().values() for item in row.get(field, ())]
        assert len(known) == len(set(known))


def test_names_are_forgiving():
    assert find_target("h100")[0].name == DEFAULT
    assert find_target("H100-SXM")[0].name == DEFAULT


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(perfcheck.CheckError, match=r"unknown target 'H1000'.*Known: .*H100 SXM"):
        find_target("H1000")


def test_a_row_of_the_users_own():
    target, _ = find_target({"name": "mine", "float32": 10, "bfloat16": 20, "bandwidth": 100})
    assert target.rate("bfloat16") == 20e12
    assert target.rate("float8_e4m3fn") == 20e12
    with pytest.raises(perfcheck.CheckError, match="lacks bandwidth"):
        find_target({"float32": 10})
    with pytest.raises(perfcheck.CheckError, match="default_float32"):
        find_target({"float32": 10, "bandwidth": 1, "default_float32": "tf32"})


def test_precision_changes_the_rate():
    tpu = Target("T", {"float32": 10, "bfloat16": 60}, 100, "bfloat16", "tpu")
    assert tpu.rate("float32") == 60e12
    assert tpu.rate("float32", "HIGH") == 20e12
    assert tpu.rate("float32", "HIGHEST") == 10e12
    gpu = Target("G", {"float32": 10, "tf32": 40, "bfloat16": 80}, 100, "tf32")
    assert gpu.rate("float32") == gpu.rate("float32", "HIGH") == 40e12
    assert gpu.rate("float32", "HIGHEST") == 10e12
    assert gpu.rate("float32", "BF16_BF16_F32_X3") == pytest.approx(80e12 / 3)
