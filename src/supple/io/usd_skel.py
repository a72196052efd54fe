"""What `usd_child.py` leaves of a stage's characters: meshes, skeletons and what they do, as plain arrays.

It runs in that script's process and imports nothing of supple. Matrices are for column vectors. By UsdSkel a point v
goes to the sum of w_k (v G) I_k J_k(t) S(t), with row vectors: G the mesh's bind transform, I_k the inverse of joint
k's, J_k where it is in the skeleton, S where that is in the world.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def save_character(stage: Any, folder: Path, most: int, tools: Any) -> dict[str, Any]:
    """All meshes as N.points.npy and so on, skeletons as skelN.parents.npy and so on; facts about them.

    `tools` are functions of the script.
    """
    from pxr import Usd, UsdGeom

    meshes = [prim for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    if not meshes:
        return dict(tools.no_mesh)
    bound, skels = _find_bindings(stage, tools)
    codes = _find_codes(stage, [query for query, _ in skels], meshes, bound, most, tools)
    notes: list[str] = []
    skeletons = [
        _save_skeleton(query, stage, codes, folder, number, notes, tools) for number, (query, _) in enumerate(skels)
    ]
    parts = []
    for number, prim in enumerate(meshes):
        mesh = UsdGeom.Mesh(prim)
        code = tools.code(stage, mesh.GetPointsAttr())
        points = tools.array(mesh.GetPointsAttr(), code, np.float64, 3)
        np.save(folder / f"{number}.points.npy", points)
        fact = {
            "name": prim.GetName(),
            "path": str(prim.GetPath()),
            "material": _material(prim),
            "targets": [],
            "skel": -1,
        }
        fact["uv"] = tools.save_faces(mesh, code, folder, str(number))
        if str(prim.GetPath()) in bound:
            skel, query = bound[str(prim.GetPath())]
            fact |= _save_skinning(query, skels[skel][0], len(points), code, folder, number, notes, tools)
            fact["skel"] = skel if fact.pop("hung") else -1
            fact["targets"] = _save_shapes(query, skels[skel][0], prim, len(points), codes, folder, number, tools)
        fact["turned"] = tools.turned(mesh, np.eye(4), code)
        if fact["skel"] < 0:
            places = np.stack([tools.world(prim, code) for code in (codes or [Usd.TimeCode.EarliestTime().GetValue()])])
            np.save(folder / f"{number}.places.npy", places.transpose(0, 2, 1))
        parts.append(fact)
    spare = [
        path for query, path in skels if not any(path == skels[part["skel"]][1] for part in parts if part["skel"] >= 0)
    ]
    notes += [f"the skeleton {path} moves no mesh and is left out" for path in spare]
    return {"parts": parts, "skeletons": skeletons, "codes": codes, "notes": notes}


def _find_bindings(stage: Any, tools: Any) -> tuple[dict[str, tuple[int, Any]], list[tuple[Any, str]]]:
    """By the path of a mesh the number of its skeleton and how it is skinned; and the skeletons."""
    from pxr import Usd, UsdSkel

    cache = UsdSkel.Cache()
    bound: dict[str, tuple[int, Any]] = {}
    skels: list[tuple[Any, str]] = []
    for prim in stage.Traverse():
        if not prim.IsA(UsdSkel.Root):
            continue
        root = UsdSkel.Root(prim)
        cache.Populate(root, Usd.PrimDefaultPredicate)
        for binding in cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate):
            query = cache.GetSkelQuery(binding.GetSkeleton())
            path = str(binding.GetSkeleton().GetPath())
            if not query or not len(query.GetJointOrder()):
                raise tools.damaged(f"the skeleton {path} has no joints that hang together; export it again")
            known = [one for _, one in skels]
            if path not in known:
                skels.append((query, path))
            number = [one for _, one in skels].index(path)
            for target in binding.GetSkinningTargets():
                bound[str(target.GetPrim().GetPath())] = (number, target)
    return bound, skels


def _find_codes(
    stage: Any, queries: list[Any], meshes: list[Any], bound: dict[str, Any], most: int, tools: Any
) -> list[float]:
    """Time codes of the frames: whole ones from the first to the last sample; none where nothing moves."""
    from pxr import UsdGeom

    samples: set[float] = set()
    movers = [prim for prim in meshes if str(prim.GetPath()) not in bound]
    for query in queries:
        movers.append(query.GetPrim())
        animation = query.GetAnimQuery()
        if animation:
            samples.update(animation.GetJointTransformTimeSamples())
            samples.update(animation.GetBlendShapeWeightTimeSamples())
            if not samples:
                samples.add(stage.GetStartTimeCode())
    for prim in movers:
        while prim and not prim.IsPseudoRoot():
            if prim.IsA(UsdGeom.Xformable):
                samples.update(UsdGeom.Xformable(prim).GetTimeSamples())
            prim = prim.GetParent()
    if not samples:
        return []
    first, last = min(samples), max(samples)
    if not np.isfinite([first, last]).all() or last - first >= most:
        raise tools.damaged(f"it holds {last - first + 1:,.0f} frames, more than the {most:,} read at most; cut it")
    return [float(code) for code in first + np.arange(int(last - first + 1e-6) + 1)]


def _columns(matrices: Any) -> FloatArray:
    """Matrices of USD for column vectors."""
    return np.array(matrices, dtype=np.float64).reshape(-1, 4, 4).transpose(0, 2, 1)


def _save_skeleton(
    query: Any, stage: Any, codes: list[float], folder: Path, number: int, notes: list[str], tools: Any
) -> dict[str, Any]:
    """Names of the joints; parents, binds, moves at rest (j, 4, 4) and in frames (k, j, 4, 4) as arrays."""
    from pxr import Usd

    names = [str(joint) for joint in query.GetJointOrder()]
    path = str(query.GetPrim().GetPath())
    start = codes[0] if codes else stage.GetStartTimeCode()
    world = tools.world(query.GetPrim(), start).T
    rest = _columns(query.ComputeJointSkelTransforms(start, True) or [])
    binds = _columns(query.GetJointWorldBindTransforms() or []) if query.HasBindPose() else np.empty((0, 4, 4))
    if len(rest) != len(names) and len(binds) != len(names):
        raise tools.damaged(f"the skeleton {path} has neither bind nor rest transforms; export it again")
    if len(binds) != len(names):
        notes.append(f"the skeleton {path} has no bind transforms: its rest transforms are taken")
        binds = world @ rest
    if len(rest) != len(names):
        notes.append(f"the skeleton {path} has no rest transforms: its bind transforms are taken")
        rest = np.linalg.inv(world) @ binds
    if not np.isfinite(binds).all() or not (np.linalg.cond(binds[:, :3, :3]) < 1e12).all():
        raise tools.damaged(f"a bind transform of {path} cannot be undone; export it again")
    inverse = np.linalg.inv(binds)
    frames = np.empty((len(codes), len(names), 4, 4))
    for place, code in enumerate(codes):
        posed = _columns(query.ComputeJointSkelTransforms(Usd.TimeCode(code)) or [])
        posed = posed if len(posed) == len(names) else rest
        frames[place] = tools.world(query.GetPrim(), code).T @ posed @ inverse
    np.save(folder / f"skel{number}.parents.npy", np.array(query.GetTopology().GetParentIndices(), np.int64))
    np.save(folder / f"skel{number}.binds.npy", binds)
    np.save(folder / f"skel{number}.rest.npy", world @ rest @ inverse)
    np.save(folder / f"skel{number}.moves.npy", frames)
    moved = query.GetAnimQuery()
    return {"path": path, "names": names, "clip": moved.GetPrim().GetName() if moved else None}


def _save_skinning(
    query: Any, skeleton: Any, count: int, code: float, folder: Path, number: int, notes: list[str], tools: Any
) -> dict[str, Any]:
    """Joints, by their numbers in the skeleton, and weights of every vertex, and the mesh's bind transform."""
    prim = query.GetPrim()
    np.save(folder / f"{number}.bind.npy", np.array(query.GetGeomBindTransform(code), np.float64).T)
    method = "dual_quaternion" if str(query.GetSkinningMethod()) == "dualQuaternion" else "linear"
    if not query.HasJointInfluences():
        notes.append(f"{prim.GetPath()} is bound to a skeleton without weights and stands still")
        return {"hung": False, "method": method}
    found = query.ComputeVaryingJointInfluences(count, code)
    if not found:
        raise tools.damaged(f"{prim.GetPath()} has not a joint and weight for every vertex; export it again")
    joints, weights = np.array(found[0], np.int64).reshape(count, -1), np.array(found[1], np.float64)
    order = [str(joint) for joint in query.GetJointOrder() or []]
    if order:
        all_joints = [str(joint) for joint in skeleton.GetJointOrder()]
        place = np.array([all_joints.index(name) if name in all_joints else -1 for name in order])
        inside = (joints >= 0) & (joints < len(place))
        joints = np.where(inside, place[np.clip(joints, 0, len(place) - 1)], -1)
    np.save(folder / f"{number}.joints.npy", joints)
    np.save(folder / f"{number}.weights.npy", weights.reshape(count, -1))
    return {"hung": True, "method": method}


