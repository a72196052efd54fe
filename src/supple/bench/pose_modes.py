"""Vibration modes of characters, free and under sliding contact, at the sizes of Table 1 of [XB16].

Contacts are vertices of the surface that keep their place along their normal, spread evenly. `free_s` is without them,
`held_s` with them; both with the factorisation. `slip` is how far a mode moves a contact along its normal, relative to
how far it moves anything.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from supple.bench.only import is_asked
from supple.bench.pose_measure import Row
from supple.elastic import Body
from supple.linalg.work_clock import work_clock
from supple.material import StVK
from supple.mesh import TetMesh
from supple.rig import SkinnedRig, find_bone_crossings, heat_weights, hold_bones
from supple.shape import make_shape
from supple.shape.catalogue import make_character
from supple.subspace import linear_modes
from supple.subspace.restriction import Restriction

__all__ = ["run"]

FloatArray = NDArray[np.float64]

# Tets and contacts; then the paper's seconds without contact, with small entries left out, and with conjugate gradients
_CASES: dict[str, dict[str, tuple[int, int, tuple[float, float, float] | None]]] = {
    "small": {"arm": (2_000, 12, None), "bear": (3_000, 16, None), "ape": (3_000, 20, None)},
    "paper": {
        "arm": (8_122, 54, (0.9, 1.2, 2.6)),
        "bear": (12_762, 73, (1.9, 2.2, 7.3)),
        "ape": (16_297, 114, (1.7, 2.4, 6.2)),
    },
}
_COUNT = 20


def run(size: str, only: str = "") -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", one after another."""
    for name, case in _CASES[size].items():
        if is_asked(only, name):
            yield _measure(name, *case)


def _measure(name: str, tets: int, contacts: int, paper: tuple[float, float, float] | None) -> Row:
    mesh, skeleton = make_shape(name, elements=tets), make_character(name).skeleton
    rig = SkinnedRig(skeleton, heat_weights(mesh, skeleton), mesh.vertices)
    pins = hold_bones(rig, find_bone_crossings(mesh.vertices, mesh.tets, skeleton)).pins
    body = Body.build(mesh, StVK(young=6e4, poisson=0.4), pins)
    constraints = _touch(mesh, pins.vertices, contacts)
    linear_modes(body, 2)  # loads the kernels
    begin = work_clock()
    linear_modes(body, _COUNT)
    free = work_clock() - begin
    begin = work_clock()
    modes = Restriction(body, constraints=constraints).modes(_COUNT)
    held = work_clock() - begin
    told = dict(zip(("paper_free_s", "paper_thresholded_s", "paper_held_s"), paper or (None,) * 3, strict=True))
    return {
        "shape": name, "tets": len(mesh.tets), "unknowns": 3 * len(mesh.vertices), "contacts": contacts,
        "modes": _COUNT, "free_s": free, "held_s": held,
        "slip": float(np.abs(constraints @ modes.columns).max() / np.abs(modes.columns).max()), **told,
    }  # fmt: skip


def _touch(mesh: TetMesh, held: NDArray[np.integer], count: int) -> FloatArray:
    """Rows n·u of vertices of the surface, (count, 3 n)."""
    faces, x = mesh.surface_triangles(), mesh.vertices
    across = np.cross(x[faces[:, 1]] - x[faces[:, 0]], x[faces[:, 2]] - x[faces[:, 0]])
    normals = np.zeros_like(x)
    for corner in range(3):
        np.add.at(normals, faces[:, corner], across)
    loose = np.setdiff1d(mesh.surface_vertices(), held)
    chosen = loose[np.linspace(0, len(loose) - 1, count).astype(np.int64)]
    rows = np.zeros((count, len(x), 3))
    rows[np.arange(count), chosen] = normals[chosen] / np.linalg.norm(normals[chosen], axis=1, keepdims=True)
    return rows.reshape(count, -1)
