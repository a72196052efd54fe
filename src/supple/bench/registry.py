"""Which benchmarks there are, and one of them run in the frame all share."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import supple.bench
from supple.bench.yardstick import measure_gemm
from supple.errors import SceneError

__all__ = ["Benchmark", "Size", "find_benchmarks", "pick_benchmark", "run_benchmark"]

Size = Literal["small", "paper"]
Row = dict[str, Any]


@dataclass(frozen=True)
class Benchmark:
    """A module of `supple.bench` with a function `run(size) -> rows`, or `run(size, mesh) -> rows`."""

    name: str
    about: str
    run: Callable[..., list[Row]]

    @property
    def takes_mesh(self) -> bool:
        """Whether it can be run on a mesh of the user's."""
        return "mesh" in inspect.signature(self.run).parameters


def find_benchmarks() -> dict[str, Benchmark]:
    """Every benchmark by name, in alphabetical order."""
    found = {}
    for module_info in sorted(pkgutil.iter_modules(supple.bench.__path__), key=lambda info: info.name):
        module = importlib.import_module(f"supple.bench.{module_info.name}")
        run = getattr(module, "run", None)
        if callable(run):
            about = (module.__doc__ or "").strip().split("\n")[0].rstrip(".")
            name = module_info.name.replace("_", "-")
            found[name] = Benchmark(name, about, run)
    return found


def pick_benchmark(name: str) -> Benchmark:
    """The benchmark of that name; an unknown one is refused with those there are."""
    found = find_benchmarks()
    if name not in found:
        raise SceneError(f"there is no benchmark '{name}': use one of {', '.join(found)}.")
    return found[name]


def run_benchmark(benchmark: Benchmark, size: Size, threads: int, mesh: Path | None = None) -> Row:
    """The benchmark's rows, with the machine's load and yardstick measured beside them."""
    if mesh is not None and not benchmark.takes_mesh:
        able = ", ".join(name for name, one in find_benchmarks().items() if one.takes_mesh)
        raise SceneError(f"the benchmark '{benchmark.name}' has meshes of its own: --mesh is for {able}.")
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    gemm = measure_gemm()
    rows = benchmark.run(size) if mesh is None else benchmark.run(size, mesh)
    return {
        "bench": benchmark.name,
        "size": size,
        "threads": threads,
        "load": round(load, 2),
        "gemm_ms": round(gemm, 1),
        "rows": rows,
    }
