"""Every example runs, and one physical number of each is right."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from supple.io import load_surface
from supple.mesh import embed
from supple.scene import Built, FrameRow, diagnose, load_scene, prepare_scene, set_stage, simulate, start_scene

EXAMPLES = Path(__file__).parent.parent / "examples"


class Motion(NamedTuple):
    """A run of an example."""

    built: Built
    frames: dict[int, NDArray[np.float64]]  #: positions [m] by frame
    rows: dict[int, FrameRow]

    @property
    def last(self) -> NDArray[np.float64]:
        return self.frames[max(self.frames)]


def play(name: str, changes: dict[str, Any] | None = None) -> Motion:
    built = prepare_scene(set_stage(load_scene(EXAMPLES / f"{name}.toml", changes, allow_code=True)))
    start = start_scene(built)
    seen = [start, *simulate(built, start)]
    frames = {now.frame: built.solver.positions(now.state) for now in seen}
    return Motion(built, frames, {now.frame: now.row for now in seen if now.row is not None})


def check_cantilever() -> None:
    """The tip sinks as far as beam theory says, less the stiffness of linear tetrahedra."""
    motion = play("cantilever", {"mesh": {"resolution": 24}})
    rest = motion.built.mesh.vertices
    tip = rest[:, 0] > 0.2499
    theory = 98.1 * 0.5**4 / (8 * 2e6 * 0.1**4 / 12)
    sunk = float((rest - motion.last)[tip, 1].mean())
    assert 0.9 * theory < sunk < 1.01 * theory


def check_hanging() -> None:
    """The bar stretches by rho g L^2 / (2 E), within the 1 % that the finite strain is worth."""
    motion = play("hanging", {"mesh": {"resolution": 20}})
    rest = motion.built.mesh.vertices
    low = rest[:, 0] < -0.4999
    stretch = float((rest - motion.last)[low, 0].mean())
    assert stretch == pytest.approx(1000 * 9.81 / (2 * 1e6), rel=0.01)


def check_twist() -> None:
    """Half way along, a bar turned by 90 degrees at one end is turned by 45."""
    motion = play("twist", {"mesh": {"resolution": 10}})
    rest = motion.built.mesh.vertices
    middle = np.abs(rest[:, 0]) < 1e-9
    before, after = (x[middle, 1:] - x[middle, 1:].mean(axis=0) for x in (rest, motion.last))
    cosine, sine = (before * after).sum(), (before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]).sum()
    assert np.degrees(np.arctan2(sine, cosine)) == pytest.approx(45.0, abs=1.0)


def check_jelly() -> None:
    """A sudden push leans the cube one to two times as far as a slow one would; left alone it calms down."""
    motion = play("jelly", {"mesh": {"resolution": 4}})
    top = motion.built.mesh.vertices[:, 1] > 0.0499
    lean = np.array([x[top, 0].mean() for frame, x in sorted(motion.frames.items()) if frame >= 0])
    side, young, force = 0.1, 8e3, 3.0
    slow = force / (young * side) * (2.9 + 4.0)  # shear (1 + nu = 1.45, twice) and bending of a short beam
    assert slow < lean.max() < 2.0 * slow
    assert int(lean.argmax()) in range(8, 13)
    assert np.abs(lean[40:]).max() < 0.3 * lean.max()


def check_tumble() -> None:
    """The centre of mass flies along a parabola, whatever the creature does."""
    motion = play("tumble", {"mesh": {"elements": 800}, "time": {"frames": 12}})
    mass = motion.built.body.mass / motion.built.body.mass.sum()
    moved = mass @ motion.last - mass @ motion.built.mesh.vertices
    assert moved == pytest.approx([0.5, 4.0 * 0.5 - 0.5 * 9.81 * 0.25, 0.0], abs=2e-4)
    assert motion.rows[12].elastic_energy > 0.1


def check_core() -> None:
    """The stiff core keeps its shape while the flesh around it does not."""
    motion = play("core", {"mesh": {"resolution": 7}, "time": {"frames": 12}})
    body = motion.built.body
    strain = np.abs(body.jacobians(motion.last) - 1.0)
    core = body.mesh.regions == 1
    assert core.any()
    assert strain[core].mean() < 0.1 * strain[~core].mean()


def check_release() -> None:
    """The end that is let go at 0.25 s stays put until then and falls after, pulled by gravity and by the beam."""
    motion = play("release", {"mesh": {"resolution": 20}, "time": {"frames": 10}})
    end = motion.built.mesh.vertices[:, 0] > 0.4999
    height = {frame: float(x[end, 1].mean()) for frame, x in motion.frames.items()}
    assert height[6] == pytest.approx(height[0], abs=1e-12)
    seconds = 4 / 24
    free_fall = 0.5 * 9.81 * seconds**2
    assert free_fall < height[6] - height[10] < 3.0 * free_fall


def check_reduced() -> None:
    """The reduced beam stays within its tolerance of the full one, which swings by a good part of its length."""
    small = {"mesh": {"resolution": 12}, "training": {"cases": 3}}
    reduced, full = play("reduced", small), play("reduced", {**small, "method": {"name": "full", "tolerance": 1e-4}})
    motion, mass, rest = np.stack([*full.frames.values()]), full.built.body.mass, full.built.mesh.vertices
    error, moved = (
        np.einsum("tij,tij,i->", d, d, mass) for d in (np.stack([*reduced.frames.values()]) - motion, motion - rest)
    )
    assert np.sqrt(error / moved) < 0.02
    assert 0.1 < np.abs(motion - rest).max() < 0.5


def check_drop() -> None:
    """The ball comes to rest on the floor, which carries its weight, and does not get through the block."""
    motion = play("drop", {"mesh": {"resolution": 5}, "time": {"frames": 18}})
    weight = 9.81 * motion.built.body.mass.sum()
    carried = np.mean([motion.rows[frame].contact_forces[0][1] for frame in range(12, 19)])
    assert carried == pytest.approx(weight, rel=0.15)
    assert min(x[:, 1].min() for x in motion.frames.values()) > -0.155
    assert 0.1 < max(x[:, 0].mean() for x in motion.frames.values()) < 0.22
    assert max(abs(row.contact_forces[1][0]) for row in motion.rows.values()) > 0.3 * weight


def check_squeeze() -> None:
    """Closed, the plates push with the bar's stiffness times the squeeze, and equally; open, not at all."""
    motion = play("squeeze", {"mesh": {"resolution": 6}, "time": {"frames": 19}})
    upper, lower = np.array(motion.rows[14].contact_forces)
    strain = 1.0 - 0.082 / 0.1
    assert lower[1] == pytest.approx(-upper[1], rel=1e-2)
    assert lower[1] == pytest.approx(1e5 * 0.2 * 0.1 * strain, rel=0.2)
    assert motion.rows[19].contacts == 0


