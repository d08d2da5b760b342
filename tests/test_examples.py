"""Every example runs as its own header says."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name, *arguments):
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments], capture_output=True, text=True, check=True, timeout=300
    ).stdout


def test_leaky_relu6_prints_the_line_of_the_activation():
    pytest.importorskip("flax")
    text = (EXAMPLES / "leaky_relu6.py").read_text(encoding="utf-8").splitlines()
    line = next(number for number, line in enumerate(text, 1) if "return SLOPE * x" in line)
    out = run("leaky_relu6.py")
    assert "float64-matmul: 6 matmuls run in float64" in out
    assert f"leaky_relu6.py:{line}:12" in out
    assert "no findings" in run("leaky_relu6.py", "--fixed")