def _save_shapes(
    query: Any, skeleton: Any, prim: Any, count: int, codes: list[float], folder: Path, number: int, tools: Any
) -> list[str]:
    """Offsets of blend shapes and what lies between them (m, n, 3), and their shares in frames (k, m); their names."""
    from pxr import UsdSkel, Vt

    if not query.HasBlendShapes():
        return []
    shapes = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(prim))
    points, offsets = shapes.ComputeBlendShapePointIndices(), shapes.ComputeSubShapePointOffsets()
    given_shapes = [place for place, moved in enumerate(offsets) if len(moved)]  # what is no shape is the rest
    names, dense = [], np.zeros((len(given_shapes), count, 3))
    for row, place in enumerate(given_shapes):
        shape = shapes.GetBlendShapeIndex(place)
        moved = np.array(offsets[place], np.float64).reshape(-1, 3)
        who = np.array(points[shape], np.int64) if len(points[shape]) else np.arange(len(moved))
        if len(who) != len(moved) or who.min() < 0 or who.max() >= count:
            raise tools.damaged(f"a blend shape of {prim.GetPath()} moves vertices that are not there; export it again")
        np.add.at(dense[row], who, moved)
        between = shapes.GetInbetween(place)
        name = shapes.GetBlendShape(shape).GetPrim().GetName()
        names.append(f"{name}:{between.GetAttr().GetBaseName()}" if between else name)
    shares = np.zeros((len(codes), len(names)))
    animation = skeleton.GetAnimQuery()
    order = [str(name) for name in animation.GetBlendShapeOrder()] if animation else []
    own = [str(name) for name in query.GetBlendShapeOrder()]
    for frame, code in enumerate(codes):
        given = animation.ComputeBlendShapeWeights(code) if animation else None
        if given is None or len(given) != len(order):
            continue
        mixed = [given[order.index(name)] if name in order else 0.0 for name in own]
        weights, _, places = shapes.ComputeSubShapeWeights(Vt.FloatArray(mixed))
        for weight, place in zip(weights, places, strict=True):
            if place in given_shapes:
                shares[frame, given_shapes.index(place)] = weight
    np.save(folder / f"{number}.offsets.npy", dense)
    np.save(folder / f"{number}.shares.npy", shares)
    return names


def _material(prim: Any) -> str | None:
    from pxr import UsdShade

    material = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
    return str(material.GetPath()) if material else None