def check_fold() -> None:
    """The halves of the rod stop at each other; without contact they pass through each other."""
    small = {"mesh": {"resolution": 9}, "time": {"frames": 20}}
    motion, through = play("fold", small), play("fold", {**small, "contact": {"self": False}})
    rest = motion.built.mesh.vertices
    right = (rest[:, 0] > 0.1) & (rest[:, 1] > 0.02)  # what faces the other half when it is folded
    assert motion.last[right, 0].min() > -0.01
    assert through.last[right, 0].min() < -0.01
    assert motion.rows[20].contacts > 5
    assert motion.rows[20].contact_depth < 0.005


def skin(motion: Motion, frame: float) -> NDArray[np.float64]:
    """Where the rig alone would put the body [m] at a frame."""
    rigging = motion.built.drive.rigging
    assert rigging is not None
    return rigging.rig.positions(rigging.course.pose(frame / motion.built.scene.time.fps))


def check_bend() -> None:
    """Bent, the far end points as far round as its bone, flesh is squeezed; then it is straight again."""
    motion = play("bend", {"mesh": {"resolution": 10}})
    rest, bent = motion.built.mesh.vertices, motion.frames[18]
    end = (rest[:, 0] > 0.1).nonzero()[0]
    x, y, _ = bent[end].mean(axis=0)
    assert np.degrees(np.arctan2(y, x)) == pytest.approx(100.0, abs=3.0)
    inner = (np.abs(rest[:, 0]) < 0.03) & (rest[:, 1] > 0.05)
    assert bent[inner, 1].mean() < 0.8 * rest[inner, 1].mean()
    assert motion.last == pytest.approx(rest, abs=2e-3)


def check_flesh() -> None:
    """The reduced rod keeps its tolerance of what full flesh does beside its bones, which is a tenth of its length."""
    error, beside = compare_flesh("flesh", {"mesh": {"resolution": 10}, "training": {"cases": 3}}, 24)
    assert error < 0.05
    assert beside == pytest.approx(0.1, abs=0.05)


def check_curl() -> None:
    """The finger in domains keeps its tolerance of what full flesh does beside its bones, a few millimetres."""
    error, beside = compare_flesh("curl", {"mesh": {"resolution": 12}, "training": {"cases": 2}}, 24)
    assert error < 0.1
    assert beside > 0.0


