"""What a user has set: options of a call, `[tool.perfcheck]` in pyproject.toml, and `perfcheck.allow` in model code."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .precision import width
from .program import ALLOW_SCOPE
from .report import CheckError


@dataclasses.dataclass(frozen=True)
class Settings:
    """Options that decide what is reported.

    `select` and `ignore` hold rules, or rules at module paths ("wider-than-asked@head"), `*` for any rule; `within` holds
    packages or paths. `origin` says for each ignore where it was written.
    """

    target: Any = None
    min_slowdown: float = 0.01
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    compute_dtype: np.dtype | None = None
    origin: Mapping[str, str] = dataclasses.field(default_factory=dict)


def settings_for(
    *,
    target: Any = None,
    min_slowdown: float | None = None,
    select: str | Iterable[str] | None = None,
    ignore: str | Iterable[str] | None = None,
    within: str | Iterable[str] | None = None,
    compute_dtype: Any = None,
    rules: Iterable[str],
) -> Settings:
    """The settings of one call: what it gives itself, else what pyproject.toml says. Ignores of both add up.

    Raises `CheckError` for a rule that does not exist, or an option pyproject.toml cannot have.
    """
    file, written = _from_project()
    own, project = _several(ignore), _several(written.get("ignore"))
    rules = tuple(rules)
    chosen = Settings(
        target=target if target is not None else written.get("target"),
        min_slowdown=float(min_slowdown if min_slowdown is not None else written.get("min_slowdown", 0.01)),
        select=_several(select) or _several(written.get("select")),
        ignore=tuple(dict.fromkeys((*own, *project))),
        within=_several(within) or _several(written.get("within")),
        compute_dtype=_float_dtype(compute_dtype if compute_dtype is not None else written.get("compute_dtype")),
        origin={**dict.fromkeys(project, str(file)), **dict.fromkeys(own, "ignore=")},
    )
    for pattern in (*chosen.select, *chosen.ignore):
        _check_rule(pattern, rules)
    return chosen


def _float_dtype(given: Any) -> np.dtype | None:
    """The dtype that was asked for. Raises `CheckError` for what names no float dtype."""
    if given is None:
        return None
    try:
        dtype = np.dtype(given) if not isinstance(given, str) else jnp.dtype(given)
    except TypeError:
        dtype = None
    if dtype is None or not width(dtype):
        raise CheckError(f'compute_dtype={given!r} is no float dtype: pass "bfloat16", "float16", "float32" or a dtype')
    return dtype


def _several(value: str | Iterable[str] | None) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _check_rule(pattern: str, rules: tuple[str, ...]) -> None:
    name = pattern.partition("@")[0]
    if name != "*" and name not in rules:
        near = difflib.get_close_matches(name, rules, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise CheckError(f"there is no rule {name!r}.{hint} The rules are {', '.join(rules)}")


_KNOWN = ("target", "min_slowdown", "select", "ignore", "within", "compute_dtype")


def _from_project() -> tuple[Path | None, dict[str, Any]]:
    """The nearest pyproject.toml at or above the working directory that has a `[tool.perfcheck]` table."""
    try:
        here = Path.cwd()
    except OSError:
        return None, {}
    for folder in (here, *here.parents):
        file = folder / "pyproject.toml"
        try:
            table = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {}).get("perfcheck")
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            continue
        if table is not None:
            written = {key.replace("-", "_"): value for key, value in table.items()}
            unknown = sorted(set(written) - set(_KNOWN))
            if unknown:
                raise CheckError(f"{file}: [tool.perfcheck] has no option {', '.join(unknown)}; it has {', '.join(_KNOWN)}")
            return file, written
    return None, {}


@contextlib.contextmanager
def allow(*rules: str) -> Iterator[None]:
    """Let rules pass for everything computed inside: `with perfcheck.allow("float64-matmul"): ...` in model code.

    It opens a named scope and nothing else: the compiled program is the same.
    """
    from .rules import all_rules

    with contextlib.ExitStack() as scopes:
        for rule in rules:
            _check_rule(rule, tuple(all_rules()))
            scopes.enter_context(jax.named_scope(ALLOW_SCOPE + rule))
        yield
