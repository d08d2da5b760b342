"""The whole pipeline on one screen: adapt the model, trace it, analyse the program, judge it, report."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from jax.extend.core import ClosedJaxpr

from .adapters import Options, adapt
from .analysis import Analysis
from .program import Input, Program
from .report import ProgramFacts, Report, State
from .rules import all_rules
from .tracing import Wanted, trace


def performance_check(
    model: Any,
    *sample: Any,
    variables: Any = None,
    rngs: Any = None,
    method: Any = None,
    vjp: bool = True,
    wrt: Wanted = None,
    axes: dict[str, int] | None = None,
    target: Any = None,
    warn: bool = True,
    **call_kwargs: Any,
) -> Report:
    program = trace(adapt(model, sample, call_kwargs, Options(variables, rngs, method)), vjp=vjp, wrt=wrt, axes=axes)
    report = _judge(program, type(model).__name__)
    if warn:
        report.warn()
    return report


def check_jaxpr(jaxpr: ClosedJaxpr, *, target: Any = None, warn: bool = False) -> Report:
    names = getattr(jaxpr.jaxpr.debug_info, "arg_names", None) or ()
    count = len(jaxpr.jaxpr.invars)
    known = [str(name) if name else f"input {k}" for k, name in enumerate(names)][:count]
    known += [f"input {k}" for k in range(len(known), count)]
    first = known[0].split("[")[0].split(".")[0] if known else ""
    inputs = tuple(
        Input(name, "parameter" if name.split("[")[0].split(".")[0] == first else "sample") for name in known
    )
    report = _judge(Program(jaxpr, inputs), "jaxpr")
    if warn:
        report.warn()
    return report


def _judge(program: Program, name: str) -> Report:
    start = time.perf_counter()
    analysis = Analysis.of(program)
    findings = [finding for rule in all_rules().values() for finding in rule.check(analysis)]
    findings.sort(key=lambda finding: -finding.impact.flops)
    phases = Counter(site.phase for site in analysis.sites)
    state: State = "findings" if findings else "clean" if phases else "nothing to check"
    facts = ProgramFacts(
        model=name,
        equations=analysis.flow.equations,
        matmuls={"forward": phases["forward"], "backward": phases["backward"]},
        flops={},
        trace_seconds=program.seconds,
        analysis_seconds=time.perf_counter() - start,
        vjp_error=program.vjp_error,
    )
    return Report(tuple(findings), program.notes, facts, state, lambda: analysis.matmuls)