def compare_flesh(name: str, changes: dict[str, Any], frames: int) -> tuple[float, float]:
    """Error of an example's method relative to what full flesh does beside its bones, and the most of that [m]."""
    small = {**changes, "time": {"frames": frames}}
    reduced, full = play(name, small), play(name, {**small, "method": {"name": "full", "tolerance": 1e-4}})
    numbers, mass = range(1, frames + 1), full.built.body.mass
    off, beside = (
        sum(float(mass @ ((x - other) ** 2).sum(axis=1)) for x, other in pairs)
        for pairs in (
            [(reduced.frames[frame], full.frames[frame]) for frame in numbers],
            [(full.frames[frame], skin(full, frame)) for frame in numbers],
        )
    )
    furthest = max(float(np.abs(full.frames[frame] - skin(full, frame)).max()) for frame in numbers)
    return float(np.sqrt(off / beside)), furthest


def check_wave() -> None:
    """The lifted hand rises by half an arm, and flesh lags behind its bones by centimetres, not by decimetres."""
    motion = play("wave", {"mesh": {"resolution": 24}})
    hand = motion.built.mesh.vertices[:, 0] > 0.5
    lifted = (motion.last - motion.built.mesh.vertices)[hand, 1].mean()
    assert 0.3 < lifted < 0.9
    lag = max(float(np.abs(x - skin(motion, frame)).max()) for frame, x in motion.frames.items())
    assert 0.005 < lag < 0.1


def check_walk() -> None:
    """After once round the flesh is where it was, bouncing included; in between it is not where the bones put it."""
    motion = play("walk", {"mesh": {"resolution": 26}})
    stepped = np.abs(motion.frames[15] - motion.frames[0]).max()
    assert stepped > 0.3
    assert np.abs(motion.frames[30] - motion.frames[0]).max() < 0.03 * stepped
    assert 0.01 < np.abs(motion.frames[15] - skin(motion, 15)).max() < 0.2


def check_deform() -> None:
    """Without inertia the bar is where its deformers have it, at a right angle, then wrung; with it, it overshoots."""
    still = play("deform", {"mesh": {"resolution": 12}, "time": {"integrator": "static"}})
    rest = still.built.mesh.vertices
    far, radius = rest[:, 0] > 0.29, 0.4 / (np.pi / 2)  # a quarter circle, then a tenth of a metre straight up
    assert still.frames[10] == pytest.approx(skin(still, 10), abs=1e-4)
    assert still.frames[10][far].mean(axis=0) == pytest.approx([radius - 0.2, radius + 0.1, 0.0], abs=1e-3)
    assert still.last == pytest.approx(rest, abs=1e-4)
    swung = play("deform", {"mesh": {"resolution": 12}, "time": {"frames": 12}})
    away = max(float(np.abs(x - skin(swung, frame)).max()) for frame, x in swung.frames.items())
    assert 0.02 < away < 0.3


def check_breathe() -> None:
    """The ball swells around its middle by the three tenths that the function is asked for, and flesh lags behind."""
    motion = play("breathe", {"mesh": {"resolution": 6}})
    rest = motion.built.mesh.vertices
    rim = (np.abs(rest[:, 1]) < 0.02) & (np.hypot(rest[:, 0], rest[:, 2]) > 0.12)
    swollen = [float(np.hypot(x[rim, 0], x[rim, 2]).mean()) for _, x in sorted(motion.frames.items())]
    assert max(swollen[5:11]) == pytest.approx(1.3 * swollen[0], rel=0.06)
    assert min(swollen[12:17]) == pytest.approx(swollen[0], rel=0.15)
    assert np.abs(motion.frames[4] - skin(motion, 4)).max() > 1e-3


def check_cross() -> None:
    """Bent by 135 degrees no tetrahedron is turned over, and the upper arms point back down beside the lower ones."""
    motion = play("cross", {"mesh": {"resolution": 10}})
    rest, body = motion.built.mesh.vertices, motion.built.body
    tips = rest[:, 1] > 0.3
    assert body.jacobians(skin(motion, 12)).min() > 0.4
    for frame, side in ((12, 1.0), (24, -1.0)):
        x = motion.frames[frame]
        assert side * x[tips, 2].mean() > 0.2
        assert np.abs(x - skin(motion, frame)).max() < 0.1


def check_bear() -> None:
    """Its nose goes down, then sideways and back, with the wire."""
    motion = play("bear", {"time": {"frames": 19}})
    nose = int(np.argmax(motion.built.mesh.vertices[:, 2]))
    moved = {frame: x[nose] - motion.built.mesh.vertices[nose] for frame, x in motion.frames.items()}
    assert moved[10][1] < -0.4
    assert moved[19][0] > 0.6
    assert moved[19][2] < -0.4


