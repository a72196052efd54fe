"""The clock of what a method costs: compiling and loading are left out, however deep, and all else counts."""

import time

import numba

from supple.linalg.work_clock import compile_seconds, preparing, work_clock
from supple.scene import SilentListener, build_scene, parse_scene, run_scene
from supple.solve.stopwatch import Stopwatch


def compile_something() -> None:
    """Compile two loops, one of which calls the other: neither was ever compiled before."""
    numba.njit(lambda x: inner(x) + 1.0)(1.0)


def inner(x):
    return x


inner = numba.njit(inner)


def test_compiling_takes_no_time_and_is_told_by_itself() -> None:
    compile_something()  # what Numba sets up at first is no compiling
    began, clock, compiled, stopwatch = time.perf_counter(), work_clock(), compile_seconds(), Stopwatch()
    with stopwatch.phase("first call"):
        compile_something()
        time.sleep(0.02)
    wall, spent, told = time.perf_counter() - began, work_clock() - clock, compile_seconds() - compiled
    assert told > 0.0
    assert wall - spent >= told > 0.5 * (wall - spent)
    assert spent >= 0.02
    assert stopwatch.finish()["total"] <= 1e3 * spent + 1.0


def test_the_clock_stands_still_in_nested_blocks_and_goes_on_after_an_error() -> None:
    clock = work_clock()
    try:
        with preparing(), preparing():
            time.sleep(0.05)
            inside = work_clock()
            raise ValueError
    except ValueError:
        pass
    assert inside - clock < 0.04
    assert work_clock() - clock < 0.04
    time.sleep(0.01)
    assert work_clock() - clock >= 0.01


def test_frames_of_a_run_hold_no_compiling(monkeypatch) -> None:
    scene = {"mesh": {"shape": "beam", "resolution": 4}, "pin": [{"select": "min x"}], "time": {"frames": 2}}
    built = build_scene(parse_scene(scene))
    run_scene(built, listener=SilentListener())  # compiles what it needs
    step = type(built.solver).step

    def compile_and_step(solver, state, inputs):
        began = compile_seconds()
        while compile_seconds() < began + 0.5:
            compile_something()
        return step(solver, state, inputs)

    monkeypatch.setattr(type(built.solver), "step", compile_and_step)
    rows = run_scene(built, listener=SilentListener()).rows
    assert all(row.frame_ms < 500.0 for row in rows)  # two steps with half a second of compiling each
