"""Playing a scene without a page: what is done is logged, what is shown is the newest, errors do not end it."""

import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from supple.errors import ConvergenceError, SuppleWarning
from supple.scene import Recorder, build_scene, load_events, parse_scene, run_scene
from supple.scene.replay import save_log
from supple.solve import Move, Release, SetGravity
from supple.view import Player, Shown, Take
from supple.view.mailbox import Mailbox
from supple.view.reference import Reference
from supple.view.surface import Surface

TABLES = {
    "mesh": {"shape": "box", "resolution": 2},
    "material": {"young": 1e4},
    "time": {"frames": 6, "substeps": 2},
    "pin": [{"select": "min y"}],
}


def make_take() -> Take:
    return Take(build_scene(parse_scene(TABLES)))


@contextmanager
def playing(player: Player) -> Iterator[Callable[[Callable[[Shown], bool]], Shown]]:
    """The player at work in a thread; what is yielded waits until something is shown that passes a test."""
    thread = threading.Thread(target=player.run)
    thread.start()

    def wait(passes: Callable[[Shown], bool]) -> Shown:
        end = time.monotonic() + 20.0
        while time.monotonic() < end:
            shown = player.shown.fetch(0.5)
            if shown is not None and passes(shown):
                return shown
        raise AssertionError("never shown")

    try:
        yield wait
    finally:
        player.close()
        thread.join(20.0)


def test_only_the_newest_item_waits() -> None:
    box: Mailbox[int] = Mailbox()
    for item in range(5):
        box.put(item)
    assert box.fetch(0.0) == 4
    assert box.fetch(0.0) is None
    assert box.dropped == 4


def test_pulled_point_goes_after_the_pointer_and_is_let_go() -> None:
    take = make_take()
    surface = Surface(take.built.mesh)
    x = take.built.solver.positions(take.now.state)
    grab = surface.grab("pull", x, np.array([0.4, 0.6, 0.3]), 500.0 * take.built.body.mass.sum())
    assert np.sum(grab.weights) == pytest.approx(1.0)
    assert np.asarray(grab.weights) @ x[list(grab.vertices)] == pytest.approx([0.4, 0.5, 0.3])
    take.act(grab)
    take.act(Move("pull", (0.5, 0.6, 0.3)))
    take.act(Move("pull", (0.9, 0.7, 0.3)))
    assert len(take.log[0]) == 2  # of moves within a frame the last counts
    assert take.held()["pull"].target == (0.9, 0.7, 0.3)
    for _ in range(6):
        take.advance()
    there = np.asarray(grab.weights) @ take.built.solver.positions(take.now.state)[list(grab.vertices)]
    assert np.linalg.norm(there - [0.9, 0.7, 0.3]) < 0.5 * np.linalg.norm(np.array([0.4, 0.5, 0.3]) - [0.9, 0.7, 0.3])
    take.act(Release("pull"))
    assert not take.held()
    take.advance()
    assert not take.now.state.live.grabs


def test_log_of_a_take_replays_bit_for_bit(tmp_path: Path) -> None:
    take = make_take()
    x = take.built.solver.positions(take.now.state)
    take.act(Surface(take.built.mesh).grab("pull", x, np.array([0.5, 0.5, 0.5]), 300.0))
    take.advance()
    take.act(Move("pull", (0.7, 1.1, 0.3)))
    take.act(SetGravity((0.0, 1.0 / 3.0, 0.1)))
    while take.now.frame < 6:
        take.advance()
    save_log(tmp_path / "take.jsonl", take.log)
    run_scene(build_scene(parse_scene(TABLES)), [tmp_path / "run.npz"], events=load_events(tmp_path / "take.jsonl"))
    with Recorder(take.built, [tmp_path / "take.npz"]) as recorder:
        for frame in take:
            recorder.write(frame)
    with np.load(tmp_path / "run.npz") as run, np.load(tmp_path / "take.npz") as live:
        assert run.files == live.files
        assert all(np.array_equal(run[name], live[name]) for name in run.files)


def test_player_plays_while_watched_and_stands_when_paused() -> None:
    player = Player(build_scene(parse_scene(TABLES)), hurry=True)
    with playing(player) as wait:
        player.play()
        time.sleep(0.1)
        assert wait(lambda shown: shown.playing).last == 0  # nobody watches
        player.watch(1)
        wait(lambda shown: shown.last >= 8)  # beyond the scene's last frame
        player.pause()
        stood = wait(lambda shown: not shown.playing).last
        player.step()
        assert wait(lambda shown: shown.last > stood).last == stood + 1
        player.seek(3)
        seen = wait(lambda shown: shown.now.frame == 3)
        assert seen.last == stood + 1
        player.act(SetGravity((0.0, 0.0, 0.0)))
        player.reset()
        fresh = wait(lambda shown: shown.last == 0)
        assert fresh.take.log == {0: (SetGravity((0.0, 0.0, 0.0)),)}  # settings outlive a reset


