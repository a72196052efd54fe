"""Reads a USD file in a process of its own and leaves plain arrays: `usd_child.py FILE FOLDER WANTED MOST_FRAMES`.

usd-core is native code that damaged files can crash; here such a crash ends nothing but this script. It imports
nothing of supple, so that it starts fast. FOLDER gets .npy files and facts.json; a fault that it finds itself goes
there as {"error": ...}. WANTED is "info", "tets", "surface", "frames" or "character".
"""

import json
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

NOTE, TIME, COLLIDERS = "supple", "userProperties:time", "/colliders"  # as usd_layers.py and usd_colliders.py say
OLD_TETS = "tetraIndices"  # a mesh with tets, as some programs wrote before there was a schema


NO_MESH = {"error": "it has no mesh; export the surface as a USD mesh", "lacking": True}


class Damaged(Exception):
    """What is wrong with the file, and the remedy, as one clause each."""


def main(path: Path, folder: Path, wanted: str, most_frames: int) -> None:
    """Read the file and write the arrays that are wanted."""
    try:
        facts = _extract(path, folder, wanted, most_frames)
    except Damaged as error:
        facts = {"error": str(error)}
    except MemoryError:
        raise
    except Exception as error:  # whatever the bindings raise over values that are not what they should be
        facts = {"error": f"it cannot be read as USD ({type(error).__name__}); export it again"}
    (folder / "facts.json").write_text(json.dumps(facts, allow_nan=False), encoding="utf-8")


def _extract(path: Path, folder: Path, wanted: str, most_frames: int) -> dict[str, Any]:
    from pxr import Tf, Usd

    try:
        outside = _beside("usd_outside.py")["find_outside"](path)
        if outside is not None:
            raise Damaged(f"it is put together from '{outside[:80]}' outside its folder; keep all in one folder")
        stage = Usd.Stage.Open(str(path))
    except Tf.ErrorException as error:
        try:
            reason = (str(error).strip().splitlines() or ["no reason given"])[-1].strip()
        except UnicodeDecodeError:
            reason = "it holds text that is not UTF-8"
        raise Damaged(f"it cannot be read as USD ({reason}); export it again") from None
    facts = _stage_facts(stage)
    if wanted == "info":
        return facts
    if wanted == "tets":
        return facts | _save_tets(stage, folder)
    if wanted == "surface":
        return facts | _save_surfaces(stage, folder)
    if wanted == "character":
        skel = _beside("usd_skel.py")
        facts |= skel["save_character"](stage, folder, most_frames, _tools())
        return facts
    return facts | _save_frames(stage, folder, most_frames)


def _beside(name: str) -> dict[str, Any]:
    """What a script beside this one defines."""
    return runpy.run_path(str(Path(__file__).with_name(name)))


def _tools() -> SimpleNamespace:
    """The functions of this script that those beside it use."""
    return SimpleNamespace(
        array=_array, world=_world, turned=_turned, code=_code, save_faces=_save_faces, damaged=Damaged,
        no_mesh=NO_MESH, place=_place, save_samples=_save_samples,
    )  # fmt: skip


def _stage_facts(stage: Any) -> dict[str, Any]:
    from pxr import UsdGeom

    note = stage.GetRootLayer().customLayerData.get(NOTE)
    numbers = {
        "fps": stage.GetTimeCodesPerSecond(),
        "metres_per_unit": UsdGeom.GetStageMetersPerUnit(stage),
        "start": stage.GetStartTimeCode(),
    }
    for name, value in numbers.items():
        if not np.isfinite(value) or (name != "start" and value <= 0) or abs(value) > 1e9:
            raise Damaged(f"its stage has {name} = {value}; export it again")
    up = "z" if UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.z else "y"
    title = stage.GetRootLayer().documentation
    return {
        **numbers,
        "up_axis": up,
        "title": title,
        "stated": stage.HasAuthoredMetadata("metersPerUnit"),
        "note": note if isinstance(note, str) else None,
    }


def _array(attribute: Any, code: float, dtype: type, width: int = 0) -> NDArray[Any]:
    """Values of an attribute at a time code, shape (k,) or (k, width); none when it has no value."""
    value = attribute.Get(code) if attribute else None
    values: NDArray[Any] = np.empty(0, dtype) if value is None else np.array(value, dtype=dtype)
    return values.reshape(-1, width) if width else values.reshape(-1)


def _world(prim: Any, code: float) -> NDArray[np.float64]:
    """Matrix (4, 4) that carries row vectors of a prim to the world."""
    from pxr import UsdGeom

    matrix = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(prim), dtype=np.float64)
    if not np.isfinite(matrix).all():
        raise Damaged(f"{prim.GetPath()} is not placed at a finite place; export it again")
    return matrix


