"""Conforming tets: a mesher that works, and stand-ins for one that crashes, hangs or eats memory."""

import importlib
import importlib.util
import re
import time

import numpy as np
import pytest

from supple.errors import MissingExtra
from supple.mesh import TriMesh, fill_box
from supple.mesh.conform import ConformLimits, conform

LIMITS = ConformLimits(seconds=20.0, memory=3 * 2**30)
SAVE = "import numpy as np, sys\nnp.savez(sys.argv[2], vertices=np.array({points}), tets=np.array({tets}))\n"
SAVE_ONCE = """import numpy as np, sys
given = np.load(sys.argv[1])
if len(given['triangles']) % 2:  # a hole
    sys.exit('the surface is not closed')
"""


@pytest.fixture
def box():
    return fill_box((0, 0, 0), (0.3, 0.2, 0.1), resolution=3)


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Puts a program in the place of the mesher."""

    def put(text: str) -> None:
        (tmp_path / "stand_in.py").write_text(text)
        module = importlib.import_module("supple.mesh.conform")
        monkeypatch.setattr(module, "SCRIPT", tmp_path / "stand_in.py")
        monkeypatch.setattr(module, "require_mesher", lambda: None)

    return put


def script_of(mesh) -> str:
    return SAVE.format(points=mesh.vertices.tolist(), tets=mesh.tets.tolist())


def test_tets_of_the_mesher_are_taken_and_turned_right(box, stand_in):
    stand_in(SAVE.format(points=box.vertices.tolist(), tets=box.tets[:, [1, 0, 2, 3]].tolist()))
    mesh, attempts = conform(box.surface(), 100, limits=LIMITS)
    assert [attempt.how for attempt in attempts] == ["as given"]
    assert mesh.volumes().sum() == pytest.approx(0.006)
    assert "inverted" in mesh.notes[0]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("import os; os.kill(os.getpid(), 11)", r"crashed \(SIGSEGV\)"),
        ("x = bytearray(1 << 40)", "needed more memory than it may have"),
        ("raise SystemExit('self-intersecting input')", "failed .*: self-intersecting input"),
        ("pass", "ended without a mesh"),
        (SAVE.format(points=np.eye(4)[:, :3].tolist(), tets=[[0, 1, 2, 3]]), "of the surface's volume"),
    ],
)
def test_a_mesher_that_fails_is_tried_again_and_then_replaced(box, stand_in, text, outcome):
    stand_in(text)
    mesh, attempts = conform(box.surface(), 300, limits=LIMITS)
    assert [attempt.how.split(" (")[0] for attempt in attempts] == ["as given", "repaired", "stuffing"]
    for attempt in attempts[:2]:
        assert re.search(outcome, attempt.outcome)
    assert (mesh.volumes() > 0).all()
    assert mesh.volumes().sum() == pytest.approx(0.006, rel=0.15)
    assert any(note.startswith("stuffing") for note in mesh.notes)


def test_a_mesher_that_hangs_is_ended(box, stand_in):
    stand_in("import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'while True: pass'])")
    begin = time.perf_counter()
    attempts = conform(box.surface(), 300, limits=ConformLimits(seconds=1.0, memory=2**31))[1]
    assert time.perf_counter() - begin < 15.0
    assert all("did not end within 1 s" in attempt.outcome for attempt in attempts[:2])


def test_a_surface_with_a_hole_is_repaired_for_the_mesher(box, stand_in):
    whole = box.surface()
    stand_in(SAVE_ONCE + script_of(box))
    mesh, attempts = conform(TriMesh.clean(whole.vertices, whole.triangles[1:]), 100, limits=LIMITS)
    assert [attempt.how for attempt in attempts] == ["as given", "repaired (closed 1 hole with 1 triangle)"]
    assert attempts[0].outcome.endswith("the surface is not closed")
    assert len(mesh.tets) == len(box.tets)


def test_without_the_extra_its_name_is_told(box):
    if importlib.util.find_spec("wildmeshing") is not None:
        pytest.skip("wildmeshing is here")
    with pytest.raises(MissingExtra, match=r"pip install '\.\[mesh\]'"):
        conform(box.surface())


def test_wildmeshing_keeps_to_a_box(box):
    pytest.importorskip("wildmeshing")
    mesh, attempts = conform(box.surface(), 200)
    assert [attempt.how for attempt in attempts] == ["as given"]
    assert mesh.volumes().sum() == pytest.approx(0.006, rel=1e-3)
    outer = mesh.vertices[mesh.surface_vertices()]
    off = np.minimum(np.abs(outer), np.abs(outer - [0.3, 0.2, 0.1])).min(axis=1)
    assert off.max() < 1e-3 * np.linalg.norm([0.3, 0.2, 0.1])  # the mesher's own tolerance
