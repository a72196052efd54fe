"""An ape on bones in pose space: cost and error of steps beside full space and [XB16]."""

from supple.bench.pose_measure import Row, measure_case

__all__ = ["run"]


def run(size: str) -> list[Row]:
    """Rows of the benchmark at size "small" or "paper"."""
    return measure_case("ape", size)