def _place(points: NDArray[np.float64], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    return points @ matrix[:3, :3] + matrix[3, :3]


def _turned(shape: Any, matrix: NDArray[np.float64], code: float) -> bool:
    """Whether faces wind the other way round in the world: a left-handed mesh, or one that is mirrored."""
    from pxr import UsdGeom

    left = shape.GetOrientationAttr().Get(code) == UsdGeom.Tokens.leftHanded
    return bool(left != (np.linalg.det(matrix[:3, :3]) < 0))


def _code(stage: Any, attribute: Any) -> float:
    """The time code at which a mesh is taken when one is enough."""
    samples = attribute.GetTimeSamples()
    return float(samples[0] if samples else stage.GetStartTimeCode())


def _save_tets(stage: Any, folder: Path) -> dict[str, Any]:
    """The first mesh with tets as vertices.npy and tets.npy."""
    from pxr import UsdGeom

    kinds = [prim for prim in stage.Traverse() if prim.IsA(UsdGeom.TetMesh) or prim.HasAttribute(OLD_TETS)]
    found = [prim for prim in kinds if prim.IsA(UsdGeom.PointBased)]
    if not found:
        return {"error": "it has no mesh of tets; export one, or use it as a surface file", "lacking": True}
    prim = found[0]
    shape = UsdGeom.PointBased(prim)
    code = _code(stage, shape.GetPointsAttr())
    matrix = _world(prim, code)
    name = "tetVertexIndices" if prim.IsA(UsdGeom.TetMesh) else OLD_TETS
    tets = _array(prim.GetAttribute(name), code, np.int64)
    if not len(tets) or len(tets) % 4:
        raise Damaged(f"{prim.GetPath()} has {len(tets)} corners of tets, not 4 each; export it again")
    tets = tets.reshape(-1, 4)
    if _turned(shape, matrix, code):
        tets = tets[:, [0, 1, 3, 2]]
    regions, names = _regions(prim, len(tets))
    np.save(folder / "vertices.npy", _place(_array(shape.GetPointsAttr(), code, np.float64, 3), matrix))
    np.save(folder / "tets.npy", tets)
    np.save(folder / "regions.npy", regions)
    return {"prim": str(prim.GetPath()), "others": len(found) - 1, "region_names": names}


def _regions(prim: Any, count: int) -> tuple[NDArray[np.int64], dict[str, int]]:
    """Region of every tet and the names of regions, out of subsets of the mesh; numbers that supple noted are kept."""
    from pxr import UsdGeom

    regions, names = np.zeros(count, dtype=np.int64), {}
    subsets = [UsdGeom.Subset(child) for child in prim.GetChildren() if child.IsA(UsdGeom.Subset)]
    for place, subset in enumerate(subsets, start=1):
        inside = _array(subset.GetIndicesAttr(), 0.0, np.int64)
        number = subset.GetPrim().GetCustomDataByKey("region")
        number = number if isinstance(number, int) else place
        name = subset.GetPrim().GetCustomDataByKey("name")
        if len(inside) and (inside.min() < 0 or inside.max() >= count):
            raise Damaged(f"{subset.GetPath()} names tets that are not there; export it again")
        regions[inside] = number
        if name is None or name:
            names[name if isinstance(name, str) else subset.GetPrim().GetName()] = number
    return regions, names


def _save_surfaces(stage: Any, folder: Path) -> dict[str, Any]:
    """All meshes, in world space, one after another as N.points.npy and so on."""
    from pxr import UsdGeom

    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    if not meshes:
        return NO_MESH
    parts, paint = [], _beside("usd_parts.py")["save_numbers"]
    for number, mesh in enumerate(meshes):
        code = _code(stage, mesh.GetPointsAttr())
        matrix = _world(mesh.GetPrim(), code)
        points = _array(mesh.GetPointsAttr(), code, np.float64, 3)
        np.save(folder / f"{number}.points.npy", _place(points, matrix))
        has_uv = _save_faces(mesh, code, folder, str(number))
        turned = _turned(mesh, matrix, code)
        numbers = paint(mesh, code, folder, str(number), len(points), _tools())
        parts.append({"name": mesh.GetPrim().GetName(), "turned": turned, "uv": has_uv, "numbers": numbers})
    return {"parts": parts}


def _save_faces(mesh: Any, code: float, folder: Path, name: str) -> bool:
    """Counts, corners and texture coordinates of a mesh; whether it has the last."""
    from pxr import UsdGeom

    corners = _array(mesh.GetFaceVertexIndicesAttr(), code, np.int64)
    np.save(folder / f"{name}.counts.npy", _array(mesh.GetFaceVertexCountsAttr(), code, np.int64))
    np.save(folder / f"{name}.corners.npy", corners)
    for primvar in UsdGeom.PrimvarsAPI(mesh).GetPrimvars():
        if str(primvar.GetTypeName()).startswith("texCoord2"):
            flat = primvar.ComputeFlattened(code)
            values: NDArray[Any] = np.empty((0, 2)) if flat is None else np.array(flat, dtype=np.float64).reshape(-1, 2)
            if primvar.GetInterpolation() in (UsdGeom.Tokens.vertex, UsdGeom.Tokens.varying):
                inside = len(corners) and corners.min() >= 0 and corners.max() < len(values)
                values = values[corners] if inside else np.empty((0, 2))
            if len(values) == len(corners) and np.isfinite(values).all():
                np.save(folder / f"{name}.uv.npy", values)
                return True
    return False


def _save_frames(stage: Any, folder: Path, most: int) -> dict[str, Any]:
    """The first mesh whose points move and all that have samples at the same time codes, or else the first mesh."""
    from pxr import UsdGeom

    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    if not meshes:
        return NO_MESH
    mesh = next((one for one in meshes if one.GetPointsAttr().GetTimeSamples()), meshes[0])
    samples = mesh.GetPointsAttr().GetTimeSamples()
    codes = samples or [stage.GetStartTimeCode()]
    if len(codes) > most:
        raise Damaged(f"it holds {len(codes):,} frames, more than the {most:,} read at most; set SUPPLE_MAX_FRAMES")
    together = [one for one in meshes if samples and one.GetPointsAttr().GetTimeSamples() == samples]
    moving = len(together) < 2 and mesh.GetVelocitiesAttr().HasAuthoredValue()
    if len(together) > 1:
        has_uv, turned = _beside("usd_parts.py")["save_joined"](together, codes, folder, _tools()), False
    else:
        attributes = {"points": mesh.GetPointsAttr()} | ({"velocities": mesh.GetVelocitiesAttr()} if moving else {})
        for name, attribute in attributes.items():
            _save_samples(attribute, codes, folder / f"{name}.npy")
        matrices = np.stack([_world(mesh.GetPrim(), code) for code in codes])
        np.save(folder / "matrices.npy", matrices)
        has_uv, turned = _save_faces(mesh, codes[0], folder, "mesh"), _turned(mesh, matrices[0], codes[0])
    noted = mesh.GetPrim().GetAttribute(TIME)
    times = [noted.Get(code) if noted else None for code in codes]
    rate = stage.GetTimeCodesPerSecond()
    seconds = [
        time if isinstance(time, float) and np.isfinite(time) else (code - codes[0]) / rate
        for time, code in zip(times, codes, strict=True)
    ]
    return {
        "codes": list(codes),
        "times": seconds,
        "velocities": moving,
        "uv": has_uv,
        "turned": turned,
        "colliders": _save_colliders(stage, codes, folder),
    }


def _save_samples(attribute: Any, codes: list[float], path: Path) -> None:
    """Vectors of an attribute at all codes as one array (frames, k, 3) of 32 bits, which USD stores them in."""
    first = _array(attribute, codes[0], np.float32, 3)
    into = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(len(codes), *first.shape))
    for place, code in enumerate(codes):
        values = _array(attribute, code, np.float32, 3)
        if len(values) != len(first):
            raise Damaged(
                f"frame {round(code)} has {len(values):,} vertices where the first frame has {len(first):,}; "
                "export the run again with one mesh"
            )
        into[place] = values
    into.flush()


def _save_colliders(stage: Any, codes: list[float], folder: Path) -> int:
    """Meshes that supple put beside the body, with their places; how many."""
    from pxr import UsdGeom

    holder = stage.GetPrimAtPath(COLLIDERS)
    prims = [prim for prim in holder.GetChildren() if prim.IsA(UsdGeom.Mesh)] if holder else []
    for number, prim in enumerate(prims):
        mesh = UsdGeom.Mesh(prim)
        np.save(folder / f"collider{number}.points.npy", _array(mesh.GetPointsAttr(), codes[0], np.float64, 3))
        corners = _array(mesh.GetFaceVertexIndicesAttr(), codes[0], np.int64)
        np.save(folder / f"collider{number}.corners.npy", corners)
        np.save(folder / f"collider{number}.places.npy", np.stack([_world(prim, code) for code in codes]))
    return len(prims)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
