"""Devices a program may be priced for: dense peak rates and memory bandwidth, with the source of each row."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from . import compat
from .report import CheckError

DEFAULT = "H100 SXM"
"""The target of an audit where no accelerator is attached."""

EMULATED_FLOAT64 = 16
"""How many times slower than float32 a float64 product is taken to be where the device has no float64 units (an
assumption: on TPUs XLA builds it from pairs of float32 values)."""

_RATES = ("float64", "float32", "tf32", "bfloat16", "float16", "float8", "int8")


@dataclasses.dataclass(frozen=True)
class Target:
    """One device. Rates are in 10^12 operations a second without sparsity, `bandwidth` in 10^9 bytes a second.

    `rates` has a key for each type the device multiplies in hardware, out of float64, float32, tf32, bfloat16, float16,
    float8 and int8. `default_float32` is the type in which JAX multiplies float32 values there at default precision.
    `source` names where the figures are from.
    """

    name: str
    rates: Mapping[str, float]
    bandwidth: float
    default_float32: str = "float32"
    kind: str = "gpu"
    source: str = "given by the user"

    def rate(self, dtype: str, precision: str = "") -> float:
        """Operations a second of a product in `dtype` that asks for `precision`."""
        return 1e12 * self._rate(dtype, precision)

    def _rate(self, dtype: str, precision: str) -> float:
        has = self.rates.get
        if dtype in ("float64", "complex128"):
            return has("float64") or self._float32("HIGHEST") / EMULATED_FLOAT64
        if "_X" in precision:  # float32 built from that many bfloat16 passes
            return (has("bfloat16") or self._float32("")) / int(precision.rpartition("_X")[2])
        if dtype in ("float32", "complex64"):
            return self._float32(precision)
        if dtype.startswith("float8") or dtype.startswith("float4"):
            return has("float8") or has("bfloat16") or self._float32("")
        if dtype in ("int8", "uint8", "int4", "uint4"):
            return has("int8") or self._float32("")
        return has(dtype) or self._float32("")

    def _float32(self, precision: str) -> float:
        if precision.startswith("TF32"):
            return self.rates.get("tf32", self.rates["float32"])
        if precision == "HIGHEST" or precision.startswith("F32"):
            return self.rates["float32"]
        if precision == "HIGH" and self.kind == "tpu":  # three bfloat16 passes; on a GPU as at default precision
            return self.rates["bfloat16"] / 3
        return self.rates[self.default_float32]


@functools.cache
def known_targets() -> dict[str, Target]:
    """The targets that come with the package, by name."""
    return {name: _target(name, row) for name, row in _rows().items()}


@functools.cache
def _rows() -> dict[str, Any]:
    return tomllib.loads(resources.files("perfcheck").joinpath("targets.toml").read_text(encoding="utf-8"))


def _target(name: str, row: Mapping[str, Any]) -> Target:
    rates = {key: float(row[key]) for key in _RATES if key in row}
    missing = [key for key in ("float32", "bandwidth") if key not in row]
    if missing:
        raise CheckError(f"target {name!r} lacks {' and '.join(missing)}: give rates in 10^12 operations a second, GB/s")
    default = str(row.get("default_float32", "float32"))
    if default not in rates:
        raise CheckError(f"target {name!r}: default_float32 is {default!r}, for which it gives no rate")
    return Target(
        name,
        rates,
        float(row["bandwidth"]),
        default,
        str(row.get("kind", "gpu")),
        str(row.get("source", "given by the user")),
    )


def find_target(given: str | Target | Mapping[str, Any] | None) -> tuple[Target, str]:
    """(target, why that one). `given` is a name, a row of the user's own as a mapping or a `Target`, or None.

    Raises `CheckError` for a name that is not known, listing those that are.
    """
    if isinstance(given, Target):
        return given, "given"
    if isinstance(given, str):
        return _named(given), "given"
    if given is not None:
        return _target(str(given.get("name", "custom")), given), "given"
    attached = compat.attached_device_kind()
    if attached is not None:
        for name, row in _rows().items():
            if attached in row.get("device_kinds", ()):
                return known_targets()[name], "the attached device"
    return known_targets()[DEFAULT], "no known accelerator is attached"


def _named(name: str) -> Target:
    wanted = _folded(name)
    for known, row in _rows().items():
        if wanted in {_folded(known), *map(_folded, row.get("aliases", ()))}:
            return known_targets()[known]
    near = difflib.get_close_matches(name, known_targets(), 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise CheckError(f"unknown target {name!r}.{hint} Known: {', '.join(known_targets())}; or pass a row of your own")


def _folded(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
