"""What an audit says: plain frozen data. This module knows no other of the package but the renderers it hands itself to."""

from __future__ import annotations

import dataclasses
import functools
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Literal, Protocol, overload

Platform = Literal["cuda", "tpu", "cpu"]
State = Literal["clean", "findings", "nothing to check", "could not check"]


class PerformanceWarning(UserWarning):
    """A finding, as a Python warning at the place of its cause."""


class CheckError(Exception):
    """The model or the sample cannot be audited. The message says what is wrong and what to pass instead."""


@dataclasses.dataclass(frozen=True)
class Location:
    """A stretch of source. Lines and columns count from 1, columns in characters; `end_column` is exclusive.

    `column`, `end_column` are None where Python kept no columns; `text` is the first line's text, "" where it is gone.
    """

    file: str
    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    function: str = ""
    text: str = ""

    @property
    def expression(self) -> str:
        """The source of the stretch on its first line, or the whole line without its indentation."""
        if self.column is None or not self.text:
            return self.text.strip()
        end = self.end_column if self.end_line == self.line and self.end_column else len(self.text) + 1
        return self.text[self.column - 1 : end - 1].strip() or self.text.strip()


@dataclasses.dataclass(frozen=True)
class Matmul:
    """One product at one place in the call tree.

    `operands` and `result` are shapes with dtypes, such as "bfloat16[8,64]"; `dtype` is the one it computes in after its
    `precision` is taken into account; `phase` is "forward" or "backward"; `recomputed` marks forward work that the
    backward pass does again. `flops` counts multiplications and additions over all loop turns, a lower bound where
    `at_least` is set (a loop without a known count). `bytes` are those of both factors and the result over all turns.
    `seconds` is the time predicted for them on the report's target. `precision` is the name of the algorithm or precision
    the product asks for, "" for none. `allowed` are the rules that a `perfcheck.allow` around it lets pass.
    """

    primitive: str
    operands: tuple[str, ...]
    result: str
    dtype: str
    phase: Literal["forward", "backward"]
    recomputed: bool
    module: str
    location: Location | None
    flops: int = 0
    bytes: int = 0
    seconds: float = 0.0
    at_least: bool = False
    precision: str = ""
    allowed: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Lowered:
    """How one platform is asked to run an affected matmul.

    `operands` are the dtypes of the two factors in the lowered program, and `converted` whether they differ from those
    of the traced one: then the platform widens a factor first. `algorithm` is the one it is told to use, "" for none.
    """

    matmul: Matmul
    platform: Platform
    operands: tuple[str, str]
    converted: bool
    algorithm: str = ""

    def __str__(self) -> str:
        how = f" with {self.algorithm}" if self.algorithm else ""
        before = f" (converted from {' x '.join(self.matmul.operands)})" if self.converted else ""
        place = f" in {self.matmul.module}" if self.matmul.module else ""
        return f"{self.platform}: {self.matmul.phase} matmul{place} multiplies {' x '.join(self.operands)}{how}{before}"


@dataclasses.dataclass(frozen=True)
class Cause:
    """What started a widening.

    `kind` is one of literal, constant, parameter, sample, creation, integer, cast, accumulation, cotangent, callback.
    `dtype` is the dtype that spread. `location` is where the cause was born, None for an input; `meets` is where it
    widened something; `library` is the framework's own line there, if any; `module` is the module path at that place.
    `leaves` names every input leaf or module that is this cause, `places` every line it meets something on, `allowed` the
    rules that a `perfcheck.allow` around it lets pass.
    """

    kind: str
    dtype: str
    description: str
    location: Location | None
    meets: Location | None
    module: str = ""
    library: Location | None = None
    leaves: tuple[str, ...] = ()
    places: tuple[Location, ...] = ()
    allowed: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Impact:
    """What a cause costs in one run of the program.

    `flops` of all affected matmuls; `share` of all matmul FLOPs (0 to 1); `slowdown`, the predicted time of all matmuls
    on `target` over that with this cause undone (1.0: no difference); `extra_bytes` that the affected matmuls read and
    write beyond what they would; `at_least` if a loop without a known count is among them.
    """

    flops: int = 0
    share: float = 0.0
    slowdown: float = 1.0
    extra_bytes: int = 0
    target: str = ""
    at_least: bool = False


@dataclasses.dataclass(frozen=True)
class Finding:
    """One root cause and everything it slows down."""

    rule: str
    message: str
    cause: Cause
    sites: tuple[Matmul, ...]
    phases: frozenset[str]
    impact: Impact
    fix: str
    tip: str

    def __str__(self) -> str:
        from .render.text import finding_text

        return finding_text(self)


@dataclasses.dataclass(frozen=True)
class Note:
    """What is true but not worth failing a test for: `finding` is what would have been one, if it cost more."""

    message: str
    rule: str = ""
    finding: Finding | None = None

    def __str__(self) -> str:
        return self.message


