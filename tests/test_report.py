"""The report as data: a sequence, four states, warnings at the user's line."""

import dataclasses
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import perfcheck

pytestmark = pytest.mark.core
X = jax.ShapeDtypeStruct((4, 8), jnp.bfloat16)
W = jax.ShapeDtypeStruct((8, 8), jnp.bfloat16)


def clean(w, x):
    return x @ w


def faulty(w, x):
    return (x * np.float32(0.5)) @ w


def check(model, *sample, **options):
    return perfcheck.performance_check(model, *(sample or (W, X)), warn=False, **options)


def test_a_clean_report_is_empty_and_says_what_was_looked_at():
    report = check(clean)
    assert not report
    assert report.ok
    assert len(report) == 0
    assert report.state == "clean"
    assert str(report) == "clean: no findings in 3 matmuls: 1 forward, 2 backward"
    report.assert_clean()


def test_findings_are_a_sequence():
    report = check(faulty)
    assert report
    assert not report.ok
    assert report.state == "findings"
    assert list(report) == [report[0]] == list(report.findings)
    assert report[:1] == report.findings
    assert report[0] in report
    assert repr(report) == "<perfcheck.Report: 1 finding in 3 matmuls (1 forward, 2 backward)>"
    with pytest.raises(AssertionError, match=r"faulty: 1 finding in 3 matmuls"):
        report.assert_clean()


def test_nothing_to_check():
    report = check(lambda x: x * 2, X)
    assert report.state == "nothing to check"
    assert "no matmul" in str(report)


def test_a_missing_backward_pass_is_told_and_hides_nothing():
    def loop(w, x):
        return jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, (c[1] @ w).astype(x.dtype)), (0, x))[1]

    def faulty_loop(w, x):
        return loop(w, (faulty(w, x)).astype(x.dtype))

    report = check(loop)
    assert report.state == "could not check"
    assert "while_loop" in report.program.vjp_error
    assert "while_loop" in str(report)
    report = check(faulty_loop)
    assert report.state == "findings"
    assert "while_loop" in str(report)


def test_data_is_frozen():
    report = check(faulty)
    with pytest.raises(dataclasses.FrozenInstanceError):
        report[0].rule = "other"
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.findings = ()


def test_matmuls_lists_every_product():
    matmuls = check(faulty).matmuls
    assert [matmul.phase for matmul in matmuls] == ["forward", "backward", "backward"]
    assert matmuls[0].operands == ("float32[4,8]", "bfloat16[8,8]")
    assert matmuls[0].result == "float32[4,8]"
    assert matmuls[0].dtype == "float32"
    assert matmuls[0].flops == 2 * 4 * 8 * 8
    assert matmuls[0].location.function == "faulty"


def test_a_finding_warns_at_its_line_once_per_place():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            perfcheck.performance_check(faulty, W, X)
    assert len(caught) == 1
    assert caught[0].category is perfcheck.PerformanceWarning
    assert caught[0].filename == __file__
    assert caught[0].lineno == faulty.__code__.co_firstlineno + 1
    assert "tips.md#mixed-precision-matmul" in str(caught[0].message)


def test_warnings_can_be_errors_or_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(perfcheck.PerformanceWarning):
            perfcheck.performance_check(faulty, W, X)
        warnings.simplefilter("ignore", perfcheck.PerformanceWarning)
        assert perfcheck.performance_check(faulty, W, X)


def test_a_cheap_cause_is_a_note():
    def model(p, x):
        for w in p["body"]:
            x = jnp.tanh(x @ w)
        return x @ p["head"]

    shapes = {
        "body": [jax.ShapeDtypeStruct((4096, 4096), jnp.bfloat16)] * 12,
        "head": jax.ShapeDtypeStruct((4096, 8), jnp.float32),
    }
    sample = shapes, jax.ShapeDtypeStruct((4096, 4096), jnp.bfloat16)
    report = check(model, *sample)
    assert not report
    (note,) = report.notes
    assert note.rule == "mixed-precision-matmul"
    assert note.finding.cause.leaves == ("p['head']",)
    assert "note: mixed-precision-matmul" in str(report)
    assert len(check(model, *sample, min_slowdown=0)) == 1


def test_check_jaxpr_names_inputs_as_the_jaxpr_does():
    (finding,) = perfcheck.check_jaxpr(
        jax.make_jaxpr(lambda p, x: x @ p["w"])({"w": jnp.ones((8, 8))}, jnp.ones((4, 8), jnp.bfloat16))
    )
    assert finding.cause.kind == "parameter"
    assert finding.cause.leaves == ("p['w']",)
    with pytest.raises(perfcheck.CheckError, match=r"make_jaxpr"):
        perfcheck.check_jaxpr("a jaxpr")


def test_summary_is_a_table_by_module():
    text = check(faulty).summary()
    assert text.splitlines()[0] == "faulty: 1 finding in 3 matmuls (1 forward, 2 backward)"
    assert "forward  ░" in text
    assert "(no module)  3" in text


@pytest.mark.parametrize(("platform", "mixed"), [("cuda", False), ("cpu", False), ("tpu", True)])
def test_lowering_says_what_a_platform_multiplies(platform, mixed):
    lowered = check(faulty, min_slowdown=0).lowering(platform)
    assert [one.matmul.phase for one in lowered] == ["forward", "backward", "backward"]
    assert lowered[0].operands == (("float32", "bfloat16") if mixed else ("float32", "float32"))
    assert lowered[0].converted is not mixed
    assert platform in str(lowered[0])


def test_lowering_of_a_product_with_an_algorithm_names_it():
    def model(w, x):
        precision = jax.lax.DotAlgorithmPreset.BF16_BF16_F32_X3
        return jax.lax.dot_general(x.astype(jnp.float32), w.astype(jnp.float32), (((1,), (0,)), ((), ())), precision=precision)

    report = check(model, vjp=False, min_slowdown=0)
    assert "bf16 factors, f32 sums" in str(report.lowering("cuda")[0])
    with pytest.raises(perfcheck.CheckError, match="choose one of cuda, tpu, cpu"):
        report.lowering("rocm")


def test_a_rule_that_breaks_hides_no_other(monkeypatch):
    from perfcheck import rules

    def broken(analysis):
        raise ZeroDivisionError("here")

    table = dict(rules.all_rules())
    table["float64-values"] = dataclasses.replace(table["float64-values"], check=broken)
    monkeypatch.setattr("perfcheck.check.all_rules", lambda: table)
    report = check(faulty)
    assert len(report) == 1
    assert "float64-values could not be applied: ZeroDivisionError: here" in str(report)
