"""The command line, as its users type it."""

import json
import subprocess
import sys

import pytest

from perfcheck.cli import main

MODELS = """
import jax, jax.numpy as jnp, numpy as np
S = jax.ShapeDtypeStruct
W, X = S((512, 512), jnp.bfloat16), S((64, 512), jnp.bfloat16)

def clean(w, x):
    return x @ w

def faulty(w, x):
    return (x * np.float32(0.5)) @ w

def perfcheck_clean():
    return clean, (W, X)

def perfcheck_faulty():
    return faulty, (W, X), {"target": "H100"}

def broken():
    return (lambda w: w @ w), (S((2, 3), jnp.float32),)

pair = faulty, (W, X)
"""


@pytest.fixture
def models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models.py").write_text(MODELS)
    return tmp_path


def test_exit_statuses(models, capsys):
    assert main(["check", "models.py:perfcheck_clean"]) == 0
    assert "no findings in 3 matmuls" in capsys.readouterr().out
    assert main(["check", "models.py:perfcheck_faulty"]) == 1
    assert "float32 scalar 0.5" in capsys.readouterr().out
    assert main(["check", "models.py:pair", "--exit-zero"]) == 0
    assert main(["check", "models.py:broken"]) == 2
    assert "could not check" in capsys.readouterr().err
    assert main(["check", "models.py:nothing"]) == 2
    assert main(["check", "nothing.py"]) == 2
    assert "there is no file nothing.py" in capsys.readouterr().err


def test_every_audit_of_a_file(models, capsys):
    assert main(["check", "models.py"]) == 1
    out = capsys.readouterr().out
    assert "clean: no findings" in out
    assert "faulty: 1 finding" in out


def test_select_ignore_and_target(models, capsys):
    assert main(["check", "models.py:pair", "--ignore", "mixed-precision-matmul"]) == 0
    assert main(["check", "models.py:pair", "--select", "float64-matmul"]) == 0
    assert main(["check", "models.py:pair", "--target", "A100"]) == 1
    assert "A100 80GB" in capsys.readouterr().out
    assert main(["check", "models.py:pair", "--min-slowdown", "9"]) == 0
    assert main(["check", "models.py:pair", "--ignore", "no-such-rule"]) == 2


@pytest.mark.parametrize("form", ["json", "sarif", "github", "html"])
def test_formats_to_a_file(models, form):
    assert main(["check", "models.py", "--format", form, "--output", "out"]) == 1
    text = (models / "out").read_text()
    if form == "html":
        assert text.startswith("<!DOCTYPE html>")
        assert text.count("perfcheck-verdict perfcheck-") == 2
    elif form == "github":
        assert text.startswith("::warning ")
    else:
        found = json.loads(text)
        assert len(found["reports"] if form == "json" else found["runs"][0]["results"]) == (2 if form == "json" else 1)


def test_a_baseline_lets_old_findings_pass_and_tells_those_that_are_gone(models, capsys):
    assert main(["check", "models.py", "--write-baseline", "known.json"]) == 0
    assert main(["check", "models.py", "--baseline", "known.json"]) == 0
    (models / "models.py").write_text("\n\n\n" + MODELS)  # lines may move
    assert main(["check", "models.py", "--baseline", "known.json"]) == 0
    (models / "models.py").write_text(MODELS.replace("np.float32(0.5)", "0.5"))
    capsys.readouterr()
    assert main(["check", "models.py", "--baseline", "known.json"]) == 1
    err = capsys.readouterr().err
    assert "no longer found" in err
    assert "--write-baseline known.json" in err
    (models / "models.py").write_text(MODELS.replace("x @ w\n\ndef faulty", "(x + np.ones(512, np.float32)) @ w\n\ndef faulty"))
    assert main(["check", "models.py", "--baseline", "known.json"]) == 1
    assert main(["check", "models.py", "--baseline", "models.py"]) == 2


def test_rules_tips_and_version(capsys):
    assert main(["rules"]) == 0
    assert "float64-matmul" in capsys.readouterr().out
    assert main(["tips", "unstable-state"]) == 0
    assert "Why it costs" in capsys.readouterr().out
    assert main(["tips", "no-rule"]) == 2
    assert main(["--version"]) == 0
    assert "perfcheck 0." in capsys.readouterr().out


def test_as_a_module_and_with_x64(models):
    source = (
        "import numpy as np, jax\nS = jax.ShapeDtypeStruct\ndef perfcheck_a():\n"
        "    return (lambda w, x: x * np.float64(2) @ w), (S((64, 64), 'float32'), S((64, 64), 'float32'))\n"
    )
    (models / "wide.py").write_text(source)
    command = [sys.executable, "-m", "perfcheck", "check", "wide.py", "--x64"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stderr
    assert "float64-matmul" in done.stdout
