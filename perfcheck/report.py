"""What an audit says: plain frozen data. This module knows no other of the package but the renderers it hands itself to."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, overload

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
    `precision` is the name of the algorithm or precision the product asks for, "" for none.
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
    at_least: bool = False
    precision: str = ""


@dataclasses.dataclass(frozen=True)
class Cause:
    """What started a widening.

    `kind` is one of literal, constant, parameter, sample, creation, integer, cast, accumulation, cotangent, callback.
    `dtype` is the dtype that spread. `location` is where the cause was born, None for an input; `meets` is where it
    widened something; `library` is the framework's own line there, if any; `module` is the module path at that place.
    `leaves` names every input leaf or module that is this cause, `places` every line it meets something on.
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


@dataclasses.dataclass(frozen=True)
class Impact:
    """What a cause costs.

    `flops` of all affected matmuls of one step, `share` of all matmul FLOPs (0 to 1).
    """

    flops: int = 0
    share: float = 0.0


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
class ProgramFacts:
    """Figures of the audited program.

    `equations` counts each jaxpr once; `matmuls` counts sites by phase; `flops` sums matmul FLOPs by (dtype, phase);
    `trace_seconds` and `analysis_seconds` are wall-clock times of this audit; `vjp_error` says why there is no backward
    pass, or is None.
    """

    model: str
    equations: int
    matmuls: dict[str, int]
    flops: dict[tuple[str, str], int]
    trace_seconds: float
    analysis_seconds: float
    vjp_error: str | None


@dataclasses.dataclass(frozen=True, repr=False)
class Report(Sequence[Finding]):
    """The findings of one audit: a sequence that is falsy when there are none.

    `notes` are what is true but not worth failing a test for.
    """

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    program: ProgramFacts
    state: State
    list_matmuls: Callable[[], tuple[Matmul, ...]] = dataclasses.field(default=tuple, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    @functools.cached_property
    def matmuls(self) -> tuple[Matmul, ...]:
        """Every matmul of the program in program order, forward and backward."""
        return self.list_matmuls()

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
            text = f"{finding.rule}: {finding.message}; {finding.cause.description}. {finding.fix} See {finding.tip}"
            if where is None:
                warnings.warn(text, PerformanceWarning, stacklevel=2)
            else:
                warnings.warn_explicit(text, PerformanceWarning, where.file, where.line)
