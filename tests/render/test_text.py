"""Whole reports as text, to the letter."""

import io
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import perfcheck

pytestmark = pytest.mark.core
X = jax.ShapeDtypeStruct((64, 1024), jnp.bfloat16)


def model(params, x):
    x = x * np.float32(0.5)
    return (x @ params["w"]).astype(jnp.bfloat16)


def report():
    return perfcheck.performance_check(
        model, {"w": jax.ShapeDtypeStruct((1024, 1024), jnp.bfloat16)}, X, warn=False, target="H100"
    )


def test_the_text_of_a_finding(monkeypatch):
    from pathlib import Path

    monkeypatch.chdir(Path(__file__).parent)
    line = model.__code__.co_firstlineno + 1
    head = f"  test_text.py:{line}:9  "
    assert str(report()) == (
        "model: 1 finding in 3 matmuls (1 forward, 2 backward)\n"
        f"  forward  {'░' * 24}  ░ float32 100%\n"
        f"  backward {'░' * 24}  ░ float32 100%\n\n"
        "mixed-precision-matmul: 3 matmuls run in float32 for bfloat16 values\n"
        f"{head}x = x * np.float32(0.5)\n"
        f"{' ' * (len(head) + 4)}^^^^^^^^^^^^^^^^^^^ float32 scalar 0.5 meets bfloat16[64,1024]\n"
        + textwrap.indent(
            "widens 1 forward and 2 backward matmuls, 100% of matmul FLOPs\n"
            "predicted 1.41x slower matmuls on H100 SXM\n"
            "fix: write the Python number 0.5: it is weakly typed and keeps bfloat16\n"
            "tip: tips.md#mixed-precision-matmul",
            "  ",
        )
    )


def test_a_file_gets_plain_text_and_a_terminal_colour():
    plain = io.StringIO()
    report().print(plain)
    assert plain.getvalue() == str(report()) + "\n"

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    coloured = Terminal()
    report().print(coloured)
    assert "\x1b[" in coloured.getvalue()


def test_hostile_names_stay_text():
    scope: dict = {"np": np, "jnp": jnp}
    source = "def model(w, x):\n    x = x * np.float32(0.5)  # \x1b[31m \u202e<script>\n    return x @ w\n"
    import linecache

    linecache.cache["<evil \x1b[2J>"] = (len(source), None, source.splitlines(keepends=True), "<evil \x1b[2J>")
    exec(compile(source, "<evil \x1b[2J>", "exec"), scope)
    scope["model"].__name__ = "m\x07\u202e"
    text = str(perfcheck.performance_check(scope["model"], jax.ShapeDtypeStruct((1024, 8), jnp.bfloat16), X, warn=False))
    assert "float32 scalar 0.5" in text
    assert not any(character in text for character in "\x1b\x07\u202e")
    assert "\\x1b[31m" in text
