"""Interleaved timing of compiled functions: A B A B ..., so that a machine's drift meets both alike."""

from __future__ import annotations

import statistics
import time

import jax


def interleaved(functions, arguments, repeats=9):
    """Median seconds of each function on its arguments, and the median of the ratios of the first to each, turn by turn."""
    compiled = [jax.jit(function) for function in functions]
    for function, given in zip(compiled, arguments, strict=True):
        jax.block_until_ready(function(*given))
    times = [[] for _ in compiled]
    for _ in range(repeats):
        for function, given, taken in zip(compiled, arguments, times, strict=True):
            start = time.perf_counter()
            jax.block_until_ready(function(*given))
            taken.append(time.perf_counter() - start)
    ratios = [statistics.median(first / other for first, other in zip(times[0], taken, strict=True)) for taken in times]
    return [statistics.median(taken) for taken in times], ratios


def print_table(title, head, rows):
    """Print rows under a title as Markdown."""
    print(f"\n## {title}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
