"""Running, stopping, failing and going on."""

import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supple.errors import ConvergenceError, OutputError
from supple.io import open_cache
from supple.scene import Built, FrameRow, SilentListener, build_scene, parse_scene, run_scene, simulate

SCENE: dict[str, Any] = {
    "time": {"fps": 24, "substeps": 2, "frames": 6, "preroll": 2, "integrator": "newmark"},
    "mesh": {"shape": "beam", "resolution": 5},
    "material": {"young": 5e4, "damping_stiffness": 0.001},
    "pin": [
        {"select": "min x", "move": [{"t": 0.0, "by": [0, 0, 0]}, {"t": 0.2, "by": [0, 0.1, 0]}]},
        {"select": "max x", "until": 0.1},
    ],
    "output": {"checkpoint": 2},
}


def build(**changes: Any) -> Built:
    return build_scene(parse_scene({**SCENE, **changes}))


class StopAt(SilentListener):
    """Presses Ctrl-C, or fails, when a frame is done."""

    def __init__(self, frame: int, error: Exception | None = None) -> None:
        self.stop, self.error = frame, error
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def frame(self, row: FrameRow) -> None:
        if row.frame == self.stop:
            if self.error is not None:
                raise self.error
            signal.raise_signal(signal.SIGINT)


class Spoiled:
    """A solver that fails, or loses its numbers, once a time is passed."""

    def __init__(self, solver: Any, time: float, nan: bool = False) -> None:
        self._solver, self._time, self._nan = solver, time, nan
        self.name = solver.name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._solver, name)

    def step(self, state: Any, inputs: Any) -> Any:
        if inputs.end.time > self._time and not self._nan:
            raise ConvergenceError("the step failed; use more substeps.")
        return self._solver.step(state, inputs)

    def to_full(self, state: Any) -> Any:
        x, v, a = self._solver.to_full(state)
        return (x * np.nan if self._nan and state.time > self._time else x), v, a


def recorded(path: Path) -> tuple[tuple[int, ...], list[NDArray[np.float64]]]:
    cache = open_cache(path)
    return cache.indices, [cache.surface_positions(place) for place in range(cache.frames)]


def same_run(one: Path, other: Path) -> bool:
    (frames, left), (others, right) = recorded(one), recorded(other)
    return frames == others and all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))


def test_frame_0_and_all_frames_are_written_and_the_preroll_is_not(tmp_path: Path) -> None:
    built = build()
    result = run_scene(built, [tmp_path / "a.npz"])
    frames, positions = recorded(tmp_path / "a.npz")
    assert frames == tuple(range(7))
    assert (result.frame, result.stopped, len(result.rows)) == (6, False, 8)
    assert not np.array_equal(positions[0], built.mesh.surface().vertices)


def test_same_scene_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in "ab":
        run_scene(build(), [tmp_path / f"{name}.npz"])
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize("stop", [-1, 3])
def test_stopped_and_resumed_equals_straight_through_bit_for_bit(tmp_path: Path, stop: int) -> None:
    files = [tmp_path / "a.npz", tmp_path / "a.usdc", tmp_path / "a.pvd"]
    whole = [tmp_path / "whole" / file.name for file in files]
    run_scene(build(), whole)
    listener = StopAt(stop)
    result = run_scene(build(), files, listener=listener)
    assert result.stopped
    assert result.frame == stop
    assert result.checkpoint == tmp_path / "a.npz.checkpoint.npz"
    assert any("stopping after this frame" in said for said in listener.said)
    if stop >= 0:
        assert recorded(files[0])[0] == recorded(files[1])[0] == tuple(range(stop + 1))
    again = run_scene(build(), files, resume=True)
    assert (again.frame, again.stopped) == (6, False)
    assert all(same_run(file, other) for file, other in zip(files, whole, strict=True))
    assert files[0].read_bytes() == whole[0].read_bytes()
    assert not (tmp_path / "a.npz.checkpoint.npz").exists()


def test_run_that_dies_goes_on_from_its_last_checkpoint(tmp_path: Path) -> None:
    run_scene(build(), [tmp_path / "whole.npz"])
    with pytest.raises(RuntimeError):
        run_scene(build(), [tmp_path / "a.npz"], listener=StopAt(5, RuntimeError()))
    assert recorded(tmp_path / "a.npz")[0] == tuple(range(6))
    run_scene(build(), [tmp_path / "a.npz"], resume=True)
    assert same_run(tmp_path / "a.npz", tmp_path / "whole.npz")


def test_stopped_run_may_go_on_for_longer(tmp_path: Path) -> None:
    longer = {"time": {**SCENE["time"], "frames": 8}}
    run_scene(build(**longer), [tmp_path / "whole.npz"])
    run_scene(build(), [tmp_path / "a.npz"], listener=StopAt(4))
    run_scene(build(**longer), [tmp_path / "a.npz"], resume=True)
    assert same_run(tmp_path / "a.npz", tmp_path / "whole.npz")


def test_checkpoint_of_another_scene_is_refused(tmp_path: Path) -> None:
    run_scene(build(), [tmp_path / "a.npz"], listener=StopAt(4))
    with pytest.raises(OutputError, match="left by another scene"):
        run_scene(build(material={"young": 6e4}), [tmp_path / "a.npz"], resume=True)
    assert recorded(tmp_path / "a.npz")[0] == tuple(range(5))


def test_nothing_to_resume_is_said(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="nothing to resume: run without --resume"):
        run_scene(build(), [tmp_path / "a.npz"], resume=True)
    with pytest.raises(OutputError, match="leaves no checkpoint"):
        run_scene(build(), resume=True)


