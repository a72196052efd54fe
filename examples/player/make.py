"""A folder with a character that moves in a web page, from a scene in pose space.

    python examples/player/make.py examples/curl.toml -o curl_player
    python -m http.server --directory curl_player

The scene's model is trained, or found beside it, as `supple run` would do. Its rig may be anything: where it has the
vertices that matter is stored along the scene's motion, and a slider in the page goes to and fro on it.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.errors import SceneError, SuppleError
from supple.io.posespace_file import save_posespace
from supple.method import PoseSpaceModel
from supple.rig import Rig, Root
from supple.rig.turns import find_turns
from supple.scene import Built, load_scene, prepare_scene, set_stage
from supple.subspace.vertex_turns import VertexTurns

HERE = Path(__file__).parent
PAGE = ("index.html", "page.js", "draw.js", "motion.js", "posespace.js", "materials.js", "dense.js", "npz.js")
KNOWN = ("stable_neo_hookean", "stvk", "neo_hookean")  # materials of materials.js


def stage_arrays(
    model: PoseSpaceModel,
    rig: Rig,
    poses: NDArray[np.float64],
    triangles: NDArray[np.integer],
    corners: NDArray[np.integer],
    shares: NDArray[np.float64],
    body: Body,
) -> dict[str, NDArray[Any]]:
    """What the page knows of the rig in poses (k, p), and of the drawn surface.

    Its vertices are sums by `shares` (s, c) of those of the mesh at `corners` (s, c). `flesh` are its turns at the
    vertices that a step looks at, where columns turn with it or the rig knows its turns. In the first case `skin` are
    those at the corners, each once.
    """
    root, turns = Root.of(rig), dict[str, NDArray[Any]]()
    if model.turning or find_turns(rig, poses[0]) is not None:
        flesh = VertexTurns(body, rig, model.watched)
        turns["flesh"] = np.array([flesh.turns(pose) for pose in poses])
    if model.turning:
        drawn, spun = np.unique(corners, return_inverse=True)
        skin = VertexTurns(body, rig, drawn)
        turns["skin"] = np.array([skin.turns(pose) for pose in poses], np.float32)
        turns["spun"] = spun.ravel().astype(np.int32)
    shapes = [rig.positions(pose) for pose in poses]
    return {
        "points": np.array([rig.embed(root.still(pose)) for pose in poses]),
        "placed": np.array([shape[model.watched] for shape in shapes]),
        "turns": np.array([root.turn(pose) for pose in poses]),
        "surface": np.array([np.einsum("sc,sci->si", shares, shape[corners]) for shape in shapes], np.float32),
        "triangles": np.asarray(triangles, np.int32),
        "corners": np.asarray(corners, np.int32),
        "shares": np.asarray(shares, np.float32),
        **turns,
    }


def write_player(folder: Path, built: Built) -> None:
    """The page, the model and the motion of a scene, in a folder."""
    scene, body, rigging, model = built.scene, built.body, built.drive.rigging, built.model
    if rigging is None or not isinstance(model, PoseSpaceModel):
        raise SceneError('the page steps characters in pose space: set method.name = "posespace".')
    unknown = [part.material.response.name for part in body.parts if part.material.response.name not in KNOWN]
    if unknown:
        raise SceneError(f'the page does not know material.model = "{unknown[0]}": use one of {", ".join(KNOWN)}.')
    if len(model.pairs) or len(model.corrections):
        raise SceneError("the page does not know flesh that touches itself: remove [contact].")
    if built.drive.obstacles:
        raise SceneError("the page does not know colliders, and flesh would pass through them: remove [[collider]].")
    mesh, render = built.mesh, built.source.render
    if render is None:
        skin = mesh.surface()
        triangles, corners, shares = skin.triangles, mesh.surface_vertices()[:, None], np.ones((len(skin.vertices), 1))
    else:
        triangles, corners, shares = render.surface.triangles, render.embedding.corners, render.embedding.weights
    poses = np.array([rigging.course.pose(frame / scene.time.fps) for frame in range(scene.time.frames + 1)])
    gravity = built.drive.gravity or (0.0, 0.0, 0.0)
    values = {
        "fps": scene.time.fps,
        "step": scene.time.step,
        "gravity": list(gravity),
        "up": scene.up_axis,
        "size": mesh.size(),
        "mass": float(body.mass.sum()),
        "loops": bool(np.allclose(poses[0], poses[-1])),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name in PAGE:
        shutil.copyfile(HERE / name, folder / name)
    save_posespace(folder / "model.npz", model, body, rigging.rig)
    arrays = stage_arrays(model, rigging.rig, poses, triangles, corners, shares, body)
    np.savez_compressed(folder / "stage.npz", values=np.array(json.dumps(values)), **arrays)


def main() -> None:
    parser = argparse.ArgumentParser(description="A folder with a character that moves in a web page.")
    parser.add_argument("scene", type=Path, help="a scene in pose space, or with rest = posed")
    parser.add_argument("-o", "--output", type=Path, default=Path("player"), help="the folder (default: player)")
    given = parser.parse_args()
    try:
        scene = load_scene(given.scene).under("posespace")
        write_player(given.output, prepare_scene(set_stage(scene), source=given.scene))
    except SuppleError as error:
        raise SystemExit(f"{error}") from None
    print(f"wrote {given.output}; show it with:  python -m http.server --directory {given.output}")


if __name__ == "__main__":
    main()
