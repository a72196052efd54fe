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
_LEARNED = {"small": slice(2, 19, 2), "paper": slice(0, None, 5)}  # frames: of one finger that bends, or of all
_PLAYED = {"small": slice(1, 18, 2), "paper": slice(203, None, 2)}
#: What the authors' C++ takes there on one thread.
_AUTHORS = {"case": "authors' code", "tets": 50_816, "domains": 10, "rank": 130, "elements": 2_627, "full_ms": 1341.0,
            "reduced_ms": 29.6, "detect_ms_full": 11.3, "detect_ms_rule": 3.4, "rms_error": 0.015}  # fmt: skip


def load_hand(folder: Path, size: str) -> Case:
    """The hand as a case: frames to play lie between those to learn from."""
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
    learned = poses[_LEARNED[size]]
    return Case(
        "hand", body, rig, learned, poses[_PLAYED[size]], len(learned), _AUTHORS,
        most_full=10**6 if size == "small" else 4, repeats=False,
    )  # fmt: skip


def _load_skeleton(path: Path) -> FreeBones:
    """Its bones, each free to go anywhere, in the order of weights and poses."""
    bones = sorted(json.loads(path.read_text())["bones"], key=lambda bone: int(bone["id"]))
    heads, tails = (np.array([bone[end] for bone in bones], np.float64) for end in ("segment_start", "segment_end"))
    parents = np.array([bone["parent"] for bone in bones], np.int32)
    return FreeBones(tuple(f"bone{bone['id']}" for bone in bones), parents, heads, tails)


def _read_poses(path: Path) -> FloatArray:
    """The recorded poses: rotation vector and shift of every bone from rest, (t, 6 j)."""
    stored = np.load(path)
    rest = Rotation.from_quat(stored["rest_quat_xyzw"]).inv()
    found = []
    for quaternions, centres in zip(stored["training_quat_xyzw"], stored["training_translation"], strict=True):
        turns = Rotation.from_quat(quaternions) * rest
        found.append(np.hstack([turns.as_rotvec(), centres - turns.apply(stored["rest_translation"])]).ravel())
    return np.array(found)
