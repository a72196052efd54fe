"""Which benchmarks there are, and one of them run in the frame all share."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import supple.bench
from supple.bench.yardstick import measure_gemm
from supple.errors import SceneError
from supple.linalg.work_clock import compile_seconds

__all__ = ["Benchmark", "Size", "find_benchmarks", "pick_benchmark", "run_benchmark"]

Size = Literal["small", "paper"]
PASSES = {
    "small": 3,
    "paper": 1,
}  #: until one compiles nothing; times leave compiling out, so that long ones need no other
Row = dict[str, Any]


@dataclass(frozen=True)
class Benchmark:
    """A module of `supple.bench` with a function `run(size) -> rows`; it may take `mesh`, `steps` and others, too.

    Rows may come one by one, as they are measured.
    """

    name: str
    about: str
    run: Callable[..., Iterable[Row]]

    def takes(self, option: str) -> bool:
        """Whether it knows what to do with `mesh`, a file of the user's, `steps`, how many, `plot`, a folder, `only`,
        words that rows shall have in common, `reference`, how many steps to take in full space, or `kept`, a folder for
        poses settled there."""
        return option in inspect.signature(self.run).parameters


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


def run_benchmark(
    benchmark: Benchmark,
    size: Size,
    threads: int,
    mesh: Path | None = None,
    steps: int | None = None,
    plot: Path | None = None,
    only: str | None = None,
    reference: int | None = None,
    each: Callable[[Row], None] = lambda row: None,
    kept: Path | None = None,
) -> Row:
    """The benchmark's rows, with the machine's load and yardstick measured beside them.

    `each` is told every row where the benchmark has them one by one: as it is finished, or when a pass of a small size
    has compiled nothing.
    """
    asked = {"mesh": mesh, "steps": steps, "plot": plot, "only": only, "reference": reference, "kept": kept}
    options = {name: value for name, value in asked.items() if value is not None}
    for option in options:
        if not benchmark.takes(option):
            able = ", ".join(name for name, one in find_benchmarks().items() if one.takes(option))
            raise SceneError(f"the benchmark '{benchmark.name}' takes no --{option}: that is for {able}.")
    for option, count in (("steps", steps), ("reference", reference)):
        if count is not None and count < 1:
            raise SceneError(f"--{option} {count} leaves nothing to run: give 1 or more.")
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    gemm = measure_gemm()
    for _ in range(PASSES[size]):
        compiled, rows = compile_seconds(), []
        found = benchmark.run(size, **options)
        for row in found:
            rows.append(row)
            if isinstance(found, Iterator) and size == "paper":
                each(row)
        if compile_seconds() == compiled:
            break
    if isinstance(found, Iterator) and size == "small":
        for row in rows:
            each(row)
    if not rows:
        raise SceneError(f"the benchmark '{benchmark.name}' has no row with '{only}': see its table without --only.")
    return {
        "bench": benchmark.name,
        "size": size,
        "threads": threads,
        "load": round(load, 2),
        "gemm_ms": round(gemm, 1),
        "rows": rows,
    }
