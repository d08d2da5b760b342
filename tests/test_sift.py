"""Findings a user does not want to see: selected, ignored, allowed, commented, elsewhere; each counted."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import perfcheck

pytestmark = pytest.mark.core
NARROW = jnp.bfloat16
W = jax.ShapeDtypeStruct((512, 512), NARROW)
X = jax.ShapeDtypeStruct((64, 512), NARROW)


def check(model, **options):
    return perfcheck.performance_check(model, W, X, warn=False, target="H100", **options)


def model(w, x):
    with jax.named_scope("net"):
        with jax.named_scope("body"):
            x = (x * np.float32(0.5) @ w).astype(NARROW)
        with jax.named_scope("head"):
            return (x + np.ones(512, np.float32)) @ w


def modules(report):
    return sorted(finding.cause.module for finding in report)


def test_ignore_by_rule_and_by_module():
    assert modules(check(model)) == ["net/body", "net/head"]
    assert modules(check(model, ignore="mixed-precision-matmul")) == []
    assert modules(check(model, ignore=["mixed-precision-matmul@head"])) == ["net/body"]
    assert modules(check(model, ignore=["*@net/b*"])) == ["net/head"]
    report = check(model, ignore="mixed-precision-matmul@head")
    assert [(one.by, one.finding.cause.module) for one in report.suppressed] == [("mixed-precision-matmul@head", "net/head")]
    assert "suppressed: 1 mixed-precision-matmul by mixed-precision-matmul@head" in str(report)


def test_select():
    assert modules(check(model, select="float64-matmul")) == []
    assert modules(check(model, select="mixed-precision-matmul@body")) == ["net/body"]


def test_an_ignore_that_matches_nothing_is_reported():
    report = check(model, ignore=["mixed-precision-matmul@nowhere"])
    assert len(report) == 2
    assert any("'mixed-precision-matmul@nowhere' of ignore= matches nothing" in str(note) for note in report.notes)


def test_rules_that_do_not_exist():
    with pytest.raises(perfcheck.CheckError, match="Did you mean 'float64-matmul'"):
        check(model, ignore="float64-matmuls")
    with pytest.raises(perfcheck.CheckError, match="there is no rule"), perfcheck.allow("nothing"):
        pass


def test_comments_on_the_line_of_the_cause_or_of_all_its_matmuls():
    def on_cause(w, x):
        x = x * np.float32(0.5)  # perfcheck: ignore[mixed-precision-matmul]
        return x @ w

    def on_matmul(w, x):
        x = x * np.float32(0.5)
        return x @ w  # perfcheck: ignore

    def of_another_rule(w, x):
        x = x * np.float32(0.5)  # perfcheck: ignore[float64-matmul]
        return x @ w

    assert [one.by for one in check(on_cause).suppressed] == ["comment"]
    assert [one.by for one in check(on_matmul).suppressed] == ["comment"]
    assert len(check(of_another_rule)) == 1


def test_allow_lets_pass_what_is_inside_and_leaves_no_scope():
    def inside(w, x):
        with perfcheck.allow("mixed-precision-matmul"):
            x = x * np.float32(0.5)
        return x @ w

    def other(w, x):
        with perfcheck.allow("float64-matmul"):
            x = x * np.float32(0.5)
        return x @ w

    assert [one.by for one in check(inside).suppressed] == ["perfcheck.allow"]
    (finding,) = check(other)
    assert finding.cause.module == ""


def test_within_keeps_only_own_code():
    assert len(check(model, within=__file__)) == 2
    report = check(model, within="numpy")
    assert not report
    assert {one.by for one in report.suppressed} == {"within"}


def test_pyproject(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "pyproject.toml"
    file.write_text('[tool.perfcheck]\nignore = ["mixed-precision-matmul@head"]\nmin-slowdown = 0.5\ntarget = "A100"\n')
    report = check(model, min_slowdown=0)
    assert modules(report) == ["net/body"]
    report = perfcheck.performance_check(model, W, X, warn=False)
    assert report.program.target == "A100 80GB"
    assert not report  # min-slowdown of the file
    file.write_text("[tool.perfcheck]\nignored = []\n")
    with pytest.raises(perfcheck.CheckError, match="has no option ignored"):
        check(model)
