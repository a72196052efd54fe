"""What a log and a terminal show of a run."""

import io

import pytest

from supple.scene.progress import FrameRow, LogListener, SilentListener, TerminalListener, pick_listener


def row(frame: int, ms: float = 12.0) -> FrameRow:
    return FrameRow(frame, frame / 24, ms, 3, 1e-5, 0, 1.0, 2.0, "full")


def test_frames_are_one_line_that_grows_with_the_time_left() -> None:
    stream = io.StringIO()
    ticks = iter([0.0, 10.0, 20.0])
    listener = LogListener(stream, clock=lambda: next(ticks))
    listener.begin(2)
    listener.frame(row(1))
    listener.frame(row(2))
    listener.end()
    assert stream.getvalue() == "2 frames: 50 % (10 s left), 100 %\n"


def test_a_message_amid_the_frames_stands_on_a_line_of_its_own() -> None:
    stream = io.StringIO()
    listener = LogListener(stream, clock=lambda: 0.0)
    listener.begin(2)
    listener.frame(row(1))
    listener.say("warning: something")
    listener.frame(row(2))
    listener.end()
    listener.end()
    assert stream.getvalue().splitlines() == ["2 frames: 50 % (0.0 s left)", "warning: something", "2 frames: 100 %"]


def test_each_frame_has_a_line_where_that_is_asked_for() -> None:
    stream = io.StringIO()
    ticks = iter([0.0, 10.0, 20.0])
    listener = LogListener(stream, clock=lambda: next(ticks), each=True)
    listener.begin(2)
    listener.frame(row(1))
    listener.frame(row(2))
    assert stream.getvalue().splitlines() == [
        "frame 1: 12.0 ms, 3 Newton iterations, 10 s left",
        "frame 2: 12.0 ms, 3 Newton iterations, 0.0 s left",
    ]


def test_steps_of_training_are_called_steps() -> None:
    stream = io.StringIO()
    for listener in (LogListener(stream), TerminalListener(stream)):
        listener.begin(1, "step")
        listener.frame(row(1))
        listener.end()
    assert "1 steps: 100 %" in stream.getvalue()
    assert "12.0 ms/step" in stream.getvalue()


def test_log_of_a_long_run_stays_short() -> None:
    stream = io.StringIO()
    listener = LogListener(stream)
    listener.begin(1000)
    for frame in range(1, 1001):
        listener.frame(row(frame))
    assert stream.getvalue().count("%") == 10


def test_terminal_bar_shows_the_mean_and_ends_cleanly() -> None:
    stream = io.StringIO()
    listener = TerminalListener(stream)
    listener.say("[not markup]")
    listener.begin(2)
    listener.frame(row(1, 10.0))
    listener.frame(row(2, 30.0))
    listener.end()
    listener.end()
    assert "[not markup]" in stream.getvalue()
    assert "20.0 ms/frame" in stream.getvalue()
    assert "2/2" in stream.getvalue()


def test_quiet_is_silent_and_a_pipe_gets_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(pick_listener(-1), SilentListener)
    assert isinstance(pick_listener(0), LogListener)
