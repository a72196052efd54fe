"""Events recorded in one run and replayed in another."""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from pathlib import Path

from supple.errors import FileFormatError, SceneError, SuppleError, SuppleWarning
from supple.io.files import writing
from supple.io.tree import parse_json
from supple.scene.drive import Drive
from supple.solve import Event, MoveCollider, SetPose, SetScene, event_from_dict, event_to_dict

__all__ = ["EventLog", "check_events", "load_events", "save_log"]

EventLog = dict[int, tuple[Event, ...]]


def load_events(path: str | Path) -> EventLog:
    """Events by the frame they follow, from JSON lines `{"frame": 12, "event": {...}}`."""
    path = Path(path)
    events: defaultdict[int, list[Event]] = defaultdict(list)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path} cannot be read ({error}): give a log of events, one a line.") from None
    for number, line in enumerate(lines, start=1):
        if line.strip():
            frame, event = _read_line(line, f"{path}, line {number}")
            events[frame].append(_place_model(event, path.parent) if isinstance(event, SetScene) else event)
    return {frame: tuple(found) for frame, found in events.items()}


def save_log(path: Path, events: EventLog) -> None:
    """Write events one a line, as `load_events` reads them."""
    entries = ((frame, event) for frame, found in sorted(events.items()) for event in found)
    lines = [json.dumps({"frame": frame, "event": event_to_dict(event)}) + "\n" for frame, event in entries]
    with writing(path):
        path.write_text("".join(lines), encoding="utf-8")


def _place_model(event: SetScene, folder: Path) -> SetScene:
    """The event with its model, which lies where the log says from its own folder."""
    method = event.changes.get("method", {})
    if "model" not in method:
        return event
    return SetScene({**event.changes, "method": {**method, "model": str(folder / str(method["model"]))}})


def _read_line(line: str, place: str) -> tuple[int, Event]:
    """Frame and event of one line."""
    try:
        entry = parse_json(line)
        frame, data = entry["frame"], entry["event"]
    except (ValueError, LookupError, TypeError):
        raise FileFormatError(f'{place} is no event: write {{"frame": 12, "event": {{...}}}}.') from None
    if not isinstance(frame, int) or isinstance(frame, bool):
        raise FileFormatError(f"{place} has frame = {str(frame)[:40]}: give a whole number.")
    try:
        return frame, event_from_dict(data)
    except SuppleError as error:
        raise FileFormatError(f"{place}: {error}") from None


def check_events(events: EventLog, drive: Drive, frames: int) -> None:
    """Refuse events that name what the scene does not have; warn of those that come after the last frame."""
    for frame, found in events.items():
        for event in found:
            wrong = _find_unknown(event, drive)
            if wrong is not None:
                raise SceneError(f"an event of frame {frame} {wrong}: correct it.")
    late = sorted(frame for frame in events if frame >= frames)
    if late:
        warnings.warn(f"events from frame {late[0]} on come after the last step and do nothing.", SuppleWarning, 2)


def _find_unknown(event: Event, drive: Drive) -> str | None:
    """What an event names that is not there."""
    count, solids = len(drive.body.mesh.vertices), len(drive.obstacles)
    wrong = [vertex for vertex in getattr(event, "vertices", ()) if vertex >= count]
    if wrong:
        return f"names vertex {wrong[0]}, but the mesh has {count}"
    if isinstance(event, MoveCollider) and event.collider >= solids:
        return f"moves collider {event.collider}, but the scene has {solids}"
    if isinstance(event, SetPose):
        controls = 0 if drive.rigging is None else len(drive.rigging.rig.controls)
        if len(event.change) != controls:
            return f"sets a pose of {len(event.change)} numbers, but the rig has {controls}"
    return None
