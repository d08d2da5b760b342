"""Benchmarks that anyone can run: `python -m benchmarks` prints the tables."""