@dataclasses.dataclass(frozen=True)
class Suppressed:
    """A finding that was taken out, and by what: an ignore pattern, or "select", "perfcheck.allow", "comment", "within"."""

    finding: Finding
    by: str


@dataclasses.dataclass(frozen=True)
class ProgramFacts:
    """Figures of the audited program.

    `equations` counts each jaxpr once; `matmuls` counts sites by phase; `flops` sums matmul FLOPs by (dtype, phase);
    `matmul_seconds` is the time predicted for all of them on `target`, which was chosen for `target_reason`;
    `trace_seconds` and `analysis_seconds` are wall-clock times of this audit; `vjp_error` says why there is no backward
    pass, or is None.
    """

    model: str
    equations: int
    matmuls: dict[str, int]
    flops: dict[tuple[str, str], int]
    matmul_seconds: float
    target: str
    target_reason: str
    trace_seconds: float
    analysis_seconds: float
    vjp_error: str | None


class Details(Protocol):
    """What a report can still be asked for after the audit, worked out on request."""

    def list_matmuls(self) -> tuple[Matmul, ...]:
        """Every matmul of the program."""
        ...

    def lowering(self, platform: Platform) -> tuple[Lowered, ...]:
        """Every affected matmul as a platform is asked to run it."""
        ...


@dataclasses.dataclass(frozen=True, repr=False)
class Report(Sequence[Finding]):
    """The findings of one audit: a sequence that is falsy when there are none.

    `notes` are what is true but not worth failing a test for; `suppressed` the findings that were taken out.
    """

    findings: tuple[Finding, ...]
    notes: tuple[Note, ...]
    program: ProgramFacts
    state: State
    details: Details = dataclasses.field(repr=False, compare=False)
    suppressed: tuple[Suppressed, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    @functools.cached_property
    def matmuls(self) -> tuple[Matmul, ...]:
        """Every matmul of the program in program order, forward and backward."""
        return self.details.list_matmuls()

    def summary(self) -> str:
        """A table of matmuls by module, and the FLOPs by dtype and phase, as text."""
        from .render.text import summary_text

        return summary_text(self)

    def lowering(self, platform: Platform) -> tuple[Lowered, ...]:
        """Lower every affected matmul for "cuda", "tpu" or "cpu", on this machine, and say what is multiplied there.

        A product of unequal dtypes becomes a cast and a float32 product on cuda and cpu, and stays mixed on tpu.
        Raises `CheckError` for another platform.
        """
        return self.details.lowering(platform)

    def __len__(self) -> int:
        return len(self.findings)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...
    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return self.findings[index]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __str__(self) -> str:
        from .render.text import report_text

        return report_text(self)

    def __repr__(self) -> str:
        from .render.text import verdict

        return f"<perfcheck.Report: {verdict(self)}>"

    def __rich__(self) -> Any:
        from .render.terminal import report_renderable

        return report_renderable(self)

    def _repr_html_(self) -> str:
        from .render.html import report_html

        return report_html(self)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, in the form `render/report.schema.json` describes."""
        from .render.json import report_dict

        return report_dict(self)

    def to_json(self, indent: int | None = 2) -> str:
        """The report as JSON text."""
        import json

        return json.dumps(self.to_dict(), indent=indent)

    def to_sarif(self) -> dict[str, Any]:
        """The report as a SARIF 2.1.0 log, for code scanning services."""
        from .render.sarif import sarif_log

        return sarif_log([self])

    def print(self, file: Any = None) -> None:
        """Write the report to `file` (standard output): with colour on a terminal, as `str(report)` elsewhere."""
        from .render.terminal import write

        write(self, file)

    def assert_clean(self) -> None:
        """Raise `AssertionError` with the rendered report if there are findings."""
        __tracebackhide__ = True
        if self.findings:
            raise AssertionError(str(self))

    def warn(self) -> None:
        """Emit one `PerformanceWarning` a finding, placed at the line of the user's source that caused it.

        The warnings go through Python's `warnings`, so that filters, `-W error` and "once per place" work on them.
        """
        for finding in self.findings:
            where = finding.cause.location or finding.cause.meets or finding.cause.library
            text = (
                f"{finding.rule}: {finding.message}: {finding.cause.description}. {finding.fix}. See {finding.tip} {_SILENCE}"
            )
            if where is None:
                warnings.warn(text, PerformanceWarning, stacklevel=2)
            else:
                _warn_at(where, text)


_SILENCE = "(silence it with warn=False, or by category perfcheck.PerformanceWarning)"


def _warn_at(where: Location, text: str) -> None:
    """Warn as if the module at that place had warned: its own registry makes "once per place" work."""
    module = next((found for found in list(sys.modules.values()) if getattr(found, "__file__", None) == where.file), None)
    registry = _REGISTRY if module is None else vars(module).setdefault("__warningregistry__", {})
    name = None if module is None else module.__name__
    warnings.warn_explicit(text, PerformanceWarning, where.file, where.line, name, registry)


_REGISTRY: dict[Any, Any] = {}
"""Python's record of warnings given, for places that belong to no module, such as notebook cells."""
