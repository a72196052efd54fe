"""The player in JavaScript steps a character as Python does."""

import importlib.util
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from supple.cubature.pose_rules import train_pose_rules
from supple.elastic import Body, Damping, Pins
from supple.errors import SceneError
from supple.io import save_surface
from supple.io.posespace_file import save_posespace
from supple.material import NeoHookean, StableNeoHookean, StVK
from supple.mesh import fill_box
from supple.method import PoseSpaceSolver, assemble_posespace, follow_poses
from supple.rig import Bend, Influences, PoseStiffness, Skeleton, SkinnedRig
from supple.scene import build_scene, parse_scene, prepare_scene, set_stage, simulate, start_scene
from supple.shape import make_shape
from supple.solve import Gravity
from supple.subspace.alignment import Alignment
from supple.subspace.pose_models import build_pose_bases

PLAYER = Path(__file__).parent.parent / "examples" / "player"
NODE = shutil.which("node")
FRAMES, FPS = 60, 60.0
RUN = """
import { readFile } from "node:fs/promises";
import { Motion } from "./motion.js";
import { readNpz } from "./npz.js";
import { Character } from "./posespace.js";
const read = async (name) => readNpz(Uint8Array.from(await readFile(name)).buffer);
const character = new Character(await read("model.npz")), motion = new Motion(await read("stage.npz"));
const rows = motion.drawnRows(character), { fps, gravity } = motion.values, out = [];
let state = character.start(motion.at(0));
for (let k = 1; k < motion.frames; k++) {
  state = character.step(state, motion.at(k), 1 / fps, gravity, [], 1e-9);
  out.push(Array.from(motion.displace(character, state, rows, motion.at(k))));
}
console.log(JSON.stringify(out));
"""
PAGE = """
import { readFile } from "node:fs/promises";
const elements = {}, later = [], kept = {}, size = { clientWidth: 800, clientHeight: 600 };
const element = (id) => elements[id] ??= {
  ...size, value: 0, handlers: {}, getContext: () => gl, setPointerCapture() {},
  addEventListener(kind, handler) { this.handlers[kind] = handler; },
};
const known = { getShaderParameter: () => true, drawElements: (kind, count) => { kept.count = count; } };
const gl = new Proxy(known, { get: (all, name) => all[name] ?? (/^[A-Z_]+$/.test(name) ? 0 : () => ({})) });
Object.assign(globalThis, {
  document: { getElementById: element }, location: { protocol: "http:" }, requestAnimationFrame: (f) => later.push(f),
  fetch: async (name) => ({ ok: true, arrayBuffer: async () => Uint8Array.from(await readFile(name)).buffer }),
});
await import("./page.js");
if (!globalThis.player) throw new Error(element("said").textContent);
let now = 0;
const show = (count) => { for (; count > 0; count--) for (const f of later.splice(0)) f((now += 1000 / 60)); };
show(13);
const played = player.at, [view, pose] = ["view", "pose"].map(element);
pose.value = 2 / 19;
pose.handlers.input();
show(120);
const slid = player.at, before = player.places.slice();
let tip = 0;
for (let v = 0; v < before.length; v += 3) if (before[v] > before[tip]) tip = v;
const [x, y] = player.camera.project(Array.from(before.slice(tip, tip + 3)), 800 / 600);
view.handlers.pointerdown({ target: view, pointerId: 1, offsetX: 400 * (1 + x), offsetY: 300 * (1 - y) });
view.handlers.pointermove({ target: view, buttons: 1, movementX: 0, movementY: -60 });
const { vertex } = player.grab;
show(90);
const pulled = player.places[3 * vertex + 1] - before[3 * vertex + 1];
console.log(JSON.stringify([kept.count, played, slid, pulled]));
"""


def load_maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_player", PLAYER / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def beam(material, damping: Damping, resolution: int = 5) -> Body:
    mesh = fill_box((0, 0, 0), (1.0, 0.12, 0.16), resolution=resolution)
    return Body.build(mesh, material, Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9)), damping)


def bent(material, damping: Damping):
    """A beam whose far half hardens as it bends."""
    body = beam(material, damping)
    rig = Bend(body.mesh.vertices, (0.2, 0.06, 0.08), (0.8, 0.06, 0.08), (0, 0, 1))
    far = body.mesh.vertices[body.mesh.tets].mean(axis=1)[:, 0] > 0.5
    body = body.stiffened(PoseStiffness(rig, [[0.9]], np.where(far, 4.0, 1.0)[None]))
    return body, rig, np.array([[0.0], [-0.9], [0.9]]), lambda t: np.array([0.9 * np.sin(5.0 * t)])