def check_skin() -> None:
    """Bent, the elbow sticks out as it was drawn; thick, the second half has more flesh; in the end it is as before."""
    motion = play("skin")
    rest = motion.built.mesh.vertices
    drawn = load_surface(EXAMPLES / "rod_bent.obj").vertices
    plain = load_surface(EXAMPLES / "rod.obj").vertices
    elbow = int(np.argmin(np.abs(plain[:, 0]) + plain[:, 1]))
    bent = embed(motion.built.mesh, plain).apply(skin(motion, 0.4 * 24))
    assert bent[elbow] == pytest.approx(drawn[elbow], abs=0.006)
    middle = np.abs(rest[:, 0] - 0.1) < 0.03
    width = {frame: float(np.ptp(motion.frames[frame][middle, 2])) for frame in (0, 17)}
    assert width[17] > 1.25 * width[0]
    assert motion.last[rest[:, 0] < -0.1] == pytest.approx(rest[rest[:, 0] < -0.1], abs=5e-3)


def check_hyper_drop() -> None:
    """In free flight the centre falls as steps of implicit Euler say; on the floor nothing sinks in by a hundredth."""
    motion = play("hyper_drop", {"mesh": {"elements": 3000}, "time": {"frames": 40}})
    mass, height = motion.built.body.mass / motion.built.body.mass.sum(), float(np.ptp(motion.frames[0][:, 1]))
    fallen = float(mass @ (motion.frames[0] - motion.frames[8])[:, 1])
    assert fallen == pytest.approx(9.81 / 96**2 * 16 * 17 / 2, rel=1e-9)
    assert motion.rows[16].contacts > 0
    lowest = min(float(x[:, 1].min()) for x in motion.frames.values())
    assert -0.3 - 0.01 * height < lowest < -0.299
    assert float(np.ptp(motion.frames[24][:, 1])) < 0.9 * height


def check_balloon() -> None:
    """Blown up to three times its volume the bear has nearly that, and its own again in the end."""
    motion = play("balloon", {"mesh": {"resolution": 16}})
    body = motion.built.body
    volume = {frame: float(body.mesh.volumes() @ body.jacobians(x)) for frame, x in motion.frames.items()}
    assert volume[46] == pytest.approx(3.0 * volume[0], rel=0.1)
    assert volume[72] == pytest.approx(volume[0], rel=0.05)


def check_glove() -> None:
    """Hung up by a fingertip the glove is below it, its rubber no longer than it was along any edge by a fifth."""
    motion = play("glove", {"mesh": {"resolution": 24}, "time": {"frames": 30}})
    x, rest = motion.last, motion.built.mesh.vertices
    held = motion.built.body.pins.vertices
    assert x[held] == pytest.approx(rest[held])
    mass = motion.built.body.mass / motion.built.body.mass.sum()
    assert float(mass @ x[:, 1]) < x[held, 1].mean() - 0.03
    edges = motion.built.mesh.surface().edges()
    stretch = np.linalg.norm(np.diff(x[edges], axis=1), axis=2) / np.linalg.norm(np.diff(rest[edges], axis=1), axis=2)
    assert np.median(stretch) == pytest.approx(1.0, abs=0.02)
    assert np.quantile(stretch, 0.99) < 1.2


def check_untwist() -> None:
    """Let go, the end turns back by more than the half turn it was wound up by: it overshoots."""
    motion = play("untwist", {"mesh": {"resolution": 12}})
    end = motion.built.mesh.vertices[:, 0] > 0.499
    turned = []
    for frame in sorted(motion.frames):
        before, after = (x[end, 1:] - x[end, 1:].mean(axis=0) for x in (motion.frames[0], motion.frames[frame]))
        turned.append(np.arctan2(before[:, 0] @ after[:, 1] - before[:, 1] @ after[:, 0], (before * after).sum()))
    turned = np.degrees(np.unwrap(turned))
    assert turned[27] == pytest.approx(180.0, abs=0.5)
    assert -150.0 < turned.min() < -30.0


def check_skipping() -> None:
    """Most steps of the beam are skipped, and it swings as in full space."""
    small = {"mesh": {"resolution": 20}, "time": {"frames": 60}}
    skipping, full = play("skipping", small), play("skipping", {**small, "method": {"name": "full", "tolerance": 1e-4}})
    steps = [step for row in skipping.rows.values() for step in row.steps]
    assert sum(step.kind == "reduced" for step in steps) > 0.5 * len(steps)
    swung = np.abs(full.last - full.built.mesh.vertices).max()
    assert np.abs(skipping.last - full.last).max() < 1e-2 * swung


