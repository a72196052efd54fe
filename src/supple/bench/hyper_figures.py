"""What the authors of [BEH18] report, and what their program takes on a machine like ours."""

from typing import Any

__all__ = ["AUTHORS", "PAPER", "TABLE_2"]

Row = dict[str, Any]

# Table 1: vertices, constraints, position and projection dofs, samples, preparation [s], fps without and with display,
# fps unreduced; ten iterations, on their machine.
_TABLE_1 = {
    "glove": (24_370, 73_106, 540, 300, 2_000, 8.2, 94, 89, 2.39),
    "armadillo": (19_064, 71_289, 1440, 360, 970, 6.2, 120, 112, 3.7),
    "armadillo, large space": (19_064, 71_289, 3960, 360, 970, 16.2, 63, 60, 3.7),
    "elephant": (52_812, 277_363, 1200, 360, 1_600, 21.2, 81, 62, 0.68),
    "dragon": (196_577, 733_649, 1200, 420, 1_000, 63.0, 89, 60, 0.20),
    "squid": (439_061, 1_664_908, 2160, 360, 1_000, 190.0, 116, 37, 0.08),
}
TABLE_2 = {360: (0.027, 0.051), 1440: (0.011, 0.023), 3960: (0.0057, 0.011)}
"""By position dofs: mean and largest error of full frames projected into the position space."""


def _row(name: str) -> Row:
    vertices, constraints, position, projection, samples, seconds, fps, shown, full = _TABLE_1[name]
    return {
        "source": "paper", "case": name, "vertices": vertices, "constraints": constraints, "position_dofs": position,
        "projection_dofs": projection, "samples": samples, "iterations": 10, "precompute_s": seconds,
        "ms_frame": 1e3 / shown, "fps": float(fps), "fps_with_surface": float(shown), "full_ms": 1e3 / full,
        "speedup": shown / full,
    }  # fmt: skip


def _authors(threads: int, position: int, frame: float, full: float, seconds: float) -> Row:
    return {
        "source": f"authors' C++, threads {threads}", "case": "armadillo", "vertices": 19_192, "constraints": 65_088,
        "position_dofs": position, "projection_dofs": 363, "samples": 999, "iterations": 10, "precompute_s": seconds,
        "ms_frame": frame, "fps_with_surface": 1e3 / frame, "full_ms": full, "speedup": full / frame,
    }  # fmt: skip


PAPER = {name: _row(name) for name in _TABLE_1}
"""Rows of Table 1 by name."""

AUTHORS = (
    _authors(1, 1440, 12.2, 1585.0, 15.3),
    _authors(2, 1440, 7.9, 938.0, 9.6),
    _authors(1, 3960, 15.8, 1585.0, 24.2),
    _authors(2, 3960, 9.3, 938.0, 17.2),
)
"""Their program on armadillo_65k.npz in free fall, double precision, on a machine whose product takes 124 ms."""
