"""Models in pose space on disk: whole and for their own body and rig, or refused with the reason."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from posespace_helpers import PoseSpaceSolver, beam_model, bend_beam, drive

from supple.elastic import Damping
from supple.errors import FileFormatError, TrainingError
from supple.io.model_archive import POSESPACE, read_members, write_members
from supple.io.model_file import load_model
from supple.io.posespace_file import is_posespace_file, load_posespace, save_posespace
from supple.method.posespace.model import PoseSpaceModel
from supple.rig import Bend


@pytest.fixture(scope="module")
def model() -> PoseSpaceModel:
    body, rig, _ = bend_beam(6)
    return replace(beam_model(body, rig, 0.9, 3, 4, 6), error=0.02, facts={"tolerance": 0.1 + 0.2})


def test_a_model_comes_back_bit_for_bit_and_runs_the_same(tmp_path: Path, model: PoseSpaceModel) -> None:
    body, rig, held = bend_beam(6)
    path = save_posespace(tmp_path / "beam.model.npz", model, body, rig)
    assert is_posespace_file(path)
    found = load_posespace(path, body, rig)
    assert found.hash() == model.hash()
    for name, array in model.arrays().items():
        assert found.arrays()[name].dtype == array.dtype
    assert (found.stiffest, found.error, found.facts) == (model.stiffest, 0.02, {"tolerance": 0.1 + 0.2})
    ends = []
    for one in (model, found):
        solver = PoseSpaceSolver(body, rig, one)
        ends.append(drive(solver, held, lambda time: np.array([time]), 0.02, 5)[-1])
    assert np.array_equal(ends[0].y, ends[1].y)
    again = save_posespace(tmp_path / "again.npz", found, body, rig)
    assert again.read_bytes() == path.read_bytes()


def test_other_bodies_and_rigs_are_refused(tmp_path: Path, model: PoseSpaceModel) -> None:
    body, rig, _ = bend_beam(6)
    path = save_posespace(tmp_path / "beam.model.npz", model, body, rig)
    with pytest.raises(TrainingError, match="another body, which"):
        load_posespace(path, replace(body, damping=Damping(3.0)), rig)
    line = (0.3, 0.06, 0.08), (0.8, 0.06, 0.08), (0.0, 0.0, 1.0)
    with pytest.raises(TrainingError, match="moves its vertices elsewhere"):
        load_posespace(path, body, Bend(body.mesh.vertices, *line))
    with pytest.raises(TrainingError, match="other controls"):
        load_posespace(path, body, Bend(body.mesh.vertices, *line, name="other"))
    with pytest.raises(TrainingError, match="rest shape"):
        load_model(path, body)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("gram", np.zeros((2, 6, 6)), "do not fit"),
        ("columns", np.zeros((3, 3, 6), np.float32), "do not fit"),
        ("edges", np.full(1, np.nan, np.float32), "'edges'"),
        ("gravity", np.zeros((3, 3, 6), np.float32), "'gravity'"),
        ("corners", None, "outside"),
        ("weights", None, "below zero"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, model: PoseSpaceModel, name: str, value, words: str) -> None:
    body, rig, _ = bend_beam(6)
    path = save_posespace(tmp_path / "beam.model.npz", model, body, rig)
    values, arrays = read_members(path, POSESPACE)
    write_members(path, POSESPACE, values, {**arrays, name: -1 - arrays[name] if value is None else value})
    with pytest.raises(FileFormatError, match=words):
        load_posespace(path)
