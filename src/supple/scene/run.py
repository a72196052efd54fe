"""A scene run from its beginning, or from a checkpoint, to its last frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from supple.errors import ConvergenceError, OutputError
from supple.io.permit import Permit
from supple.linalg.work_clock import work_clock
from supple.scene.interrupt import StopRequest, stop_on_interrupt
from supple.scene.kernels import announce_compilation
from supple.scene.permission import make_permit
from supple.scene.prepare import prepare_scene, save_learned
from supple.scene.progress import FrameRow, Listener, SilentListener
from supple.scene.record import Recorder
from supple.scene.replay import EventLog
from supple.scene.simulate import simulate, start_scene
from supple.scene.stage import Built
from supple.scene.timeline import Timeline
from supple.scene.unconverged import warn_unconverged
from supple.scene.versions import Versions

__all__ = ["RunResult", "run_scene"]


@dataclass(frozen=True)
class RunResult:
    """What a run left behind."""

    frame: int  #: the last frame that was simulated
    stopped: bool  #: someone asked it to stop before the end
    files: tuple[Path, ...]
    checkpoint: Path | None  #: where it can be resumed, when it was stopped
    rows: tuple[FrameRow, ...] = field(repr=False, default=())
    timeline: Path | None = None  #: what each step was, for a method that skips some
    model: Path | None = None  #: what was learned on the way, where the scene asks for it

    @property
    def ms_per_frame(self) -> float:
        """Median solving time of a frame [ms]: those that another process delays count little."""
        return median(row.ms for row in self.rows) if self.rows else 0.0


def run_scene(
    built: Built,
    outputs: Sequence[Path] = (),
    *,
    resume: bool = False,
    events: EventLog | None = None,
    listener: Listener | None = None,
    source: Path | None = None,
    overwrite: bool = False,
) -> RunResult:
    """Simulate every frame, writing as they come; Ctrl-C stops after a frame and leaves a checkpoint.

    A resumed run equals an uninterrupted one, bit for bit. Where events change the method to one that is trained, its
    model is named by them, or lies beside `source`, the scene's file, or is trained.

    Files that are there are replaced where supple wrote them for the same scene and method, or with `overwrite`.
    """
    listener = listener or SilentListener()
    log: EventLog = {} if events is None else events
    versions = Versions(built, log, lambda stage: prepare_scene(stage, listener, source, overwrite=overwrite))
    built = versions.newest
    permit = make_permit(built.scene, source, overwrite)
    if built.scene.method.save is not None:
        permit.ask(Path(built.scene.method.save))
    with (
        announce_compilation(listener.say),
        stop_on_interrupt(listener.say) as request,
        Recorder(built, outputs, resume=resume, events=events, versions=versions, permit=permit) as recorder,
    ):
        for words in recorder.replaced:
            listener.say(words)
        timeline = Timeline(outputs, recorder.resumed, built.scene.time.step)
        try:
            return _record_frames(versions, recorder, timeline, log, listener, request, permit)
        finally:
            listener.end()


def _record_frames(
    versions: Versions,
    recorder: Recorder,
    timeline: Timeline,
    events: EventLog,
    listener: Listener,
    request: StopRequest,
    permit: Permit,
) -> RunResult:
    """Simulate what is left to do, recording each frame."""
    built = versions.newest
    last = built.scene.time.frames
    written = recorder.resumed  # the last state whose frames are all in the files
    start = now = recorder.resumed or start_scene(built)
    rows: list[FrameRow] = []
    try:
        if recorder.resumed is None:
            recorder.write(start)
        written = start
        listener.begin(last - start.frame)
        for now in simulate(built, start, events, versions, recorder.lift):
            begun = work_clock()
            recorder.write(now)
            if now.row is not None:
                row = replace(now.row, frame_ms=(now.row.frame_ms or 0.0) + 1e3 * (work_clock() - begun))
                rows.append(row)
                timeline.add(row)
                listener.frame(row)
            written = now
            if request.asked and now.frame < last:
                break
            recorder.keep_up(now)
        warn_unconverged(versions.at(now.frame).scene.method, rows)
        if now.frame < last:
            checkpoint = recorder.save(now)
            recorder.close()
            return RunResult(now.frame, True, recorder.files, checkpoint, tuple(rows), timeline.file)
        learned = save_learned(versions.at(now.frame), now.state, listener)
        if learned is not None:
            permit.done(learned)
        recorder.close()
    except ConvergenceError:
        recorder.save(written or now)
        raise
    except OutputError as error:
        raise recorder.rescue(written, error) from error
    recorder.discard_checkpoint()
    return RunResult(now.frame, False, recorder.files, None, tuple(rows), timeline.file, learned)
