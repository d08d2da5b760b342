"""The pytest plugin, in runs of its own."""

import json
import subprocess
import sys

import pytest

pytest_plugins = ["pytester"]

TESTS = """
import jax, jax.numpy as jnp, numpy as np
W, X = jax.ShapeDtypeStruct((512, 512), jnp.bfloat16), jax.ShapeDtypeStruct((64, 512), jnp.bfloat16)

def clean(w, x):
    return x @ w

def faulty(w, x):
    return (x * np.float32(0.5)) @ w

def test_clean(performance_check):
    assert performance_check(clean, W, X).ok

def test_faulty(performance_check):
    performance_check(faulty, W, X)

def test_expected(performance_check):
    performance_check(faulty, W, X, broken=["mixed-precision-matmul"])

def test_expected_but_gone(performance_check):
    performance_check(clean, W, X, broken="mixed-precision-matmul")

def test_bad_input(performance_check):
    performance_check(clean, W)

def test_plain_assert():
    import perfcheck
    assert not perfcheck.performance_check(faulty, W, X, warn=False)
"""


@pytest.fixture
def run(pytester):
    pytester.makepyfile(test_models=TESTS)

    def run(*arguments):
        loaded = [] if _is_installed() else ["-p", "pytest_perfcheck"]
        return pytester.runpytest_subprocess(*loaded, *arguments)

    return run


def _is_installed():
    from importlib.metadata import entry_points

    return any(point.value == "pytest_perfcheck" for point in entry_points(group="pytest11"))


def test_the_fixture_fails_with_the_report_and_a_summary_lists_every_audit(run):
    result = run()
    result.assert_outcomes(passed=2, failed=4)
    result.stdout.fnmatch_lines(
        [
            "*mixed-precision-matmul: 3 matmuls run in float32 for bfloat16 values",
            "*expected findings are gone: mixed-precision-matmul*",
            "*could not check: clean cannot be called with 1 positional*",
            "*assert not <perfcheck.Report: 1 finding in 3 matmuls (1 forward, 2 backward)>*",
            "*= perfcheck =*",
            "test_models.py::test_clean: clean: no findings in 3 matmuls: 1 forward, 2 backward",
            "test_models.py::test_faulty: faulty: 1 finding in 3 matmuls (1 forward, 2 backward)",
        ]
    )


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
@pytest.mark.parametrize("suffix", ["json", "sarif", "html"])
def test_the_report_file_holds_every_audit(run, pytester, workers, suffix):
    if workers:
        pytest.importorskip("xdist")
    run(f"--perfcheck-report=out.{suffix}", *workers)
    text = (pytester.path / f"out.{suffix}").read_text()
    if suffix == "json":
        assert len(json.loads(text)["reports"]) == 4
    elif suffix == "sarif":
        assert len(json.loads(text)["runs"][0]["results"]) == 2
    else:
        assert text.count("no findings in 3 matmuls") == 2


def test_options(run):
    run("--perfcheck-ignore=mixed-precision-matmul", "-k", "test_faulty").assert_outcomes(passed=1, deselected=5)
    run("--perfcheck-select=float64-matmul", "-k", "test_faulty").assert_outcomes(passed=1, deselected=5)
    run("--perfcheck-target=H1000", "-k", "test_faulty").assert_outcomes(failed=1, deselected=5)


def test_loading_the_plugin_imports_neither_jax_nor_perfcheck():
    code = "import sys, pytest_perfcheck; assert not {'jax', 'perfcheck', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_perfcheck_loads_no_framework_and_no_renderer():
    code = "import sys, perfcheck; assert not {'flax', 'rich', 'jinja2', 'pytest', 'equinox', 'haiku'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
