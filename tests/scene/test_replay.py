"""Events from a log."""

import json
from pathlib import Path

import numpy as np
import pytest

from supple.errors import FileFormatError
from supple.scene import build_scene, load_events, parse_scene, simulate
from supple.solve import RemovePin, SetGravity, event_to_dict

LOG = [
    {"frame": 1, "event": event_to_dict(SetGravity((0.0, 0.0, 0.0)))},
    {"frame": 3, "event": event_to_dict(RemovePin((0, 1)))},
    {"frame": 3, "event": event_to_dict(SetGravity((0.0, 1.0, 0.0)))},
]


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def test_events_come_back_by_frame_in_order(tmp_path: Path) -> None:
    events = load_events(write(tmp_path / "log.jsonl", *map(json.dumps, LOG), ""))
    assert events == {1: (SetGravity((0.0, 0.0, 0.0)),), 3: (RemovePin((0, 1)), SetGravity((0.0, 1.0, 0.0)))}


def test_event_acts_after_its_frame(tmp_path: Path) -> None:
    tables = {"mesh": {"shape": "box", "resolution": 1}, "time": {"frames": 3, "substeps": 1}}
    events = load_events(write(tmp_path / "log.jsonl", json.dumps(LOG[0])))
    built = build_scene(parse_scene(tables))
    plain = [built.solver.to_full(now.state)[1][:, 1].mean() for now in simulate(built)]
    stilled = [built.solver.to_full(now.state)[1][:, 1].mean() for now in simulate(built, events=events)]
    assert np.diff(plain) == pytest.approx([-9.81 / 24] * 2)
    assert stilled == pytest.approx([-9.81 / 24] * 3)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2 is no event"),
        ('{"event": {}}', "line 2 is no event"),
        ("7", "line 2 is no event"),
        ('{"frame": 1.5, "event": {}}', "frame = 1.5"),
        ('{"frame": 1, "event": {"kind": "Jump"}}', "is not known"),
        ('{"frame": 1, "event": 3}', "is no event"),
    ],
)
def test_bad_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(FileFormatError, match=said):
        load_events(write(tmp_path / "log.jsonl", json.dumps(LOG[0]), line))


def test_missing_log_is_a_file_error(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="cannot be read"):
        load_events(tmp_path / "none.jsonl")
