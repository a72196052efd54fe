"""The Yeti walks and pats its belly as the benchmarks of condensation say."""

from pathlib import Path

import numpy as np
import pytest

from supple.bench import condense_character, condense_flesh, condense_pat, condense_yeti
from supple.bench.condense_character import CASES, Puppet, list_poses
from supple.bench.condense_yeti import load_yeti, make_yeti
from supple.contact.self_contact import SelfContact
from supple.errors import FileFormatError
from supple.material import StableNeoHookean
from supple.rig import SkinnedRig, heat_weights

pytestmark = pytest.mark.filterwarnings("ignore::supple.errors.SuppleWarning")  # fingers are thinner than coarse tets


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    if not (shared_data / "gorilla").is_dir():
        pytest.skip("the Yeti's files are not here")
    return shared_data / "gorilla"


@pytest.fixture(scope="module")
def yeti(folder: Path) -> Puppet:
    return load_yeti(folder, 6_000)


def test_every_bone_with_length_is_kept(yeti: Puppet) -> None:
    assert len(yeti.skeleton) == 52
    assert np.linalg.norm(yeti.skeleton.tails - yeti.skeleton.heads, axis=1).min() > 0.04
    assert len(yeti.mesh.tets) == pytest.approx(6_000, rel=0.1)
    assert np.ptp(yeti.mesh.vertices[:, 1]) == pytest.approx(2.3, abs=0.1)


def test_a_hand_is_in_the_belly_in_no_learned_pose_but_in_the_pat(yeti: Puppet) -> None:
    rig = SkinnedRig(yeti.skeleton, heat_weights(yeti.mesh, yeti.skeleton), yeti.mesh.vertices)
    names = np.array(yeti.skeleton.names)[rig.influences.main_joints()]
    hand, belly = ([any(one in name for one in words) for name in names]
                   for words in (("LeftWrist", "LeftThumb", "LeftIndex"), ("Spine2", "Spine3")))  # fmt: skip
    contact = SelfContact(yeti.mesh)

    def touch(pose: np.ndarray) -> tuple[bool, bool]:
        touching = contact.find(rig.positions(pose)).vertex
        return bool(np.any(np.array(hand)[touching])), bool(np.any(np.array(belly)[touching]))

    for pose in list_poses(yeti, CASES["pat"].learned, CASES["pat"].poses):
        assert touch(pose) == (False, False)
    assert touch(yeti.poses["pat"]) == (True, True)


def test_feet_are_in_full_space_as_it_walks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(condense_flesh, "MATERIAL", StableNeoHookean(young=2e4, poisson=0.3))
    monkeypatch.setitem(condense_yeti._TETS, "small", 3_000)
    monkeypatch.setitem(condense_character.CASES, "walk", CASES["walk"]._replace(poses=2))
    case = make_yeti("walk", folder, "small", 2)
    track = case.condense(0.08, "subtract")
    assert all(report.contacts > 0 for report in track.reports)
    heights = case.body.mesh.vertices[:, 1]
    for full in track.full:
        assert 0 < len(full) < 0.2 * len(heights)
        assert heights[full].max() < 0.25 * heights.max()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"Yeti.gltf": None}, r"Yeti\.gltf cannot be found"),
        ({"Yeti.bin": None}, r"Yeti\.bin"),
        ({"Yeti.gltf": ("Yeti_LeftKnee", "Yeti_Knee")}, "has no joint 'Yeti_LeftKnee'"),
    ],
)
def test_a_folder_without_it_is_refused(
    folder: Path, tmp_path: Path, change: dict[str, tuple[str, str] | None], said: str
) -> None:
    for file in folder.iterdir():
        edit = change.get(file.name, ("", ""))
        if edit is not None:
            (tmp_path / file.name).write_bytes(file.read_bytes().replace(*(one.encode() for one in edit)))
    with pytest.raises(FileFormatError, match=said):
        next(condense_pat.run("small", mesh=tmp_path))