def check_pinch() -> None:
    """Pinched where its subspace knows nothing of it, the bar is that of full space; elsewhere it stays reduced."""
    small = {"mesh": {"resolution": 12}, "time": {"frames": 13}}
    careful, exact = {"tolerance": 0.01}, {"name": "full", "tolerance": 1e-4}  # 0.02 of all motion is 6 % at the tip
    pinched, full = play("pinch", {**small, "method": careful}), play("pinch", {**small, "method": exact})
    kinds = {row.kind for row in pinched.rows.values()}
    assert kinds == {"reduced", "hybrid"}
    assert 0.1 < max(row.full_share for row in pinched.rows.values()) < 0.7
    squeezed = np.abs(full.frames[12] - full.built.mesh.vertices).max()
    assert np.abs(pinched.frames[12] - full.frames[12]).max() < 0.05 * squeezed
    forces = [np.array(motion.rows[12].contact_forces)[:, 1] for motion in (pinched, full)]
    assert forces[0] == pytest.approx(forces[1], rel=0.05)


def check_flex() -> None:
    """Flexed, flesh that is five times as stiff hangs from the bone of the upper arm a fifth as far as slack flesh."""
    small = {"mesh": {"resolution": 16}, "time": {"frames": 24, "substeps": 1}}
    motion = play("flex", small)
    stiffening = motion.built.body.stiffening
    assert stiffening is not None
    hard = np.unique(motion.built.mesh.tets[stiffening.at(stiffening.poses[-1]) > 4.5])
    slack = play("flex", {**small, "method": {"name": "full"}, "material": {"pose": []}})
    sunk, deep = (
        np.mean([one.frames[k] - skin(one, k) for k in range(13, 25)], axis=0)[hard, 1].mean()
        for one in (motion, slack)
    )
    assert deep < -1e-4
    assert 0.15 < sunk / deep < 0.3


def check_paint() -> None:
    """The end painted soft sinks far, the other little, and each tetrahedron is as stiff as the paint says."""
    motion = play("paint", {"mesh": {"elements": 1500}})
    rest, body = motion.built.mesh.vertices, motion.built.body
    sunk = (rest - motion.last)[:, 1]
    left, right = (float(sunk[end].mean()) for end in (rest[:, 0] < -0.18, rest[:, 0] > 0.18))
    assert right > 0.05
    assert 0.0 < left < 0.3 * right
    (part,) = body.parts
    along = rest[part.tets].mean(axis=0)[:, 0] / 0.4 + 0.5
    assert np.abs(np.log(part.stiffness / 20.0) / np.log(0.05 / 20.0) - along).max() < 0.06


def check_two_bodies() -> None:
    """The ball lies on the arm, not in it, and but for the frame of the impact contact has settled."""
    motion = play("two_bodies", {"time": {"frames": 10}})
    arm = len(motion.built.members["arm"].mesh.vertices)
    assert motion.rows[10].body_contacts["ball"] > 0
    assert sum(row.contact_settled for row in motion.rows.values()) >= 9
    centre = motion.last[arm:].mean(axis=0)
    assert 0.09 < centre[1] < 0.125
    assert abs(centre[2]) < 0.01


CHECKS: dict[str, Callable[[], None]] = {
    name.removeprefix("check_"): check for name, check in globals().items() if name.startswith("check_")
}


@pytest.mark.filterwarnings("ignore:frame .* are inverted")  # beside joints, on the coarse meshes that tests take
@pytest.mark.parametrize("name", CHECKS)
def test_example_gives_the_right_number(name: str) -> None:
    CHECKS[name]()


def test_every_example_is_checked_and_starts_with_a_comment() -> None:
    files = sorted(EXAMPLES.glob("*.toml"))
    assert [file.stem for file in files] == sorted(CHECKS)
    assert all(file.read_text(encoding="utf-8").startswith("# ") for file in files)


#: Cells along the longest side with which the doctor looks at an example, where 6 would leave too little of it.
CELLS = {"bear": 16, "bend": 10, "cross": 10, "curl": 12, "flesh": 10, "flex": 24, "skin": 12, "wave": 24, "walk": 26}


@pytest.mark.parametrize("name", CHECKS)
def test_doctor_has_no_complaint_about_an_example(name: str) -> None:
    coarse = {"mesh": {"resolution": CELLS.get(name, 6), "elements": None}}
    stage = set_stage(load_scene(EXAMPLES / f"{name}.toml", coarse, allow_code=True))
    assert [finding for finding in diagnose(stage) if finding.severity != "note"] == []
