"""How fast bodies are filled with tets, and how well shaped these are: `supple bench mesh`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from supple.linalg.work_clock import work_clock
from supple.mesh import TetMesh, assess_quality, tetrahedralise
from supple.shape import make_shape

__all__ = ["run"]

_COUNTS = {"small": (17_000,), "paper": (17_000, 160_000)}


def run(size: str) -> list[dict[str, object]]:
    """Rows of the mesh benchmark at size "small" or "paper": what was filled, how fast, how well."""
    make_shape("sphere", elements=1_000)  # imports and tables are not what is measured
    rows = []
    for count in _COUNTS[size]:
        surface = make_shape("creature", elements=count).surface()
        for shape, source in (("sphere", "distance"), ("creature", "distance"), ("beam", "grid")):
            rows.append(_measure(shape, source, partial(make_shape, shape, elements=count)))
        rows.append(_measure("creature", "surface", partial(tetrahedralise, surface, elements=count)))
    return rows


def _measure(shape: str, source: str, make: Callable[[], TetMesh]) -> dict[str, object]:
    start = work_clock()
    mesh = make()
    seconds = work_clock() - start
    quality = assess_quality(mesh)
    return {
        "shape": shape,
        "source": source,
        "tets": len(mesh.tets),
        "seconds": seconds,
        "tets_per_second": len(mesh.tets) / seconds,
        "min_dihedral_deg": quality.min_dihedral,
        "max_dihedral_deg": quality.max_dihedral,
    }
