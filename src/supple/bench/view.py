"""The viewer: what 60 updates a second of a mesh cost on the server's side."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.bench.registry import Size
from supple.scene.build import build_scene
from supple.scene.load import parse_scene
from supple.scene.stage import Built
from supple.view.figures import Figures
from supple.view.guard import Guard
from supple.view.player import Shown
from supple.view.server import open_server, stop_server
from supple.view.take import Take

__all__ = ["run"]

RATE = 60.0  #: updates a second
SHARE = 0.25  #: of a core that they may cost
SECONDS = {"small": 3.0, "paper": 20.0}
SIDES = {"small": (100,), "paper": (50, 100, 200)}  #: vertices along a side of the sheet
# Counts the messages that bring vertices, as a browser would get them, until the server goes
READER = """
import sys
from websockets.sync.client import connect
from websockets.exceptions import ConnectionClosed
url, version, least = sys.argv[1], sys.argv[2], int(sys.argv[3])
count = size = 0
with connect(url.rstrip("/").replace("http", "ws"), subprotocols=["viser-v" + version], max_size=None) as socket:
    print("ready", flush=True)
    try:
        while True:
            message = socket.recv()
            count += len(message) > least
            size += len(message)
    except ConnectionClosed:
        pass
print(count, size)
"""


def run(size: Size) -> list[dict[str, Any]]:
    """One row a mesh: updates sent and received a second, and the share of a core that the server needed."""
    return [_measure(side, SECONDS[size]) for side in SIDES[size]]


def _measure(side: int, seconds: float) -> dict[str, Any]:
    import viser

    built = _make_sheet(side)
    guard = Guard("127.0.0.1")
    server = open_server(guard, "bench")
    try:
        figures, take = Figures(server, built), Take(built)
        rest = built.mesh.vertices
        reader = subprocess.Popen(
            [sys.executable, "-P", "-c", READER, guard.url, viser.__version__, str(12 * len(rest))],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert reader.stdout is not None
        reader.stdout.readline()
        shown = Shown(take, take.built, take.built, take.now, rest, 0, True, None)
        _update(figures, shown, rest, 0.5)  # what is sent once, and the warming up
        spent, sent, lasted = _update(figures, shown, rest, seconds)
    finally:
        stop_server(server)
    received, total = (int(word) for word in reader.communicate(timeout=30)[0].split())
    return {
        "vertices": len(rest),
        "updates_per_s": round(sent / lasted, 1),
        "received_per_s": round(received / (lasted + 0.5), 1),
        "kilobytes_per_update": round(total / max(received, 1) / 1e3, 1),
        "ms_per_update": round(1e3 * spent / sent, 3),
        "core_share": round(spent / lasted, 3),
        "limit": SHARE,
    }


def _update(figures: Figures, shown: Shown, rest: NDArray[np.float64], seconds: float) -> tuple[float, int, float]:
    """Processor time [s], updates and time [s] of so many seconds in which the mesh waves."""
    sent, cpu, begin = 0, time.process_time(), time.perf_counter()
    while (now := time.perf_counter() - begin) < seconds:
        x = rest + [0.0, 0.02 * np.sin(8.0 * now), 0.0]
        figures.update(replace(shown, now=shown.now._replace(frame=sent), x=x))
        sent += 1
        time.sleep(max(0.0, sent / RATE - (time.perf_counter() - begin)))
    return time.process_time() - cpu, sent, time.perf_counter() - begin


def _make_sheet(side: int) -> Built:
    """A scene with a square sheet of side x side vertices."""
    grid = np.stack(np.meshgrid(*2 * [np.linspace(0.0, 1.0, side)], indexing="ij"), axis=-1).reshape(-1, 2)
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel() + 1
    faces = np.concatenate([np.stack(each, axis=1) for each in (
        (corner, corner + 1, corner + side), (corner + 1, corner + side + 1, corner + side))])  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sheet.obj"
        lines = [f"v {x:.6f} 0 {z:.6f}" for x, z in grid] + [f"f {a} {b} {c}" for a, b, c in faces]
        file.write_text("\n".join(lines) + "\n")
        tables = {
            "mesh": {"file": str(file)},
            "shell": {"thickness": 0.001},
            "method": {"name": "projective", "iterations": 1},
        }
        return build_scene(parse_scene({**tables, "pin": [{"select": "min x"}]}))
