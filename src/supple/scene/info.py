"""What a file holds: a scene, a mesh, a character, a recorded run, a checkpoint or a trained model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.elastic.rest_shape import volume_ratios
from supple.errors import FileFormatError
from supple.io import Cache, load_checkpoint, load_mesh, open_cache
from supple.io.articulated_file import is_articulated_file, tell_articulated
from supple.io.character import Character
from supple.io.load_character import CHARACTER_SUFFIXES, load_character
from supple.io.model_file import is_model_file, load_model
from supple.io.posespace_file import is_posespace_file, load_posespace
from supple.io.raw import Lacking
from supple.io.replay_mesh import MeshCache
from supple.io.skinned_file import is_skinned_file, load_skinned
from supple.io.source import mesh_suffix
from supple.mesh import TetMesh, TriMesh, assess_quality
from supple.method import ReducedModel, SkinnedModel
from supple.scene.figure import choose_body
from supple.scene.load import load_scene
from supple.scene.paint import make_marks
from supple.scene.rig_code import run_no_code
from supple.scene.rigging import make_rigging
from supple.scene.schema import Scene
from supple.scene.source import make_source
from supple.scene.units import to_metres

__all__ = ["describe_character", "describe_file", "describe_mesh"]

SCENES = (".toml", ".json")
HEADING = {"kind": "model", "method": "reduced"}
Facts = dict[str, Any]


def describe_file(path: str | Path) -> Facts:
    """Facts about a file by name; `kind` says what it is."""
    path = Path(path)
    if path.suffix.lower() in SCENES:
        return _describe_scene(load_scene(path))
    if path.name.endswith(".checkpoint.npz") and path.exists():
        arrays, meta = load_checkpoint(path)
        return {"kind": "checkpoint", "frame": meta.get("frame"), "arrays": sorted(arrays)}
    if not path.exists() and path.suffix.lower() != ".obj":  # name.obj stands for name.0000.obj, ...
        raise FileFormatError(f"{path} does not exist: check the path.")
    if path.suffix.lower() == ".npz" and is_model_file(path):
        return _describe_model(load_model(path))
    if path.suffix.lower() == ".npz" and is_skinned_file(path):
        return _describe_model(load_skinned(path))
    if path.suffix.lower() == ".npz" and is_posespace_file(path):
        posed = load_posespace(path)
        sizes = {"vertices": posed.columns.shape[1], "rank": posed.rank, "elements": len(posed.elements)}
        return {"kind": "model", "method": "posespace", **sizes, **posed.tell(), "error": posed.error, **posed.facts}
    if path.suffix.lower() == ".npz" and is_articulated_file(path):
        return {**HEADING, "serves": "a body with a rig", **tell_articulated(path)}
    character = _find_character(path)
    if character is not None:
        return describe_character(character)
    cache = open_cache(path)
    return describe_mesh(load_mesh(path)) if isinstance(cache, MeshCache) else _describe_recording(cache)


def _find_character(path: Path) -> Character | None:
    """The character in a file, where it holds a skeleton that moves something."""
    if mesh_suffix(path) not in CHARACTER_SUFFIXES:
        return None
    try:
        character = load_character(path)
    except Lacking:
        return None
    return None if character.skeleton is None else character


def describe_character(character: Character) -> Facts:
    """Facts about a character; lengths in metres."""
    points = np.concatenate([part.vertices for part in character.parts])
    skeleton = character.skeleton
    return {
        "kind": "character",
        "vertices": len(points),
        "extents": _list(np.ptp(points, axis=0)),
        "metres_per_unit": character.metres_per_unit,
        "up_axis": character.up_axis,
        "parts": {
            part.name: {
                "vertices": len(part.vertices),
                "polygons": len(part.counts),
                "skinning": None if part.influences is None else part.skinning,
                "material": part.material,
                "blend_shapes": list(part.targets),
            }
            for part in character.parts
        },
        "body": choose_body(character),
        "joints": [] if skeleton is None else list(skeleton.names),
        "clips": {
            clip.name: {"fps": clip.fps, "frames": len(clip.times), "seconds": float(clip.times[-1] - clip.times[0])}
            for clip in character.clips
        },
        "notes": list(character.notes),
    }


def describe_mesh(mesh: TetMesh | TriMesh) -> Facts:
    """Facts about tetrahedra or a surface; lengths in the mesh's own unit."""
    low, high = mesh.bounds()
    place = {"low": _list(low), "high": _list(high), "extents": _list(high - low)}
    pieces = int(mesh.components().max()) + 1
    shared = {"vertices": len(mesh.vertices), **place, "pieces": pieces, "notes": list(mesh.notes)}
    if isinstance(mesh, TetMesh):
        numbers, counts = np.unique(mesh.regions, return_counts=True)
        return {
            "kind": "tetrahedra",
            "tetrahedra": len(mesh.tets),
            **shared,
            "volume": float(mesh.volumes().sum()),
            "regions": {str(number): int(count) for number, count in zip(numbers, counts, strict=True)},
            "region_names": dict(mesh.region_names),
            "quality": asdict(assess_quality(mesh)),
        }
    return {
        "kind": "surface",
        "triangles": len(mesh.triangles),
        **shared,
        "area": float(mesh.areas().sum()),
        "volume": mesh.volume() if mesh.is_closed() else None,
        "closed": mesh.is_closed(),
        "manifold": mesh.is_manifold(),
    }


