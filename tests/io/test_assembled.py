"""Characters put together from a mesh, bones, weights and a motion in files of their own."""

import json

import numpy as np
import pytest
from scipy.spatial import cKDTree

from supple.errors import FileFormatError
from supple.io.assembled import RigFiles, assemble_character
from supple.io.bone_file import load_bones
from supple.io.dmat import load_dmat
from supple.rig.hinged import hinge_motion


def test_tgf_and_dmat_move_vertices_by_libigls_equation(shared_data):
    folder = shared_data / "elephant"
    rig = RigFiles(folder / "elephant.tgf", folder / "elephant-weights.dmat", folder / "elephant-anim.dmat")
    character = assemble_character(folder / "elephant.obj", rig)
    (part,), (clip,) = character.parts, character.clips
    raw = (folder / "elephant-weights.dmat").read_bytes()
    weights = np.frombuffer(raw[-8 * 24 * 6034 :], "<f8").reshape(24, 6034).T
    raw = (folder / "elephant-anim.dmat").read_bytes()
    columns = np.frombuffer(raw[-8 * 288 * 457 :], "<f8").reshape(457, 288)
    ones = np.column_stack([part.vertices, np.ones(6034)])
    blend = np.einsum("nb,nc->nbc", weights, ones).reshape(6034, 96)
    for frame in (0, 200, 456):
        wanted = blend @ columns[frame].reshape(3, 96).T
        assert np.abs(character.points(0, clip, frame) - wanted).max() < 1e-6 * np.ptp(wanted)
    assert (len(character.skeleton), len(clip.times)) == (24, 457)
    assert hinge_motion(character.skeleton, clip.times, clip.turns, clip.shifts).misses.max() < 1e-10
    assert any("took negative weights" in note for note in character.notes)


def test_pinocchios_bones_come_with_their_names(shared_data):
    folder = shared_data / "cheb"
    rig = RigFiles(folder / "cheb_skeleton.out", folder / "cheb_attachment.out")
    character = assemble_character(folder / "cheburashka.off", rig)
    skeleton, part = character.skeleton, character.parts[0]
    assert skeleton.names[0] == "shoulders"
    assert {"head", "lshoulder-bone", "lelbow"} < set(skeleton.names)
    assert "lhand" not in skeleton.names  # which turns nothing
    bone = skeleton.number("lelbow")
    assert skeleton.names[skeleton.parents[bone]] == "lshoulder"
    np.testing.assert_allclose(skeleton.heads[bone], skeleton.tails[skeleton.parents[bone]])
    table = np.loadtxt(folder / "cheb_attachment.out")
    np.testing.assert_allclose(part.influences.dense(len(skeleton)).max(axis=1), table.max(axis=1), rtol=1e-4)
    followers = part.vertices[part.influences.main_joints() == skeleton.number("head")]
    assert len(followers) > 500
    assert followers[:, 1].mean() > 0.55


def test_makehumans_bones_are_measured_by_its_mesh(shared_data):
    folder = shared_data / "human"
    rig = RigFiles(folder / "default.mhskel", folder / "default_weights.mhw")
    character = assemble_character(folder / "makehuman_base.obj", rig, 0.1, groups=["body"])
    (part,), skeleton = character.parts, character.skeleton
    assert (part.name, len(part.vertices), part.counts.max()) == ("body", 13380, 4)
    assert 1.4 < np.ptp(part.vertices[:, 1]) < 2.0
    low, high = part.vertices.min(axis=0), part.vertices.max(axis=0)
    assert ((skeleton.heads > low - 0.1) & (skeleton.heads < high + 0.1)).all()
    hand = part.vertices[part.influences.main_joints() == skeleton.number("wrist.L")]
    assert np.linalg.norm(hand.mean(axis=0) - skeleton.heads[skeleton.number("wrist.L")]) < 0.12
    assert any("normalised" in note for note in character.notes)


def test_json_rigs_of_tets_find_their_vertices_by_place(shared_data):
    folder = shared_data / "squid/cartoon_octopus"
    rig = RigFiles(folder / "skeleton_rig.json", folder / "skeleton_rig.json", folder / "float.json")
    character = assemble_character(folder / "cartoon_octopus.msh", rig)
    part, clip = character.parts[0], character.clips[0]
    tree = json.loads((folder / "skeleton_rig.json").read_text())
    moves = json.loads((folder / "float.json").read_text())["P"]
    V, W, rest = (np.array(tree[key]) for key in ("V", "W", "p0"))
    W = W / W.sum(axis=1, keepdims=True)
    square = np.concatenate([rest, np.tile([[[0, 0, 0, 1.0]]], (9, 1, 1))], axis=1)
    affine = np.array(moves[100]) @ np.linalg.inv(square)
    wanted = np.einsum("nb,bij,nj->ni", W, affine, np.column_stack([V, np.ones(len(V))]))
    near = cKDTree(V).query(part.vertices)[1]
    assert np.abs(character.points(0, clip, 100) - wanted[near]).max() < 1e-6
    standin = shared_data / "hand_standin"
    hand = assemble_character(standin / "mesh.npz", RigFiles(standin / "skeleton.json", standin / "mesh.npz"))
    assert (len(hand.skeleton), len(hand.parts[0].vertices)) == (10, 3198)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.tgf", "1 0 0 0\n2 1 0 0\n", "no line with #"),
        ("a.tgf", "1 0 0 0\n2 1 0 0\n#\n1 7\n", "joint that is not there"),
        ("a.out", "0 0 0 0 -1\n1 0 0 0 5\n", "not numbered from 0"),
        ("a.out", "0 0 0 -1\n", "not five numbers"),
        ("a.json", "[1]", "no object"),
        ("a.json", "{}", "neither bones nor p0"),
        ("a.json", '{"p0": 3, "pI": [], "lengths": 1}', "cannot be read"),
        ("a.mhskel", '{"joints": {"a": [9]}, "bones": {}}', "vertices that the mesh has not"),
        ("a.xyz", "1", "bones are read from"),
    ],
)
def test_damaged_bones_are_named(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(FileFormatError, match=words):
        load_bones(tmp_path / name, np.zeros((3, 3)))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"2 2\n1 2 3\n", "3 of the 4"),
        (b"0 0\n2 2\n12345678", "8 of the 32 bytes"),
        (b"99999999999 99999999999\n1", "would be"),
        (b"x", "does not begin"),
    ],
)
def test_damaged_matrices_are_named(tmp_path, data, words):
    (tmp_path / "a.dmat").write_bytes(data)
    with pytest.raises(FileFormatError, match=words):
        load_dmat(tmp_path / "a.dmat")


def test_weights_of_another_mesh_are_refused(shared_data):
    arm, elephant = shared_data / "arm", shared_data / "elephant"
    with pytest.raises(FileFormatError, match="8,311 vertices and 4 bones"):
        assemble_character(arm / "arm.obj", RigFiles(arm / "arm.tgf", elephant / "elephant-weights.dmat"))
