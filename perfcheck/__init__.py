"""perfcheck finds the matmuls of a JAX model that run in a wider float type than they should, and says why."""

from .check import check_jaxpr as check_jaxpr, performance_check as performance_check
from .config import allow as allow
from .report import (
    Cause as Cause,
    CheckError as CheckError,
    Finding as Finding,
    Impact as Impact,
    Location as Location,
    Matmul as Matmul,
    Note as Note,
    PerformanceWarning as PerformanceWarning,
    Report as Report,
    Suppressed as Suppressed,
)

__version__ = "0.1.0"
