"""An ape on bones in pose space: cost and error of steps beside full space and [XB16]."""

from collections.abc import Iterator

from supple.bench.pose_measure import Row, measure_case

__all__ = ["run"]


def run(size: str, only: str = "") -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", one after another."""
    return measure_case("ape", size, only)