def turning(material, damping: Damping):
    """A beam on two bones that turns about itself while its far half bends."""
    body = beam(material, damping)
    heads = np.array([[0.0, 0.06, 0.08], [0.5, 0.06, 0.08]])
    skeleton = Skeleton.of(("first", "second"), np.array([-1, 0]), heads, heads + [0.5, 0.0, 0.0])
    share = np.clip((body.mesh.vertices[:, 0] - 0.3) / 0.4, 0.0, 1.0)
    rig = SkinnedRig(skeleton, Influences.from_dense(np.column_stack([1.0 - share, share])), body.mesh.vertices)

    def pose(t: float) -> np.ndarray:
        turn, bend = Rotation.from_euler("y", 3.0 * t).as_rotvec(), Rotation.from_euler("z", np.sin(4 * t)).as_rotvec()
        return np.concatenate([[0.1 * t, 0.0, 0.0], turn, bend])

    poses = np.zeros((3, 9))
    poses[1:, 8] = -1.0, 1.0
    return body, rig, poses, pose


def write_folder(folder: Path, body: Body, rig, examples, poses, script: str, alignment: Alignment = "world"):
    """A player's folder, with a script to run in it; the model."""
    bases = build_pose_bases(body, rig, examples, 6, alignments=(alignment,))
    rules = train_pose_rules(body, rig, bases, 0.1, np.random.default_rng(0))
    model = assemble_posespace(body, rig, bases, rules)
    skin = body.mesh.surface_vertices()
    save_posespace(folder / "model.npz", model, body, rig)
    arrays = load_maker().stage_arrays(
        model, rig, poses, body.mesh.surface().triangles, skin[:, None], np.ones((len(skin), 1)), body
    )
    values = {"fps": FPS, "step": 1 / FPS, "gravity": [0.0, -9.81, 0.0], "up": "y", "size": 1.0, "mass": 19.2}
    np.savez_compressed(folder / "stage.npz", values=np.array(json.dumps({**values, "loops": False})), **arrays)
    for file in PLAYER.glob("*.js"):
        shutil.copy(file, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "run.js").write_text(script)
    return model