@pytest.mark.parametrize("nan", [False, True])
def test_failing_frame_is_named_and_the_frames_before_it_stay(tmp_path: Path, nan: bool) -> None:
    built = build()
    spoiled = replace(built, solver=Spoiled(built.solver, 0.13, nan))
    with pytest.raises(ConvergenceError, match=r"^frame 4: .*use more substeps\.$"):
        run_scene(spoiled, [tmp_path / "a.npz", tmp_path / "a.usdc"])
    for name in ("a.npz", "a.usdc"):
        frames, positions = recorded(tmp_path / name)
        assert frames == (0, 1, 2, 3)
        assert all(np.isfinite(x).all() for x in positions)
    run_scene(built, [tmp_path / "a.npz"], resume=True)
    assert recorded(tmp_path / "a.npz")[0] == tuple(range(7))


def test_every_other_frame(tmp_path: Path) -> None:
    run_scene(build(output={"every": 2}), [tmp_path / "a.npz"], listener=StopAt(3))
    run_scene(build(output={"every": 2}), [tmp_path / "a.npz"], resume=True)
    assert recorded(tmp_path / "a.npz")[0] == (0, 2, 4, 6)


def test_fields_are_written_where_asked_for(tmp_path: Path) -> None:
    run_scene(build(output={"fields": ["J"]}), [tmp_path / "a.npz"])
    assert set(open_cache(tmp_path / "a.npz").fields) == {"displacement", "J"}
    run_scene(build(), [tmp_path / "b.pvd", tmp_path / "b.npz"])
    for name in ("b.pvd", "b.npz"):
        cache = open_cache(tmp_path / name)
        assert {"displacement", "velocity", "J", "von_mises"} <= set(cache.fields)
        assert cache.point_values("J", 6) == pytest.approx(1.0, abs=0.3)


def test_centimetres_move_like_metres_and_are_written_as_centimetres(tmp_path: Path) -> None:
    in_cm = {
        "units": "cm",
        "mesh": {"shape": "beam", "resolution": 5, "size": {"length": 100, "width": 20, "height": 20}},
        "pin": [
            {**SCENE["pin"][0], "move": [{"t": 0.0, "by": [0, 0, 0]}, {"t": 0.2, "by": [0, 10, 0]}]},
            SCENE["pin"][1],
        ],
    }
    run_scene(build(), [tmp_path / "m.usda"])
    run_scene(build(**in_cm), [tmp_path / "cm.usda"])
    text = (tmp_path / "cm.usda").read_text()
    assert "metersPerUnit = 0.01" in text
    for metre, centimetre in zip(recorded(tmp_path / "m.usda")[1], recorded(tmp_path / "cm.usda")[1], strict=True):
        assert centimetre == pytest.approx(metre, abs=1e-6)


def test_output_named_twice_or_of_unknown_format_is_refused_before_work(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="named twice"):
        run_scene(build(), [tmp_path / "a.npz", tmp_path / "." / "a.npz"])
    with pytest.raises(OutputError, match="one of these suffixes"):
        run_scene(build(), [tmp_path / "a.abc"])
    assert list(tmp_path.iterdir()) == []


def test_pin_lets_go_and_takes_hold_where_the_body_is() -> None:
    pins = [{"select": "min x", "until": 0.1}, {"select": "max x", "from": 0.2}]
    built = build(pin=pins, time={"fps": 20, "substeps": 1, "frames": 6})
    left, right = (part.vertices for part in built.drive.parts)
    frames = {now.frame: built.solver.positions(now.state) for now in simulate(built)}
    rest = built.mesh.vertices
    assert np.array_equal(frames[2][left], rest[left])
    assert (frames[4][left, 1] < rest[left, 1] - 0.01).all()
    assert (frames[4][right, 1] < rest[right, 1] - 0.05).all()
    assert np.array_equal(frames[5][right], frames[4][right])
    assert np.array_equal(frames[6][right], frames[4][right])


def test_start_velocity_and_spin_set_the_momenta() -> None:
    built = build(pin=[], gravity=False, start={"velocity": [1, 2, 3], "spin": [0, 0, 4]})
    mass, rest = built.body.mass, built.mesh.vertices
    assert mass @ built.velocity == pytest.approx(mass.sum() * np.array([1, 2, 3]))
    about = rest - mass @ rest / mass.sum()
    spin = mass @ np.cross(about, built.velocity)
    assert spin[2] == pytest.approx(4 * float(mass @ (about[:, 0] ** 2 + about[:, 1] ** 2)))


def test_resuming_past_the_last_frame_is_refused_and_keeps_the_checkpoint(tmp_path: Path) -> None:
    outputs = [tmp_path / "run.npz"]
    stopped = run_scene(build(), outputs, listener=StopAt(4))
    assert stopped.checkpoint is not None
    shorter = build(time={**SCENE["time"], "frames": 2})
    with pytest.raises(OutputError, match="ask for more frames"):
        run_scene(shorter, outputs, resume=True)
    assert stopped.checkpoint.exists()


def test_resuming_without_the_events_of_the_run_is_refused(tmp_path: Path) -> None:
    from supple.solve import SetStiffness

    outputs = [tmp_path / "run.npz"]
    run_scene(build(), outputs, events={1: (SetStiffness(2.0),)}, listener=StopAt(4))
    with pytest.raises(OutputError, match="replay log"):
        run_scene(build(), outputs, resume=True)
