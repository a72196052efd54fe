"""What the page is made of, without a page: scenes rebuilt, takes kept, numbers sorted into colours and plots."""

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from supple.cli import main
from supple.errors import MissingExtra, OutputError, SceneError
from supple.io import open_cache
from supple.scene import build_scene, load_scene, parse_scene
from supple.scene.progress import FrameRow, SilentListener
from supple.shape import make_shape
from supple.solve import Move, MoveCollider, SetStiffness
from supple.view import Take
from supple.view.bands import cut_bands
from supple.view.bones import is_bone_file, open_bones
from supple.view.fields import find_values, list_fields
from supple.view.figures import _step_back
from supple.view.guard import Guard
from supple.view.launch import Builder, Look, _find_scene, _serving, view_file
from supple.view.overlays import list_overlays
from supple.view.playback import Playback, RunReel
from supple.view.player import Shown
from supple.view.recording import save_events, save_take
from supple.view.room import Room
from supple.view.server import open_server, stop_server
from supple.view.stopping import listen_for_stop
from supple.view.surface import Surface
from supple.view.timing import pick_phases, stack_phases

SCENE = """
[time]
frames = 9
substeps = 2
[mesh]
shape = "box"
size = { length = 0.4, height = 0.2, width = 0.2 }
resolution = 4
[material]
young = 3e4
[[pin]]
select = "min x"
[[collider]]
shape = "plane"
at = [0.0, -0.12, 0.0]
[method]
tolerance = 1e-6
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "box.toml"
    path.write_text(SCENE)
    return path


def play(source: Path, frames: int = 4) -> Take:
    take = Take(Builder(Look(source, {})).begin(lambda _: None))
    x = take.built.solver.positions(take.now.state)
    take.act(Surface(take.built.mesh).grab("pull", x, np.array([0.2, 0.1, 0.0]), 800.0))
    take.act(SetStiffness(1.7))
    take.advance()
    take.act(Move("pull", (0.25, 0.3, 0.05)))
    take.act(MoveCollider(0, (0.0, 0.06, 0.0)))
    while take.now.frame < frames:
        take.advance()
    return take


def test_command_serves_a_page_until_it_is_interrupted(source: Path) -> None:
    pytest.importorskip("viser")
    words = [sys.executable, "-m", "supple", "view", str(source), "--no-open", "-v"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            said = next(line for line in running.stdout if "http://" in line)
            url = next(word for word in said.split() if word.startswith("http://127.0.0.1:"))
            with urllib.request.urlopen(url, timeout=10) as page:
                assert page.status == 200
                assert "connect-src 'self'" in page.headers["Content-Security-Policy"]
                assert b"<html" in page.read().lower()
            running.send_signal(signal.SIGINT)
            assert running.wait(20) == 0
            assert running.stdout.read() == ""  # viser says nothing of its own
        finally:
            running.kill()  # or one that does not stop is waited for


def test_interrupt_while_kernels_compile_is_no_crash(source: Path, tmp_path: Path) -> None:
    pytest.importorskip("viser")
    words = [sys.executable, "-m", "supple", "view", str(source), "--no-open"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "empty")}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as running:
        try:
            assert running.stdout is not None
            assert any("http://" in line for line in running.stdout)
            time.sleep(1.5)  # by now the page's own kernels compile
            running.send_signal(signal.SIGINT)
            assert running.wait(60) == 0
        finally:
            running.kill()


@pytest.mark.parametrize("moment", ["while it is furnished", "between its last look and its rest"])
def test_interrupt_ends_the_viewer_whenever_it_comes(moment: str) -> None:
    """A signal acts in the main thread, at any line of it."""

    class Worker:
        def __init__(self) -> None:
            self.wake, self.closed = threading.Condition(), False

        def run(self) -> None:
            with self.wake:
                while not self.closed:
                    if moment == "between its last look and its rest":
                        signal.raise_signal(signal.SIGINT)
                    assert self.wake.wait(10.0)

        def close(self) -> None:
            with self.wake:
                self.closed = True
                self.wake.notify_all()

    with listen_for_stop() as stop:
        worker = Worker()
        if moment == "while it is furnished":
            signal.raise_signal(signal.SIGINT)
        stop.run(worker)
    assert worker.closed
    with listen_for_stop() as stop:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)  # at once, then
        pytest.fail("went on")


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_other_machines_are_let_in_only_with_a_warning(source: Path, host: str, warned: bool) -> None:
    pytest.importorskip("viser")
    said: list[str] = []
    warnings: list[str] = []
    with _serving(Look(source, {}, host=host, open=False), said.append, warnings.append) as (server, _):
        assert server.get_host() == host
    assert f"http://{host}:" in said[0]
    assert any("other machines" in line for line in warnings) is warned


def test_demonstration_opens_live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Look] = []
    monkeypatch.setattr("supple.view.launch.view_file", lambda look, *_: looks.append(look) or {})
    assert main(["demo", "full", "--view", "-o", str(tmp_path), "-q"]) == 0
    (look,) = looks
    assert look.source == tmp_path / "full.toml"
    assert load_scene(look.source).method.name == "full"
    assert look.folder == tmp_path  # where recordings go, too


def test_recording_is_shown_frame_by_frame(source: Path, tmp_path: Path) -> None:
    pytest.importorskip("viser")
    cache = open_cache(save_take(play(source), tmp_path, "box", ".npz"))
    server = open_server(Guard("127.0.0.1"), "box-1.npz")
    try:
        playback = Playback(server, RunReel(cache))
        playback.show(3)
        assert server.scene.get_handle_by_name("/body").vertices == pytest.approx(
            Room.around(cache.surface_positions(0), "y").enter(cache.surface_positions(3))
        )
        playback._shift(9)
        assert playback._frame.value == cache.frames - 1
    finally:
        stop_server(server)


def test_bones_are_lines_that_go_through_their_motion(tmp_path: Path) -> None:
    file = tmp_path / "arm.bvh"
    file.write_text(
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nJOINT b\n{\nOFFSET 1 0 0\n"
        "CHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 1 0 0\n}\n}\n}\n"
        "MOTION\nFrames: 2\nFrame Time: 0.1\n0 0 0 0 0 0\n0 0 0 90 0 0\n"
    )
    assert is_bone_file(file)
    reel = open_bones(file)
    assert reel.describe() == "2 joints, 2 frames of motion"
    assert reel.times == pytest.approx([0.0, 0.1])
    straight, bent = reel.lines(0), reel.lines(1)
    assert straight[:2] == pytest.approx(np.array([[[0, 0, 0], [1, 0, 0]], [[1, 0, 0], [2, 0, 0]]], float), abs=1e-9)
    assert bent[1] == pytest.approx(np.array([[1, 0, 0], [1, 1, 0]], float), abs=1e-9)
    (tmp_path / "arm.tgf").write_text("1 0 0 0\n2 1 0 0\n#\n1 2\n")
    still = open_bones(tmp_path / "arm.tgf")
    assert (len(still.times), still.lines(0).shape[1:]) == (1, (2, 3))
    server = open_server(Guard("127.0.0.1"), "arm.bvh")
    try:
        playback = Playback(server, reel)
        playback.show(1)
        assert np.abs(server.scene.get_handle_by_name("/bones").points).max() > 0.1
        Playback(server, still).toggle()
    finally:
        stop_server(server)


def test_missing_viser_is_told_before_anything_is_built(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supple.view.server.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[view\]'"):
        view_file(Look(source, {}), SilentListener(), print, print)


@pytest.mark.parametrize(("said", "threads"), [(None, 3), (2, 2)])
def test_one_core_is_left_to_the_page(
    said: int | None, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr("supple.view.launch.require_viser", lambda: None)
    monkeypatch.setattr("supple.view.launch.available_threads", lambda: 4)
    monkeypatch.setattr("supple.view.launch.set_threads", asked.append)
    with pytest.raises(SceneError, match="is not beside it"):
        view_file(Look(tmp_path / "a.model.npz", {}, threads=said), SilentListener(), print, print)
    assert asked == [threads]


def test_kept_events_make_the_same_frames_by_the_command_that_is_told(source: Path, tmp_path: Path) -> None:
    take = play(source)
    seen = save_take(take, tmp_path, "box", ".npz")
    log, command = save_events(take, tmp_path, source)
    assert log.name == "box-2.jsonl"  # nothing is written over
    words = shlex.split(command)
    assert words[:2] == ["supple", "run"]
    assert main([*words[1:], "-o", str(tmp_path / "run.npz"), "-q"]) == 0
    with np.load(seen) as live, np.load(tmp_path / "run.npz") as run:
        assert live.files == run.files
        assert all(np.array_equal(live[name], run[name]) for name in live.files)


def test_picture_and_film_are_drawn_of_a_take(source: Path, tmp_path: Path) -> None:
    take = play(source)
    assert save_take(take, tmp_path, "box", ".png", "displacement", 2).stat().st_size > 1000
    assert open_cache(save_take(take, tmp_path, "box", ".pc2")).frames == 5


def test_frames_that_are_gone_cannot_be_kept(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supple.view.take.MEMORY", 0)
    with pytest.raises(OutputError, match="frames before 3 are not kept"):
        save_take(play(source), tmp_path, "box", ".npz")


def test_fields_are_those_of_the_frame(source: Path) -> None:
    take = play(source)
    x = take.built.solver.positions(take.now.state)
    assert list_fields(take.built) == ["displacement", "J", "von_mises", "contact_force"]
    found = {name: find_values(name, take.built, take.now, x) for name in list_fields(take.built)}
    moved = np.linalg.norm(x - take.built.mesh.vertices, axis=1)
    assert np.array_equal(found["displacement"], moved)
    J = take.built.body.jacobians(x)
    assert J.min() <= found["J"].min() <= found["J"].max() <= J.max()
    assert take.now.touching is not None
    pressed = np.flatnonzero(found["contact_force"])
    assert set(pressed) == set(take.now.touching.vertex.tolist())
    overlays = list_overlays(take.built)
    shown = Shown(take, take.built, take.built, take.now, x, 4, False, None)
    assert list(overlays) == ["pins", "contacts"]
    assert overlays["pins"][0](shown) == pytest.approx(x[take.built.body.pins.vertices])
    assert len(overlays["contacts"][0](shown)) == len(take.now.touching)


def test_samples_and_full_space_are_shown(source: Path) -> None:
    text = source.read_text(encoding="utf-8")
    built = Builder(Look(source, {}, method="hyperreduced")).begin(lambda _: None)
    take = Take(built)
    shown = Shown(take, take.built, take.built, take.now, built.solver.positions(take.now.state), 0, False, None)
    samples = list_overlays(built)["contact samples"][0](shown)
    surface = shown.x[built.mesh.surface_vertices()]
    assert 0 < len(samples) <= len(surface)
    assert np.isin(samples, surface).all()
    source.write_text(text.replace("frames = 9", "frames = 2"), encoding="utf-8")
    training = {"training": {"cases": 2, "heldout": 1, "steps": 6}, "method": {"rank": 6}}
    built = Builder(Look(source, training, method="condensation")).begin(lambda _: None)
    take = Take(built)
    take.act(MoveCollider(0, (0.0, 0.06, 0.0)))
    take.advance()
    shown = Shown(take, take.built, take.built, take.now, built.solver.positions(take.now.state), 1, False, None)
    full = list_overlays(built)["full space"][0](shown)
    assert len(full) == len(take.now.state.full) > 0


def test_a_model_is_shown_by_the_scene_beside_it(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match=r"a\.toml is not beside it"):
        _find_scene(Look(tmp_path / "a.model.npz", {}))
    (tmp_path / "a.toml").touch()
    found = _find_scene(Look(tmp_path / "a.model.npz", {}))
    assert found.source == tmp_path / "a.toml"
    assert found.changes == {"method": {"model": str((tmp_path / "a.model.npz").resolve())}}


def test_surface_is_cut_where_values_pass_from_band_to_band() -> None:
    surface = make_shape("sphere", resolution=5).surface()
    points, triangles = surface.vertices, surface.triangles
    low, high = points[:, 0].min(), points[:, 0].max()
    cut, bands = cut_bands(points, triangles, (points[:, 0] - low) / (high - low), 7)
    assert np.array_equal(cut[: len(points)], points)

    def sides(x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return 0.5 * np.cross(x[rows[:, 1]] - x[rows[:, 0]], x[rows[:, 2]] - x[rows[:, 0]])

    assert len(bands) == 7
    for number, rows in enumerate(bands):  # each piece within its band, seen from the same side
        place = 7 * (cut[rows, 0] - low) / (high - low)
        assert number - 1e-9 <= place.min() <= place.max() <= number + 1 + 1e-9
        assert (np.sum(sides(cut, rows) * cut[rows].mean(axis=1), axis=1) >= -1e-15).all()
    whole, pieces = sides(points, triangles), sides(cut, np.concatenate(bands))
    assert np.linalg.norm(pieces, axis=1).sum() == pytest.approx(np.linalg.norm(whole, axis=1).sum())


def test_surface_of_one_value_is_one_band() -> None:
    triangles = np.array([[0, 1, 2], [1, 3, 2]], np.int32)
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    cut, bands = cut_bands(points, triangles, np.full(4, 0.5), 4)
    assert len(cut) == 4
    assert [len(rows) for rows in bands] == [0, 0, 2, 0]


def test_phases_are_stacked_to_the_whole() -> None:
    rows = [
        FrameRow(k, 0.0, 10.0, 1, 0.0, 0, 0.0, 0.0, "full", phases={"solve": 6.0, "a": 1.0, "other": 2.0})
        for k in (1, 2)
    ]
    named = pick_phases(rows[0])
    assert named == ["solve", "a"]
    assert stack_phases(rows, named).tolist() == [[6.0, 6.0], [7.0, 7.0], [10.0, 10.0]]


def test_page_measures_in_body_sizes() -> None:
    points = np.array([[0.0, 0.0, 0.0], [0.02, 0.04, 0.04]])
    room = Room.around(points, "y")
    assert room.size == pytest.approx(0.06)
    assert np.linalg.norm(np.diff(room.enter(points), axis=0)) == pytest.approx(1.0)
    assert room.leave(room.enter(points)) == pytest.approx(points, abs=1e-8)


@pytest.mark.parametrize("up_axis", ["y", "z"])
@pytest.mark.parametrize("aspect", [0.4, 0.55, 0.9, 1.6])
def test_narrow_window_shows_the_whole_body_above_its_middle(aspect: float, up_axis: str) -> None:
    room = Room(np.zeros(3), 1.0, up_axis)
    camera = SimpleNamespace(aspect=aspect, position=room.eye, look_at=np.zeros(3))
    _step_back(SimpleNamespace(camera=camera), room)
    ahead = (camera.look_at - camera.position) / np.linalg.norm(camera.look_at - camera.position)
    right = np.cross(ahead, room.up) / np.linalg.norm(np.cross(ahead, room.up))
    depth, height = -camera.position @ ahead, -camera.position @ np.cross(right, ahead)
    tall, wide = np.tan(0.35) * depth, np.tan(0.35) * aspect * depth  # halves of what is seen at the body's depth
    assert min(wide, tall - height) > 0.5  # the body's size is 1
    assert height > 0.3 * tall if aspect < 0.6 else height >= -1e-12


def test_point_of_a_render_mesh_is_held_by_the_tets_around_it(tmp_path: Path) -> None:
    from supple.io import save_surface

    fine = build_scene(parse_scene({"mesh": {"shape": "box", "resolution": 5}})).mesh.surface()
    save_surface(tmp_path / "fine.obj", fine)
    tables = {"mesh": {"shape": "box", "resolution": 2, "render": str(tmp_path / "fine.obj")}}
    built = build_scene(parse_scene(tables))
    surface = Surface(built.mesh, built.source.render)
    point = np.array([0.5, 0.13, -0.21])
    grab = surface.grab("pull", built.mesh.vertices, point, 1.0)
    assert np.sum(grab.weights) == pytest.approx(1.0)
    assert np.asarray(grab.weights) @ built.mesh.vertices[list(grab.vertices)] == pytest.approx(point)
