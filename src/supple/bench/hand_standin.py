"""The stand-in hand that the authors' own code of [TOK14] was measured on, with its recorded poses."""

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.bench.contact_case import Case
from supple.elastic import Body, Pins
from supple.errors import FileFormatError
from supple.material import Corotational
from supple.mesh import TetMesh
from supple.rig import Influences, SkinnedRig
from supple.rig.free_bones import FreeBones

__all__ = ["load_hand"]

FloatArray = NDArray[np.float64]
_SIZES = {"small": (8, 8, 8), "paper": (53, 40, 53)}  # poses to learn from, frames to play, rank of shapes
#: What the authors' C++ takes there on one thread.
_AUTHORS = {"case": "authors' code", "tets": 50_816, "domains": 10, "rank": 130, "elements": 2_627, "full_ms": 1341.0,
            "reduced_ms": 29.6, "detect_ms_full": 11.3, "detect_ms_rule": 3.4, "rms_error": 0.015}  # fmt: skip


def load_hand(folder: Path, size: str) -> Case:
    """The hand as a case: poses to learn from are far apart, those to play follow one another."""
    stored = {name: folder / name for name in ("mesh.npz", "training_poses.npz", "skeleton.json")}
    for path in stored.values():
        if not path.exists():
            raise FileFormatError(f"{path} is not there: --mesh takes the folder of the stand-in hand.")
    mesh = np.load(stored["mesh.npz"])
    vertices, free = mesh["vertices"], int(mesh["n_unconstrained"])
    rig = SkinnedRig(
        _load_skeleton(stored["skeleton.json"]), Influences.from_dense(mesh["skin_weights"], None), vertices
    )
    pins = Pins.of(np.arange(free, len(vertices)))
    body = Body.build(TetMesh.clean(vertices, mesh["tets"]), Corotational(young=5000.0, poisson=0.08), pins)
    poses = _read_poses(stored["training_poses.npz"])
    learned, frames, rank = _SIZES[size]
    chosen = np.unique(np.linspace(0, len(poses) - 1, learned).astype(int))
    begin = int(np.argmax(np.linalg.norm(poses - poses[0], axis=1))) // 2
    return Case("hand", body, rig, poses[chosen], poses[begin : begin + frames + 1], rank, _AUTHORS)


def _load_skeleton(path: Path) -> FreeBones:
    """Its bones, each free to go anywhere."""
    bones = sorted(json.loads(path.read_text())["bones"], key=lambda bone: int(bone["id"]))
    found = FreeBones.of(
        [f"bone{bone['id']}" for bone in bones], [bone["parent"] for bone in bones],
        [bone["segment_start"] for bone in bones], [bone["segment_end"] for bone in bones],
    )  # fmt: skip
    assert isinstance(found, FreeBones)
    return found


def _read_poses(path: Path) -> FloatArray:
    """The recorded poses: rotation vector and shift of every bone from rest, (t, 6 j)."""
    stored = np.load(path)
    rest = Rotation.from_quat(stored["rest_quat_xyzw"]).inv()
    found = []
    for quaternions, centres in zip(stored["training_quat_xyzw"], stored["training_translation"], strict=True):
        turns = Rotation.from_quat(quaternions) * rest
        found.append(np.hstack([turns.as_rotvec(), centres - turns.apply(stored["rest_translation"])]).ravel())
    return np.array(found)