def _describe_scene(scene: Scene) -> Facts:
    """The tables of a scene that differ from the defaults, with what its rig and motion turn out to be."""
    facts: Facts = {"kind": "scene", **scene.keys()}
    si = to_metres(scene, scene.metres)
    if si.rig is None:
        return facts
    source = make_source(si.mesh, scene.metres, scene.up_axis, rig=si.rig_files())
    with run_no_code() as left_out:
        rigging = make_rigging(si, source, scene.metres, make_marks(si, source, scene.metres))
    if rigging is None:
        return facts
    code = {"not_run": list(left_out)} if left_out else {}
    return {**facts, "rig": {**facts["rig"], **rigging.facts(), **code}}


def _describe_model(model: ReducedModel | SkinnedModel) -> Facts:
    """Facts about a trained model; what training noted comes last."""
    return {
        **HEADING,
        "serves": "a body with a rig" if isinstance(model, SkinnedModel) else "a body without a rig",
        "vertices": len(model.basis.mass),
        "basis": model.basis.source,
        "lowest_frequency_hz": float(np.sqrt(model.basis.importance.min()) / (2.0 * np.pi)),
        **model.tell(),
        "trainer": model.rule.trainer,
        "rank": model.basis.rank,
        "elements": model.rule.size,
        "error": model.error,
        **model.facts,
    }


def _describe_recording(cache: Cache) -> Facts:
    info = cache.info
    return {
        "kind": "recording",
        "frames": cache.frames,
        "first_frame": cache.indices[0] if cache.frames else None,
        "last_frame": cache.indices[-1] if cache.frames else None,
        "seconds": cache.times[-1] - cache.times[0] if cache.frames else 0.0,
        "fps": info.fps,
        "up_axis": info.up_axis,
        "metres_per_unit": info.metres_per_unit,
        "triangles": len(cache.triangles),
        "fields": list(cache.fields),
        **_tell_volumes(cache),
    }


def _tell_volumes(cache: Cache) -> Facts:
    """How many tets are inverted in the worst frame, the least volume ratio of any and the first frame with one; null
    for a recording that holds no tets."""
    mesh = cache.body()
    if mesh is None or not len(mesh.tets):
        return {"inverted": None, "min_jacobian": None, "first_inverted_frame": None}
    corners = mesh.vertices[mesh.tets]
    edges = (corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)
    inverse = np.ascontiguousarray(np.linalg.inv(edges).reshape(-1, 9).T)
    tets = np.ascontiguousarray(mesh.tets.T.astype(np.int32))
    ratios = [volume_ratios(np.ascontiguousarray(cache.positions(i)), tets, inverse) for i in range(cache.frames)]
    inverted = [int(np.count_nonzero(ratio <= 0.0)) for ratio in ratios]
    return {
        "inverted": max(inverted, default=0),
        "min_jacobian": min((float(ratio.min()) for ratio in ratios), default=None),
        "first_inverted_frame": next((n for n, bad in zip(cache.indices, inverted, strict=True) if bad), None),
    }


def _list(vector: NDArray[np.float64]) -> list[float]:
    return [float(value) for value in vector]
