"""What hands add to the motions of rig and colliders while a scene runs."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.solve import Event, MoveCollider, Placement, SetPose

__all__ = ["Steering"]

FloatArray = NDArray[np.float64]
POSE = -1  #: track of the pose; colliders have their numbers
ROUND = 1e-6  #: frames within which a time is that of a frame


class Steering:
    """Changes of pose and of colliders' places as functions of time alone.

    An event that follows frame k is carried out steadily on the way to frame k + 1. The log may grow at its end
    meanwhile: what follows a frame changes nothing before it.
    """

    def __init__(self, log: dict[int, tuple[Event, ...]], fps: float) -> None:
        self._log, self._fps = log, fps
        self._read: object = None
        self._tracks: dict[int, tuple[list[int], list[FloatArray]]] = {}

    def pose(self, time: float) -> FloatArray | None:
        """What is added to the pose at `time` [s], (p,); None where nobody has touched it."""
        return self._at(POSE, time)

    def place(self, number: int, placement: Placement, time: float) -> Placement:
        """Where a collider stands at `time` [s] that would stand at `placement`."""
        found = self._at(number, time)
        if found is None:
            return placement
        turn = Rotation.from_rotvec(found[3:]).as_matrix()
        return Placement(turn @ placement.rotation, placement.translation + found[:3])

    def _at(self, track: int, time: float) -> FloatArray | None:
        """The numbers of a track at `time` [s]."""
        frames, values = self._list_tracks().get(track, ([], []))
        frame = time * self._fps
        frame = round(frame) if abs(frame - round(frame)) < ROUND else frame
        last = bisect_left(frames, frame) - 1
        if last < 0:
            return None
        now, share = values[last], min(frame - frames[last], 1.0)
        if share == 1.0:
            return now
        before = values[last - 1] if last > 0 else np.zeros_like(now)
        return share * now + (1.0 - share) * before

    def _list_tracks(self) -> dict[int, tuple[list[int], list[FloatArray]]]:
        """Frames and numbers of every track, read anew when the log has grown."""
        end = (len(self._log), self._log[next(reversed(self._log))] if self._log else ())
        if end == self._read:
            return self._tracks
        self._read, self._tracks = end, {}
        for frame in sorted(self._log):
            for event in self._log[frame]:
                if isinstance(event, SetPose):
                    self._add(POSE, frame, event.change)
                elif isinstance(event, MoveCollider):
                    self._add(event.collider, frame, (*event.shift, *event.turn))
        return self._tracks

    def _add(self, track: int, frame: int, numbers: tuple[float, ...]) -> None:
        """Note what an event sets; the last of a frame counts."""
        frames, values = self._tracks.setdefault(track, ([], []))
        if frames and frames[-1] == frame:
            values.pop()
        else:
            frames.append(frame)
        values.append(np.array(numbers, np.float64))
