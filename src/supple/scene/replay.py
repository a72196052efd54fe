"""Events recorded in one run and replayed in another."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from supple.errors import FileFormatError, SuppleError
from supple.solve import Event, event_from_dict

__all__ = ["EventLog", "load_events"]

EventLog = Mapping[int, tuple[Event, ...]]


def load_events(path: str | Path) -> EventLog:
    """Events by the frame they follow, from JSON lines `{"frame": 12, "event": {...}}`."""
    path = Path(path)
    events: defaultdict[int, list[Event]] = defaultdict(list)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path} cannot be read ({error}): give a log of events, one a line.") from None
    for number, line in enumerate(lines, start=1):
        if line.strip():
            frame, event = _read_line(line, f"{path}, line {number}")
            events[frame].append(event)
    return {frame: tuple(found) for frame, found in events.items()}


def _read_line(line: str, place: str) -> tuple[int, Event]:
    """Frame and event of one line."""
    try:
        entry = json.loads(line)
        frame, data = entry["frame"], entry["event"]
    except (json.JSONDecodeError, KeyError, TypeError):
        raise FileFormatError(f'{place} is no event: write {{"frame": 12, "event": {{...}}}}.') from None
    if not isinstance(frame, int) or isinstance(frame, bool):
        raise FileFormatError(f"{place} has frame = {frame!r}: give a whole number.")
    try:
        return frame, event_from_dict(data)
    except (SuppleError, ValueError, KeyError, TypeError) as error:
        raise FileFormatError(f"{place} holds no known event ({error}): correct or remove the line.") from None
