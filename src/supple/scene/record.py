"""Frames into files as they come, and checkpoints from which a run goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from supple.contact.result import Touch
from supple.errors import OutputError
from supple.io import CacheInfo, Frame, FrameWriter, load_checkpoint, open_writer, probe, save_checkpoint
from supple.io.character import Character
from supple.io.fallback_places import fallback_places, make_fallback_folder
from supple.io.load_character import load_character
from supple.io.lock import locked
from supple.io.permit import Permit
from supple.io.record_character import keeps_character
from supple.io.watched import OutputRemovedError
from supple.mesh import Sheet
from supple.scene.kept import cache_folder
from supple.scene.monitor import Placed
from supple.scene.output_table import FIELDS
from supple.scene.permission import ask_outputs, checkpoint_path, make_permit, stamped
from supple.scene.replay import EventLog
from supple.scene.simulate import Simulated
from supple.scene.stage import Built
from supple.scene.versions import Versions
from supple.solve import event_to_dict

__all__ = ["Recorder", "probe_outputs"]

SAME = 1e-5  #: share of the body's size by which the meshes of a file and what is drawn may lie apart


def probe_outputs(outputs: Sequence[Path]) -> None:
    """Refuse outputs that cannot be written, of unknown formats or named twice, before long work starts."""
    seen: set[Path] = set()
    for path in outputs:
        probe(path)
        if path.resolve() in seen:
            raise OutputError(f"{path} is named twice as an output: give each file once.")
        seen.add(path.resolve())
    kept = checkpoint_path(outputs)
    if kept is not None and kept.resolve() in seen:
        raise OutputError(f"{kept} is where the checkpoint of this run goes: give that output another name.")


def stamp_run(built: Built, events: EventLog) -> str:
    """Fingerprint of all that decides how a run goes on; what is written and how long it runs does not."""
    bodies = "".join(stamp_run(one, {}) for one in built.members.values() if isinstance(one, Built))
    beside: Any = {
        "output": True,
        "mesh": True,
        "collider": True,
        "rig": True,
        "motion": True,
        "training": True,
        "time": {"frames"},
        "method": {"model"},
    }
    keys = built.scene.model_dump(mode="json", exclude=beside)
    replayed = {frame: [event_to_dict(event) for event in found] for frame, found in events.items()}
    sheet = built.mesh.triangles.tobytes() if isinstance(built.mesh, Sheet) else b""
    trained = "" if built.model is None else built.model.hash()
    driven = [obstacle.digest() for obstacle in built.drive.obstacles]
    driven += [] if built.drive.rigging is None else [built.drive.rigging.digest()]
    text = (
        json.dumps([keys, replayed, driven], sort_keys=True) + built.solver.name + built.body.hash() + trained + bodies
    )
    return hashlib.sha256(text.encode() + sheet).hexdigest()


def _list_contacts(touching: Touch | None) -> dict[str, NDArray[Any]]:
    """The points that touch as arrays by name, all empty where nothing does."""
    empty: dict[str, NDArray[Any]] = {
        "vertex": np.zeros(0, np.int32), "source": np.zeros(0, np.int32), "point": np.zeros((0, 3)),
        "normal": np.zeros((0, 3)), "depth": np.zeros(0), "force": np.zeros((0, 3)),
    }  # fmt: skip
    return empty if touching is None else {name: getattr(touching, name) for name in empty}


def _find_character(built: Built, path: Path) -> Character | None:
    """The character into whose file a run may be written back: a rigged one, or the meshes of a file as they stand."""
    if built.members:
        return None
    figure, render, file = built.source.figure, built.source.render, Path(built.scene.mesh.file or "")
    if figure is not None:
        return figure.character
    if render is None or built.scene.mesh.render is not True or not keeps_character(path, file):
        return None
    found = load_character(file, built.scene.metres)
    points = np.concatenate([part.vertices for part in found.parts])
    gap = np.abs(np.stack([points.min(axis=0), points.max(axis=0)]) - np.stack(render.surface.bounds())).max()
    return found if gap <= SAME * built.mesh.size() else None  # else its skin has it elsewhere than the body is


class Recorder:
    """The files of one run; closing it (it is a context) leaves every frame written so far readable."""

    def __init__(
        self,
        built: Built,
        outputs: Sequence[Path],
        *,
        resume: bool = False,
        events: EventLog | None = None,
        versions: Versions | None = None,
        permit: Permit | None = None,
    ) -> None:
        """`versions` knows what made each frame, where events change that; `built` is what it begins with.

        `permit` says what of an earlier run may be replaced, by default that of the same scene without a file.
        """
        self.files = tuple(outputs)
        self._built, self._versions = built, versions
        self._stamp = stamp_run(built, events or {})
        beside = checkpoint_path(outputs)
        #: where a checkpoint may lie, best first
        self._checkpoints = [] if beside is None else [beside, *fallback_places(beside, cache_folder())]
        probe_outputs(outputs)
        with ExitStack() as taken:
            taken.enter_context(locked(outputs))
            self.resumed = self._load() if resume else None  #: where the run goes on
            self._permit = permit or make_permit(built.scene, None, False)
            frames = built.scene.time.frames
            self.replaced = [] if resume else ask_outputs(self._permit, outputs, frames)  #: in words
            if not resume:
                self.discard_checkpoint()  # of an earlier run, whose frames go now
            with ExitStack() as opened:
                self._writers = [self._open(path, opened) for path in outputs]
                self._stack = opened.pop_all()  # from here on they stay open; had one failed, all were closed
            for path in outputs:
                self._permit.begin(stamped(path))
            self._locks = taken.pop_all()

    def _open(self, path: Path, opened: ExitStack) -> FrameWriter:
        """A writer that goes on where the run does; its closing is left to `opened`."""
        if path.suffix.lower() == ".pvd" and isinstance(self._built.mesh, Sheet):
            raise OutputError(f"{path} holds tetrahedra and a [shell] has none: name it .usdc, .usda, .npz or .obj.")
        scene = self._built.scene
        begun = self.resumed is not None and self.resumed.frame >= 0  # not still in the pre-roll
        writer = open_writer(
            path,
            self._built.body.mesh,
            CacheInfo(scene.time.fps, scene.up_axis, scene.metres, start_frame=0),
            render=self._built.source.render,
            colliders=self._built.collider_surfaces(),
            resume_at=self.resumed.frame + 1 if self.resumed is not None and begun else None,
            character=_find_character(self._built, path),
            clip=None if scene.motion is None else scene.motion.clip,
            tolerance=scene.output.tolerance,
            bodies=self._built.spans(),
        )
        opened.callback(writer.close)
        return writer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self.close()
        except OutputError:
            if kind is None:  # else what went wrong before is what matters
                raise
        finally:
            self._locks.close()

    def close(self) -> None:
        """Finish the files; further frames are not taken."""
        self._stack.close()
        for path in self.files:
            self._permit.done(stamped(path))

    def _made(self, frame: int) -> Built:
        """What makes a frame."""
        return self._built if self._versions is None else self._versions.at(frame)

    def write(self, now: Simulated) -> None:
        """Write a frame that is due; frames of the pre-roll are not."""
        if not self._is_due(now.frame):
            return
        frame = self._frame(now)
        for writer in self._writers:
            writer.write(frame)

    def lift(self, built: Built, frame: int, state: Any) -> Placed | None:
        """All vertices of a frame that is due; None for others."""
        return self._place(built, state) if self._is_due(frame) else None

    def _place(self, built: Built, state: Any) -> Placed:
        if "velocity" not in self._fields():
            return Placed(built.solver.positions(state))
        x, v, _ = built.solver.to_full(state)
        return Placed(x, v)

    def _is_due(self, frame: int) -> bool:
        return bool(self._writers) and frame >= 0 and frame % self._built.scene.output.every == 0

    def keep_up(self, now: Simulated) -> None:
        """Save a checkpoint when one is due."""
        every = self._built.scene.output.checkpoint
        if every and now.frame % every == 0:
            self.save(now)

    def save(self, now: Simulated) -> Path | None:
        """Save a checkpoint of this frame; where it lies, or None for a run without outputs.

        Where the folder of the outputs takes none, it lies where there is room.
        """
        if not self._checkpoints:
            return None
        arrays = self._made(now.frame).solver.pack(now.state)
        failure: OutputError | None = None
        for path in self._checkpoints:
            try:
                if failure is not None:
                    make_fallback_folder(path)
                save_checkpoint(path, arrays, {"stamp": self._stamp, "frame": now.frame})
                return path
            except (OutputError, OSError) as error:
                failure = failure or OutputError(str(error))
        assert failure is not None
        raise failure

    def rescue(self, now: Simulated | None, error: OutputError) -> OutputError:
        """What to say where writing has failed; the last state whose frames are all written is kept, if possible."""
        if isinstance(error, OutputRemovedError):
            return error
        with suppress(OutputError):
            kept = None if now is None else self.save(now)
            if now is not None and kept is not None:
                return OutputError(f"{error} Frame {now.frame} is kept in {kept}: go on with  --resume  then.")
        older = [str(path) for path in self._checkpoints if path.exists()]
        after = f"Go on from {older[0]} with  --resume  then." if older else "No checkpoint could be saved anywhere."
        return OutputError(f"{error} {after}")

    def discard_checkpoint(self) -> None:
        """Remove the checkpoints of a run that is done."""
        for path in self._checkpoints:
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _load(self) -> Simulated:
        """The frame and state of this run's checkpoint."""
        if not self._checkpoints:
            raise OutputError("a run without output leaves no checkpoint to resume: give the output it had.")
        there = [file for file in self._checkpoints if file.exists()]
        if not there:
            path = self._checkpoints[0]
            raise OutputError(f"{path} does not exist, so there is nothing to resume: run without --resume.")
        found = [(file, *load_checkpoint(file)) for file in there]
        fitting = [one for one in found if one[2].get("stamp") == self._stamp]
        if not fitting:
            raise OutputError(
                f"{there[0]} was left by another scene, mesh or replay log: run without --resume to start afresh."
            )
        path, arrays, meta = max(fitting, key=lambda one: int(one[2]["frame"]))
        frame, last = int(meta["frame"]), self._built.scene.time.frames
        if frame > last:
            raise OutputError(f"{path} is already at frame {frame}, past the last one, {last}: ask for more frames.")
        return Simulated(frame, self._made(frame).solver.unpack(arrays))

    def _frame(self, now: Simulated) -> Frame:
        """The frame with the fields that are asked for."""
        built = self._made(now.frame)
        asked, placed = self._fields(), now.placed
        if placed is None or (placed.v is None and "velocity" in asked):
            placed = self._place(built, now.state)
        x = placed.x
        points = self._contact_fields(now, asked)
        time = now.frame / built.scene.time.fps
        return Frame(
            index=now.frame,
            time=time,
            positions=x,
            velocities=placed.v,
            point_data=points,
            cell_data=self._strain_fields(now, x, asked),
            contacts=_list_contacts(now.touching) if points else None,
            colliders=built.drive.placements(time),
        )

    def _contact_fields(self, now: Simulated, asked: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        """Force on every vertex that touches or is touched [N], (n, 3), and how deep it touches [m], (n,)."""
        if self._built.contact is None:
            return {}
        count = len(self._built.mesh.vertices)
        force, depth = np.zeros((count, 3)), np.zeros(count)
        if now.touching is not None:
            force = now.touching.spread(count)
            np.maximum.at(depth, now.touching.vertex, now.touching.depth)
        values = {"contact_force": force, "contact_depth": depth}
        return {name: array for name, array in values.items() if name in asked}

    def _strain_fields(
        self, now: Simulated, x: NDArray[np.float64], asked: Sequence[str]
    ) -> dict[str, NDArray[np.float64]]:
        """Volume ratio, and von Mises stress [Pa] with the stiffness that events have left, of every tet, (m,)."""
        if isinstance(self._built.mesh, Sheet) or not {"J", "von_mises"} & set(asked):
            return {}
        built = self._made(now.frame)
        body, factor = built.drive.rest_body(now.frame / built.scene.time.fps), now.state.live.stiffness
        found = {"J": body.jacobians(x)} if "J" in asked else {}
        return found | ({"von_mises": factor * body.von_mises(x)} if "von_mises" in asked else {})

    def _fields(self) -> Sequence[str]:
        named = self._built.scene.output.fields
        if named is not None:
            return named
        rich = any(path.suffix.lower() in (".pvd", ".npz") for path in self.files)
        return FIELDS if rich else ("velocity",)
