"""What `usd_child.py` leaves of meshes beside their shape: paint of their vertices, and several that move as one.

It runs in that script's process and imports nothing of supple; `tools` are functions of the script.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def save_numbers(mesh: Any, code: float, folder: Path, name: str, count: int, tools: Any) -> list[str]:
    """Primvars that give every vertex numbers, as NAME.number0.npy and so on; what they are called."""
    from pxr import UsdGeom

    called: list[str] = []
    corners = tools.array(mesh.GetFaceVertexIndicesAttr(), code, np.int64)
    inside = len(corners) == 0 or (corners.min() >= 0 and corners.max() < count)
    for primvar in UsdGeom.PrimvarsAPI(mesh).GetPrimvarsWithValues():
        kind = str(primvar.GetTypeName())
        if not kind.startswith(("float", "double", "half", "color3", "color4")) or primvar.GetElementSize() != 1:
            continue
        flat: NDArray[Any] = np.array(primvar.ComputeFlattened(code), dtype=np.float64)
        flat = flat.reshape(len(flat), -1)[:, :4] if flat.ndim else flat.reshape(1, 1)
        if primvar.GetInterpolation() == UsdGeom.Tokens.faceVarying and inside and len(flat) == len(corners):
            uses = np.bincount(corners, minlength=count)
            sums = np.stack([np.bincount(corners, column, minlength=count) for column in flat.T], axis=1)
            flat = sums / np.maximum(uses, 1)[:, None]
        if len(flat) == count and np.isfinite(flat).all():
            np.save(folder / f"{name}.number{len(called)}.npy", flat[:, 0] if flat.shape[1] == 1 else flat)
            called.append(primvar.GetPrimvarName())
    return called


def save_joined(meshes: list[Any], codes: list[float], folder: Path, tools: Any) -> bool:
    """Several meshes as one in world space that stands at the origin; whether all have texture coordinates."""
    counts, corners, pairs, frames, before = [], [], [], [], 0
    for number, mesh in enumerate(meshes):
        has_uv = tools.save_faces(mesh, codes[0], folder, f"part{number}")
        own, indices = (np.load(folder / f"part{number}.{what}.npy") for what in ("counts", "corners"))
        if (own < 0).any() or own.sum() != len(indices):
            raise tools.damaged(
                f"the points and faces of {mesh.GetPrim().GetPath()} do not fit each other; export it again"
            )
        order = np.arange(len(indices))
        if tools.turned(mesh, tools.world(mesh.GetPrim(), codes[0]), codes[0]):
            ends = np.cumsum(own)
            order = np.repeat(2 * ends - own - 1, own) - order
        tools.save_samples(mesh.GetPointsAttr(), codes, folder / f"part{number}.points.npy")
        points = np.load(folder / f"part{number}.points.npy", mmap_mode="r")
        counts.append(own)
        corners.append(indices[order] + before)
        pairs += [np.load(folder / f"part{number}.uv.npy")[order]] if has_uv else []
        frames.append(points)
        before += points.shape[1]
    into = np.lib.format.open_memmap(folder / "points.npy", mode="w+", dtype=np.float32, shape=(len(codes), before, 3))
    for place, code in enumerate(codes):
        placed = [
            tools.place(points[place].astype(np.float64), tools.world(mesh.GetPrim(), code))
            for points, mesh in zip(frames, meshes, strict=True)
        ]
        into[place] = np.concatenate(placed)
    into.flush()
    np.save(folder / "matrices.npy", np.broadcast_to(np.eye(4), (len(codes), 4, 4)))
    np.save(folder / "mesh.counts.npy", np.concatenate(counts))
    np.save(folder / "mesh.corners.npy", np.concatenate(corners))
    if len(pairs) == len(meshes):
        np.save(folder / "mesh.uv.npy", np.concatenate(pairs))
    return len(pairs) == len(meshes)