def run_node(folder: Path):
    assert NODE is not None
    ran = subprocess.run([NODE, "run.js"], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.skipif(NODE is None, reason="needs node")
@pytest.mark.parametrize(
    ("make", "material", "damping", "alignment"),
    [
        (bent, StableNeoHookean(young=2e6, poisson=0.4), Damping(0.5, 0.002), "world"),
        (bent, StVK(young=2e6, poisson=0.3), Damping(0.5), "world"),
        (turning, StableNeoHookean(young=2e6, poisson=0.4), Damping(0.5, 0.001), "world"),
        (bent, StableNeoHookean(young=2e6, poisson=0.4), Damping(0.5, 0.002), "rotframe"),
        (turning, StableNeoHookean(young=2e6, poisson=0.4), Damping(0.5, 0.001), "rotframe"),
    ],
)
def test_sixty_frames_agree_with_python(tmp_path: Path, make, material, damping: Damping, alignment) -> None:
    body, rig, examples, pose_at = make(material, damping)
    poses = np.array([pose_at(k / FPS) for k in range(FRAMES + 1)])
    model = write_folder(tmp_path, body, rig, examples, poses, RUN, alignment)
    skin = body.mesh.surface_vertices()
    found = np.array(run_node(tmp_path)).reshape(FRAMES, len(skin), 3)
    solver = PoseSpaceSolver(body, rig, model, tolerance=1e-9, max_stiffnesses=50)  # the page has no cap
    states = follow_poses(solver, pose_at, FPS, (Gravity(np.array([0.0, -9.81, 0.0])),))
    next(states)
    wanted = np.array([solver.positions(next(states), skin) - rig.positions(pose, skin) for pose in poses[1:]])
    largest = np.abs(wanted).max()
    assert largest > 0.01
    assert np.abs(found - wanted).max() < 2e-6 * largest  # columns are in single precision


@pytest.mark.skipif(NODE is None, reason="needs node")
@pytest.mark.parametrize("kind", [StableNeoHookean, StVK, NeoHookean])
def test_materials_are_those_of_python(tmp_path: Path, kind) -> None:
    material, F = kind(young=2e6, poisson=0.4), np.eye(3) + 0.6 * np.random.default_rng(0).standard_normal((40, 3, 3))
    assert np.linalg.det(F).min() < 0.0  # inside out, too
    given = [material.response.name, F.reshape(-1, 9).tolist(), list(material.moduli)]
    shutil.copy(PLAYER / "materials.js", tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "run.js").write_text(
        'import { MATERIALS, energy, stress } from "./materials.js";\n'
        f"const [name, all, m] = {json.dumps(given)};\n"
        "const of = (f) => all.map((F) => f(MATERIALS[name], F, m));\n"
        "console.log(JSON.stringify([of(energy), of(stress)]));\n"
    )
    energies, stresses = run_node(tmp_path)
    np.testing.assert_allclose(energies, material.psi(F), rtol=1e-10, atol=1e-3)
    np.testing.assert_allclose(stresses, material.stress(F).reshape(-1, 9), rtol=1e-10, atol=1e-3)


@pytest.mark.skipif(NODE is None, reason="needs node")
@pytest.mark.parametrize("alignment", ["world", "rotframe"])
def test_the_page_draws_plays_and_lets_flesh_be_pulled(tmp_path: Path, alignment: Alignment) -> None:
    body, rig, examples, pose_at = bent(StableNeoHookean(young=2e6, poisson=0.4), Damping(0.5))
    poses = np.array([pose_at(k / FPS) for k in range(20)])
    write_folder(tmp_path, body, rig, examples, poses, PAGE, alignment)
    drawn, played, slid, pulled = run_node(tmp_path)
    assert drawn == 3 * len(body.mesh.surface().triangles)
    assert 5 < played < 19
    assert slid == pytest.approx(2.0, abs=0.1)
    assert 0.002 < pulled < 0.5


@pytest.mark.skipif(NODE is None, reason="needs node")
def test_the_folder_of_a_scene_is_whole_and_moves_its_drawn_surface(tmp_path: Path) -> None:
    maker = load_maker()
    save_surface(tmp_path / "skin.obj", make_shape("beam", resolution=9).surface())
    bend = {"kind": "bend", "name": "curl", "start": [-0.3, 0, 0], "end": [0.4, 0, 0], "about": [0, 0, 1]}
    scene = {
        "mesh": {"shape": "beam", "resolution": 5, "render": str(tmp_path / "skin.obj")},
        "material": {"young": 2e6, "damping_mass": 1.0},
        "rig": {"rest": "posed", "hold": "min x 5%", "bones": False, "deformer": [bend]},
        "motion": {"keys": [{"t": 0.0, "curl": 0.0}, {"t": 0.3, "curl": 40.0}]},
        "time": {"frames": 10, "fps": 30, "substeps": 1},
        "training": {"heldout": 1},
        "method": {"name": "posespace", "rank": 8, "tolerance": 0.2, "newton_tolerance": 1e-8},
    }
    built = prepare_scene(set_stage(parse_scene(scene, "test")))
    folder = tmp_path / "player"
    touching = replace(built.model, pairs=np.zeros((1, 4), np.int64))
    for other, words in (
        (replace(built, model=touching), "touches itself"),
        (replace(built, drive=replace(built.drive, obstacles=(None,))), "colliders"),
    ):
        with pytest.raises(SceneError, match=words):
            maker.write_player(folder, other)
    maker.write_player(folder, built)
    assert {file.name for file in folder.iterdir()} == {*maker.PAGE, "model.npz", "stage.npz"}
    for file in folder.glob("*.js"):
        assert set(re.findall(r'from "\./(.*?)"', file.read_text())) <= set(maker.PAGE)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "run.js").write_text(RUN)
    found = np.array(run_node(folder)).reshape(10, -1, 3)
    start = start_scene(built)
    rig, course, lift = built.drive.rigging.rig, built.drive.rigging.course, built.source.render.embedding.apply
    wanted = np.array([
        lift(built.solver.positions(now.state)) - lift(rig.positions(course.pose(now.frame / 30)))
        for now in simulate(built, start)
    ])  # fmt: skip
    # The page begins at rest, the run with the speed of the rig: here that is none
    assert np.abs(wanted).max() > 0.002
    assert np.abs(found - wanted).max() < 1e-5 * np.abs(wanted).max()


def test_a_scene_that_the_page_cannot_step_is_refused(tmp_path: Path) -> None:
    maker = load_maker()
    scene = {"mesh": {"shape": "beam", "resolution": 4}, "pin": [{"select": "min x"}]}
    with pytest.raises(SceneError, match="posespace"):
        maker.write_player(tmp_path, build_scene(parse_scene(scene, "test")))
