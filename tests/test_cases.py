"""Every program in tests/cases: what must be found in it, and that its corrected twin is silent."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from conftest import CASES, load, x64

import perfcheck
from perfcheck.check import BROKEN

PATHS = sorted(CASES.glob("*.py"))
MATMUL_RULES = {"float64-matmul", "mixed-precision-matmul"}


def switches(path: Path) -> dict:
    """The constants at the top of a case, without importing it."""
    text = path.read_text(encoding="utf-8")
    found = dict(re.findall(r"^([A-Z0-9_]+) = (.+)$", text, re.MULTILINE))
    return {
        "x64": found.get("X64") == "True",
        "framework": found.get("FRAMEWORK", "'plain'").strip("'\""),
        "min_jax": tuple(map(int, re.findall(r"\d+", found.get("MIN_JAX", "")))),
    }


def skip_unless_it_can_run(found: dict) -> None:
    import jax

    if tuple(map(int, jax.__version__.split(".")[:3])) < found["min_jax"]:
        pytest.skip(f"needs jax {found['min_jax']}")
    package = {"linen": "flax", "nnx": "flax", "equinox": "equinox", "haiku": "haiku"}.get(found["framework"])
    if package and importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")


def audit(path: Path, fixed: bool):
    found = switches(path)
    skip_unless_it_can_run(found)
    with x64(found["x64"]):
        case = load(path)
        model, sample, options = case.build(fixed)
        vjp = getattr(case, "VJP", True)
        report = perfcheck.performance_check(model, *sample, vjp=vjp, target="H100", warn=False, **options)
    assert not [note for note in report.notes if BROKEN in note.message]
    return case, report


def place(location):
    return (Path(location.file).resolve(), location.line) if location else None


def marked(path: Path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return {(path.resolve(), number) for number, text in enumerate(lines, 1) if "# CAUSE" in text}


def kinds(expected) -> set:
    return set(expected) if isinstance(expected, (set, frozenset, tuple, list)) else {expected}


@pytest.mark.core
@pytest.mark.parametrize("path", [path for path in PATHS if not path.stem.startswith("clean_")], ids=lambda path: path.stem)
def test_faulty(path):
    case, report = audit(path, fixed=False)
    left = list(report)
    for want in case.EXPECT:
        hits = [item for item in left if item.rule == want["rule"] and item.cause.kind in kinds(want["cause"])]
        assert hits, f"{want['rule']} by {kinds(want['cause'])} is missed:\n{report}"
        hit = hits[0]
        left.remove(hit)
        assert {place(hit.cause.location), place(hit.cause.meets)} & marked(path), f"wrong place:\n{report}"
        if want["rule"] in MATMUL_RULES:
            assert hit.phases == want["phases"], str(report)
        if want.get("sites") is not None:
            assert len(hit.sites) == want["sites"], str(report)
    assert not left, f"unexpected:\n{report}"


@pytest.mark.core
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_corrected_or_clean(path):
    _, report = audit(path, fixed=True)
    assert not report, str(report)
    if path.stem.startswith("clean_"):
        _, report = audit(path, fixed=False)
        assert not report, str(report)


def test_there_are_enough_cases():
    clean = [path for path in PATHS if path.stem.startswith("clean_")]
    assert len(clean) >= 15
    assert len(PATHS) - len(clean) >= 25
