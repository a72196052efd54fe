"""What [KJ09] reports, in the keys of the skipping benchmarks; times are of its machine and its solvers."""

from typing import Any

__all__ = ["BEAM", "HEAD", "PENDULUM", "RICH_HEAD", "TABLE_1", "TABLE_2"]

Row = dict[str, Any]


def _row(tets: int, steps: int, throttle: float, tolerance: float, skipped: float, **figures: float) -> Row:
    return {
        "estimator": "published", "tets": tets, "steps": steps, "dt": 0.01, "throttle": throttle,
        "tolerance": tolerance, "skipped": skipped, **figures,
    }  # fmt: skip


BEAM = (
    _row(16_824, 1500, 1.0, 1e-2, 0.5347, speedup=2.36, total_s=12_987, full_s=30_658, rank=13, key_tets=112,
         full_ms=18_500, reduced_ms=88),
    _row(16_824, 1500, 2.0, 1e-2, 0.9727, speedup=32.58, total_s=941, full_s=30_658, rank=13, key_tets=112,
         full_ms=21_310, reduced_ms=46),
)  # fmt: skip
PENDULUM = (
    _row(64_275, 1500, 1.0, 5e-3, 0.6007, speedup=2.1, total_s=12_715, full_s=26_708, rank=15, key_tets=67,
         full_ms=20_350, reduced_ms=583, basis_updates=44),
)  # fmt: skip
HEAD = (
    _row(165_941, 1000, 1.0, 5e-3, 0.927, speedup=10.79, total_s=16_174, full_s=174_521, rank=12, key_tets=143,
         full_ms=210_000, reduced_ms=905),
    _row(165_941, 1000, 1.5, 5e-3, 0.987, speedup=56.28, total_s=3_101, full_s=174_521, rank=11, key_tets=121,
         full_ms=213_460, reduced_ms=238),
)  # fmt: skip
RICH_HEAD = (
    _row(165_941, 600, 1.0, 5e-3, 0.88, speedup=8.35, total_s=14_906, full_s=124_544, rank=20, key_tets=200,
         full_ms=196_600, reduced_ms=1_420),
)  # fmt: skip


def _refined(tets: int, dt: float, tolerance: float, rank: int, skipped: float, adds: int | None = None) -> Row:
    return {
        "estimator": "published", "tets": tets, "dt": dt, "throttle": 1.0, "tolerance": tolerance, "skipped": skipped,
        "rank": rank, "basis_updates": adds,
    }  # fmt: skip


TABLE_1 = (
    _refined(640, 1e-2, 1e-2, 12, 0.235),
    _refined(1_104, 1e-2, 1e-2, 12, 0.228),
    _refined(16_824, 1e-2, 1e-2, 13, 0.535),
    _refined(640, 5e-3, 5e-3, 15, 0.0),
    _refined(640, 2.5e-3, 2.5e-3, 18, 0.768),
    _refined(640, 1.25e-3, 1.25e-3, 12, 0.0, 22),
)
"""The beam refined in space and in time."""
TABLE_2 = (
    _refined(20_256, 1e-2, 1e-4, 9, 0.877, 44),
    _refined(165_941, 1e-2, 1e-4, 20, 0.879, 30),
    _refined(20_256, 5e-3, 1e-4, 9, 0.817, 34),
    _refined(20_256, 2.5e-3, 1e-4, 7, 0.848, 37),
    _refined(20_256, 1.25e-3, 1e-4, 9, 0.859, 44),
)
"""The head refined in space and in time."""
