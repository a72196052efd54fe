"""Benchmarks: the papers' tables and the rivals, one a file; `supple bench --list` names them."""

from supple.bench.registry import Benchmark, find_benchmarks, pick_benchmark, run_benchmark
from supple.bench.table import format_row, format_table
from supple.bench.yardstick import measure_gemm

__all__ = [
    "Benchmark", "find_benchmarks", "format_row", "format_table", "measure_gemm", "pick_benchmark", "run_benchmark",
]  # fmt: skip
