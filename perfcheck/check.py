"""The whole pipeline on one screen: adapt the model, trace it, analyse the program, judge it, report."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr

from .adapters import Options, adapt
from .analysis import Analysis
from .config import Settings, settings_for
from .program import Program
from .report import Finding, Note, ProgramFacts, Report, State
from .rules import Rule, all_rules
from .sift import sift
from .targets import Target, find_target
from .tracing import Wanted, program_of, trace

Priced = str | Target | Mapping[str, Any] | None
Patterns = str | Iterable[str] | None

BROKEN = "could not be applied"
"""Words of the note about a rule that broke."""


def performance_check(
    model: Any,
    *sample: Any,
    variables: Any = None,
    rngs: Any = None,
    method: Any = None,
    vjp: bool = True,
    wrt: Wanted = None,
    axes: dict[str, int] | None = None,
    target: Priced = None,
    min_slowdown: float | None = None,
    select: Patterns = None,
    ignore: Patterns = None,
    within: Patterns = None,
    compute_dtype: Any = None,
    warn: bool = True,
    **call_kwargs: Any,
) -> Report:
    """Audit a model: trace its forward pass and VJP, and report what makes its matmuls slower than they should be.

    Nothing is executed and no parameter is allocated; the model may be of any size.

        report = performance_check(model, jax.ShapeDtypeStruct((8, 128), jnp.bfloat16))
        assert not report  # falsy when nothing was found

    **Arguments:**

    - `model`: a flax.linen module (initialised abstractly, or see `variables`), a flax nnx module (concrete or abstract),
      an Equinox module, a Haiku `Transformed`, or any callable, jitted or not, which takes all its arguments from
      `sample`, parameters first.
    - `*sample`: the positional arguments of the call: arrays, `jax.ShapeDtypeStruct`s, NumPy arrays, Python numbers
      (weakly typed, as in JAX), or trees of them.
    - `variables`: of a linen module, what `init` returned; of a Haiku function, its parameters or (parameters, state).
    - `rngs`: of a linen module, a key, a dictionary of keys by stream, or names of streams; of a Haiku function, a key.
    - `method`: the method of a linen, nnx or Equinox module to call instead of `__call__`, by name or as a function.
    - `vjp`: whether to trace the backward pass. Pass False for what differentiates itself, such as a train step.
    - `wrt`: what to differentiate: positions in `sample`, patterns over leaf names such as "params*", or several of
      them. By default every float leaf.
    - `axes`: named axes the model expects and their sizes, `{"batch": 8}`.
    - `target`: the device to price for: a name ("H100", "TPU v5e", ...), or a mapping with a row of your own (see
      `targets.toml`). By default the attached accelerator if it is known, else H100.
    - `min_slowdown`: a `mixed-precision-matmul` that is predicted to slow all matmuls down by less (default 0.01) is
      only a note.
    - `select`, `ignore`: rules to report alone, or not at all: names, or names at module paths ("float64-matmul@head").
    - `within`: packages or paths; findings whose cause lies elsewhere are counted, not reported.
    - `compute_dtype`: the precision that was asked for, such as "bfloat16": matmuls that were born wider are findings.
    - `warn`: whether each finding is also a `PerformanceWarning` at the line that causes it.
    - `**call_kwargs`: keyword arguments of the call. Arrays and `ShapeDtypeStruct`s among their leaves are traced,
      the rest is passed as it is (`train=True`).

    **Returns:** a `Report`: a sequence of `Finding`s, with notes, facts and every matmul of the program.

    **Raises:** `CheckError` if the model or the sample cannot be used, with the model's own exception as its cause.
    """
    settings = settings_for(
        target=target,
        min_slowdown=min_slowdown,
        select=select,
        ignore=ignore,
        within=within,
        compute_dtype=compute_dtype,
        rules=all_rules(),
    )
    subject = adapt(model, sample, call_kwargs, Options(variables, rngs, method))
    report = judge(trace(subject, vjp=vjp, wrt=wrt, axes=axes), subject.name, settings)
    if warn:
        report.warn()
    return report


def check_jaxpr(
    jaxpr: ClosedJaxpr,
    *,
    target: Priced = None,
    min_slowdown: float | None = None,
    select: Patterns = None,
    ignore: Patterns = None,
    within: Patterns = None,
    compute_dtype: Any = None,
    warn: bool = False,
) -> Report:
    """Audit a jaxpr that someone already has, such as one from `jax.make_jaxpr`.

    Its inputs are named as its own debug information names them; those of the first argument count as parameters.
    Whether an equation belongs to a backward pass is read from its name stack. Raises `CheckError` for what is no
    closed jaxpr.
    """
    settings = settings_for(
        target=target,
        min_slowdown=min_slowdown,
        select=select,
        ignore=ignore,
        within=within,
        compute_dtype=compute_dtype,
        rules=all_rules(),
    )
    report = judge(program_of(jaxpr), "jaxpr", settings)
    if warn:
        report.warn()
    return report


def judge(program: Program, name: str, settings: Settings) -> Report:
    """Apply the rules to a traced program, and the settings to what they say."""
    start = time.perf_counter()
    target, reason = find_target(settings.target)
    analysis = Analysis.of(program, target, settings.min_slowdown, settings.compute_dtype)
    said = [item for rule in all_rules().values() for item in _said_by(rule, analysis)]
    sifted = sift(said, settings)
    findings = sorted(sifted.findings, key=lambda item: -item.impact.slowdown)
    notes = [*map(Note, program.notes), *sifted.notes]
    if settings.compute_dtype == np.float64 and not jax.config.jax_enable_x64:  # type: ignore[attr-defined]
        notes.append(Note("compute_dtype is float64, but x64 is off, so JAX computes nothing in it"))
    notes += [Note(f"{unused} matches nothing") for unused in sifted.unused]
    phases = Counter(site.phase for site in analysis.sites)
    facts = ProgramFacts(
        model=name,
        equations=analysis.flow.equations,
        matmuls={"forward": phases["forward"], "backward": phases["backward"]},
        flops=analysis.flops,
        matmul_seconds=analysis.seconds,
        target=target.name,
        target_reason=reason,
        trace_seconds=program.seconds,
        analysis_seconds=time.perf_counter() - start,
        vjp_error=program.vjp_error,
    )
    return Report(
        tuple(findings), tuple(notes), facts, _state(program, bool(findings), bool(phases)), analysis, sifted.suppressed
    )


def _said_by(rule: Rule, analysis: Analysis) -> list[Finding | Note]:
    """What a rule says; if it breaks on a program it was not made for, a note that says so instead of no report at all."""
    try:
        return list(rule.check(analysis))
    except Exception as error:
        return [Note(f"{rule.name} {BROKEN}: {type(error).__name__}: {error}; please report this", rule.name)]


def _state(program: Program, findings: bool, matmuls: bool) -> State:
    if findings:
        return "findings"
    if program.vjp_failed:
        return "could not check"
    return "clean" if matmuls else "nothing to check"
