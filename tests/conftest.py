"""What every test shares: x64 on for a while, and cases as modules."""

from __future__ import annotations

import importlib.util
import sys
from contextlib import contextmanager
from pathlib import Path

import jax

CASES = Path(__file__).parent / "cases"


@contextmanager
def x64(on: bool = True):
    """Run with 64-bit types on or off; `jax.enable_x64` is public from 0.8."""
    switch = getattr(jax, "enable_x64", None)
    if switch is None or not callable(switch):
        from jax.experimental import enable_x64 as switch
    with switch(on):
        yield


def load(path: Path):
    """A case as a module, imported anew."""
    name = f"case_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
