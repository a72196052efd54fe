"""The verb `bench`: benchmarks and their tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from supple._console import Common, Console, perform
from supple.cli.options import DEFAULTS

__all__ = ["bench"]


def bench(
    name: str | None = None,
    /,
    *,
    size: Literal["small", "paper"] = "small",
    mesh: Path | None = None,
    steps: int | None = None,
    plot: Path | None = None,
    only: str | None = None,
    reference: int | None = None,
    kept: Path | None = None,
    list_: Annotated[bool, Parameter(name="--list", negative="")] = False,
    common: Common = DEFAULTS,
) -> int:
    """Run a benchmark and print its table, and before it each row as it is finished, where rows take long.

    Parameters
    ----------
    name
        Which one; without a name all are listed.
    size
        "small" takes seconds, "paper" the published sizes.
    mesh
        Tets, or a surface to fill, to use in place of a built-in shape; for benchmarks that take one.
    steps
        How many steps to run, for benchmarks of one motion.
    plot
        Folder for pictures, for benchmarks that draw some.
    only
        Words that rows shall have in common, such as "drop x10 clusters 1440"; for benchmarks that can be narrowed.
    reference
        How many steps of a long run to compare with full space, where taking all of them there would take hours.
    kept
        Folder for poses settled in full space, where a benchmark learns from these: another run reads them, and one
        that was stopped goes on.
    list_
        List the benchmarks.
    """
    from supple._threads import available_threads
    from supple.bench import find_benchmarks, format_row, format_table, pick_benchmark, run_benchmark
    from supple.io.permit import Permit

    def work(console: Console) -> Mapping[str, Any]:
        if list_ or name is None:
            found = find_benchmarks()
            for benchmark in found.values():
                console.say(f"{benchmark.name:14} {benchmark.about}")
            return {"benchmarks": {benchmark.name: benchmark.about for benchmark in found.values()}}
        threads = common.threads or available_threads()
        chosen, asked = pick_benchmark(name), (mesh, steps, plot, only, reference)
        permit = Permit(None, f"bench {name}", common.overwrite)
        if plot is not None:
            permit.ask_folder(plot, "*.png")
        result = run_benchmark(chosen, size, threads, *asked, lambda row: console.say(format_row(row)), kept)
        if plot is not None:
            permit.done(plot)
        console.say(format_table(result["rows"]))
        return result

    return perform(common, "bench", work, mesh, f"{name} {size}")
