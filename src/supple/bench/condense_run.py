"""What all benchmarks of condensation do: make a case, measure its runs one after another, draw them."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from supple.bench.condense_measure import Case, Row, Track, measure_run
from supple.bench.condense_plots import save_plots
from supple.bench.only import is_asked

__all__ = ["run_case"]


def run_case(
    name: str, make: Callable[[], Case], radii: Sequence[float], plot: Path | None = None, only: str = ""
) -> Iterator[Row]:
    """A row for every rule of weights and radius, as soon as it is there; then plots in a folder.

    Words of `only` may be a rule of weights or a radius; the case is not made where no row has them.
    """
    asked = [(weights, radius) for weights in ("subtract", "paper") for radius in radii]
    asked = [(weights, radius) for weights, radius in asked if is_asked(only, weights, f"{radius:g}")]
    if not asked:
        return
    case, tracks = make(), dict[tuple[str, float], Track]()
    for weights, radius in asked:
        tracks[weights, radius] = case.condense(radius, weights)
        yield measure_run(case, tracks[weights, radius], weights, radius)
    save_plots(plot, name, case, tracks)