def test_player_keeps_real_time() -> None:
    player = Player(build_scene(parse_scene({**TABLES, "time": {"fps": 50.0, "substeps": 1}})))
    with playing(player) as wait:
        player.watch(1)
        player.play()
        wait(lambda shown: shown.last >= 1)  # compiled
        player.pause()
        stood = wait(lambda shown: not shown.playing).last
        begin = time.monotonic()  # no frame comes unseen before it
        player.play()
        shown = wait(lambda shown: shown.last >= stood + 20)
        assert time.monotonic() - begin >= 0.35
        assert shown.speed is not None
        assert shown.speed < 1.2


def test_error_is_shown_and_the_player_lives_on(monkeypatch: pytest.MonkeyPatch) -> None:
    player = Player(build_scene(parse_scene(TABLES)), hurry=True)
    failing = True

    def step(*given: object) -> object:
        if failing:
            raise ConvergenceError("element 3 turned inside out: use more substeps.")
        return own(*given)

    with playing(player) as wait:
        solver = wait(lambda shown: True).take.built.solver
        own = solver.step
        monkeypatch.setattr(solver, "step", step)
        player.watch(1)
        player.play()
        shown = wait(lambda shown: bool(shown.error))
        assert "frame 1: element 3" in shown.error
        assert not shown.playing
        failing = False
        player.play()
        assert not wait(lambda shown: shown.last >= 2).error


def test_warning_is_shown_once(monkeypatch: pytest.MonkeyPatch) -> None:
    player = Player(build_scene(parse_scene(TABLES)), hurry=True)

    def step(*given: object) -> object:
        warnings.warn("the pose is far from any trained pose.", SuppleWarning, stacklevel=2)
        return own(*given)

    with warnings.catch_warnings():
        warnings.simplefilter("always", SuppleWarning)
        with playing(player) as wait:
            solver = wait(lambda shown: True).take.built.solver
            own = solver.step
            monkeypatch.setattr(solver, "step", step)
            player.watch(1)
            for _ in range(2):
                player.step()
            shown = wait(lambda shown: shown.last == 2)
    assert shown.warned == ("the pose is far from any trained pose.",)


def test_scene_that_cannot_be_made_leaves_the_old_one() -> None:
    player = Player(build_scene(parse_scene(TABLES)), hurry=True)
    with playing(player) as wait:
        player.watch(1)
        player.step()
        wait(lambda shown: shown.last == 1)
        player.change({"method": {"name": "posespace"}})
        shown = wait(lambda shown: "no [rig]" in shown.error)
        assert shown.following.solver.name == "full"
        assert shown.take.log == {1: ()}
        player.step()
        wait(lambda shown: shown.last == 2)
        player.change({"material": {"damping_mass": 3.0}})
        player.change({"method": {"name": "projective"}})
        shown = wait(lambda shown: shown.following.solver.name == "projective")
        assert (shown.last, shown.built.solver.name, shown.error) == (2, "full", "")
        player.step()
        shown = wait(lambda shown: shown.last == 3)
        assert (shown.built.solver.name, shown.built.body.damping.mass) == ("projective", 3.0)
        player.seek(1)
        assert wait(lambda shown: shown.now.frame == 1).built.solver.name == "full"
        player.reset()
        assert wait(lambda shown: shown.last == 0).built.solver.name == "projective"


def test_error_is_the_distance_from_the_full_solution_under_the_same_events() -> None:
    tables = {**TABLES, "method": {"name": "skipping", "throttle": 0.0}, "time": {"frames": 6, "substeps": 1}}
    player = Player(build_scene(parse_scene(tables)), hurry=True)
    with playing(player) as wait:
        player.watch(1)
        player.act(SetGravity((0.0, 0.0, 9.0)))
        for _ in range(3):
            player.step()
        wait(lambda shown: shown.last == 3)
        player.colour("error")
        shown = wait(lambda shown: shown.values is not None)
        assert shown.values is not None
        assert shown.values.max() < 1e-9  # with a throttle of 0 no step is skipped
        moved = build_scene(parse_scene(TABLES | {"time": tables["time"]}))
        assert np.abs(shown.x - moved.mesh.vertices).max() > 1e-3


def test_reference_is_a_full_run_of_the_log() -> None:
    take = make_take()
    take.advance()
    take.act(SetGravity((0.0, 3.0, 0.0)))
    take.advance()
    take.advance()
    reference = Reference(take)
    assert np.array_equal(
        reference.positions(3, lambda _: None),
        take.built.solver.positions(take.now.state),  # type: ignore[arg-type]
    )
    assert np.array_equal(
        reference.positions(1, lambda _: None),
        take.built.solver.positions(take.find(1).state),  # type: ignore[arg-type]
    )
