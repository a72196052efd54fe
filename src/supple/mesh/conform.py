"""Conforming tets for a closed surface by wildmeshing (extra `[mesh]`), and what is tried when that fails.

The mesher runs in a process of its own with limits of time and memory, so that a crash or a hang is an attempt that
failed. The surface is tried as it is given, then repaired, and at last filled by isosurface stuffing; every attempt
is told.
"""

from __future__ import annotations

import importlib.util
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from supple._child import ChildFailure, run_script
from supple.errors import MeshError, MissingExtra
from supple.mesh.repair_surface import repair_surface
from supple.mesh.soup import PolygonSoup
from supple.mesh.tetmesh import TetMesh
from supple.mesh.tetrahedralise import tetrahedralise
from supple.mesh.trimesh import TriMesh

__all__ = ["Attempt", "ConformLimits", "conform"]

SCRIPT = Path(__file__).with_name("conform_child.py")
VOLUME = 0.05  # of the surface's volume: tets that fill more or less than that are not the same body
SHIFT = 0.02  # of the bounding box's diagonal: how far the box may move


@dataclass(frozen=True)
class ConformLimits:
    """What the mesher may take."""

    seconds: float = 300.0
    memory: int = 8 * 2**30  #: [bytes]


@dataclass(frozen=True)
class Attempt:
    """One try at filling the surface, and what came of it."""

    how: str  #: "as given", "repaired" or "stuffing"
    outcome: str  #: in a user's words


def conform(
    surface: TriMesh,
    elements: int = 5000,
    *,
    limits: ConformLimits | None = None,
) -> tuple[TetMesh, list[Attempt]]:
    """Tets that keep to the surface, about `elements` of them, and the attempts that it took.

    Conforming meshers grade their tets: the number is a wish. Where the mesher fails twice, the stuffing mesher, which
    rounds sharp edges off, fills the surface.
    """
    require_mesher()
    attempts: list[Attempt] = []
    mesh = _attempt("as given", surface, elements, limits or ConformLimits(), attempts)
    if mesh is None:
        mended, changes = _repair(surface)
        told = f" ({'; '.join(changes)})" if changes else " (nothing to repair was found)"
        mesh = _attempt(f"repaired{told}", mended, elements, limits or ConformLimits(), attempts)
    if mesh is None:
        mesh = tetrahedralise(surface, elements=elements)
        attempts.append(Attempt("stuffing", f"{len(mesh.tets):,} tets, sharp edges rounded off"))
    notes = tuple(f"{attempt.how}: {attempt.outcome}" for attempt in attempts)
    return replace(mesh, notes=(*mesh.notes, *notes)), attempts


def require_mesher() -> None:
    """Refuse to go on without wildmeshing."""
    if importlib.util.find_spec("wildmeshing") is None:
        raise MissingExtra("wildmeshing", "mesh", "a mesh that conforms to the surface")


def _repair(surface: TriMesh) -> tuple[TriMesh, list[str]]:
    flat = surface.triangles.reshape(-1)
    soup = PolygonSoup(surface.vertices, np.full(len(surface.triangles), 3, np.int32), flat)
    mended, changes = repair_surface(soup)
    return TriMesh.clean(mended.vertices, mended.indices.reshape(-1, 3)), changes


def _attempt(
    how: str, surface: TriMesh, elements: int, limits: ConformLimits, attempts: list[Attempt]
) -> TetMesh | None:
    """Tets of one run of the mesher, or None; either way a line on what came of it."""
    try:
        mesh = _run(surface, elements, limits)
        _validate(surface, mesh)
    except ChildFailure as failure:
        said = f": {failure.said}" if failure.said else ""
        attempts.append(Attempt(how, f"the mesher {failure.reason}{said[:200]}"))
        return None
    except MeshError as error:
        attempts.append(Attempt(how, str(error)))
        return None
    attempts.append(Attempt(how, f"{len(mesh.tets):,} tets"))
    return mesh


def _run(surface: TriMesh, elements: int, limits: ConformLimits) -> TetMesh:
    """What the script makes of the surface, put right as any mesh from outside is."""
    volume, low_high = abs(surface.volume()), surface.bounds()
    diagonal = float(np.linalg.norm(low_high[1] - low_high[0]))
    edge = (8.5 * volume / max(elements, 1)) ** (1 / 3) / diagonal  # a regular tet has edge³ / 8.49
    if not np.isfinite(edge) or edge <= 0:
        raise MeshError("the surface encloses nothing; close it or turn it right side out.")
    with tempfile.TemporaryDirectory(prefix="supple-mesh-") as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, vertices=surface.vertices, triangles=surface.triangles)
        arguments = [str(source), str(target), repr(min(edge, 0.5))]
        run_script(SCRIPT, arguments, seconds=limits.seconds, memory=limits.memory)
        if not target.is_file():
            raise MeshError("the mesher ended without a mesh.")
        with np.load(target, allow_pickle=False) as arrays:
            return TetMesh.clean(arrays["vertices"], arrays["tets"])


def _validate(surface: TriMesh, mesh: TetMesh) -> None:
    """Refuse tets that are not the body of the surface."""
    wanted, filled = abs(surface.volume()), float(mesh.volumes().sum())
    diagonal = float(np.linalg.norm(np.subtract(*reversed(surface.bounds()))))
    shift = max(float(np.abs(a - b).max()) for a, b in zip(surface.bounds(), mesh.bounds(), strict=True))
    if abs(filled - wanted) > VOLUME * wanted:
        raise MeshError(f"the tets fill {filled / wanted:.0%} of the surface's volume.")
    if shift > SHIFT * diagonal:
        raise MeshError(f"the tets reach {shift / diagonal:.1%} of the size beyond or short of the surface.")
