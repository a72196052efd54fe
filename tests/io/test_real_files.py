"""Real files of other programs give the counts that their collection lists."""

import numpy as np
import pytest

from supple.io import MESH_SUFFIXES, load_surface, load_tets
from supple.io.source import mesh_suffix

TETS = {
    "simple/bar-14114.msh": (3842, 14114),  # Gmsh 4.1, text
    "simple/bar.msh": (1088, 3646),  # Gmsh 4.1, binary
    "simple/cylinder.msh": (510, 2430),  # Gmsh 1
    "simple/truthcylinder1.msh": (642, 2524),
    "liver/liver.msh": (181, 596),
    "elephant/elephant.msh": (7842, 29011),  # Gmsh 2.2, binary
    "squid/giant_squid/giant_squid.msh": (10166, 33386),
    "squid/cartoon_octopus/cartoon_octopus.msh": (16738, 60349),
    "armadillo/Armadillo13K.msh": (13230, 54985),
    "armadillo/Armadillo_Tetra_4406.vtu": (1446, 4406),
    "liver/liverFine.vtu": (4293, 22019),
    "simple/beam3_tet.veg": (208, 450),
    "dragon/asianDragon.veg": (959, 2591),
    "simple/arm_bend_0.02.tobj": (1495, 6182),
    "simple/c_20.tobj": (2546, 10624),
    "bear/bear.usd": (1986, 5354),
    "hand/hand.mesh": (7234, 29998),
    "armadillo/armadillo_65k.npz": (19192, 65088),
    "hand_standin/mesh.npz": (9894, 50816),
}
SURFACES = {
    "cheb/cheburashka.off": (6669, 13334),
    "arm/arm.obj": (8311, 16618),
    "head/decimated-max.obj": (5272, 10540),
    "elephant/elephant.obj": (6034, 12064),
    "armadillo/armadillo.obj": (43243, 86482),
    "dragon/asianDragon.obj": (25002, 50000),
    "dragon/dragon_vrip.ply.gz": (437645, 871414),
    "dragon/dragon_vrip_res2.ply.gz": (100250 - 43, 202520),  # 43 vertices in no face
}


@pytest.mark.parametrize("name", TETS)
def test_tets_of_a_real_file(shared_data, name):
    mesh = load_tets(shared_data / name)
    assert (len(mesh.vertices), len(mesh.tets)) == TETS[name]
    assert not any("inverted" in note for note in mesh.notes)  # listed as all positive
    assert (mesh.volumes() > 0).all()


@pytest.mark.parametrize("name", SURFACES)
def test_triangles_of_a_real_file(shared_data, name):
    mesh = load_surface(shared_data / name)
    assert (len(mesh.vertices), len(mesh.triangles)) == SURFACES[name]


GLTF = {
    "hand/generic-hand-left.glb": ("Mesh", 1159, 2314),
    "head/Alien.gltf": ("AlienHead", 7986, 15968),
    "human/CesiumMan.glb": ("Cesium_Man", 2338, 4672),
    "gorilla/Yeti.gltf": ("YetiBody_low", 11740, 23476),
    "bear/Fox.glb": ("fox1", 290, 576),
    "simple/RiggedSimple.glb": ("Cylinder", 96, 188),
}


@pytest.mark.parametrize("name", GLTF)
def test_a_part_of_a_real_gltf(shared_data, name):
    group, vertices, triangles = GLTF[name]
    mesh = load_surface(shared_data / name, groups=[group])
    assert (len(mesh.vertices), len(mesh.triangles)) == (vertices, triangles)
    assert mesh.is_closed()
    assert mesh.is_manifold()


def test_no_mesh_file_is_left_out(shared_data):
    files = [file for file in shared_data.rglob("*") if mesh_suffix(file) in MESH_SUFFIXES]
    found = {str(file.relative_to(shared_data)) for file in files}
    others = {"human/makehuman_base.obj"} | {name for name in found if name.startswith("hand_standin/")}
    assert found - others == {*TETS, *SURFACES, *GLTF} - others


def test_the_body_of_a_real_character_is_picked_by_its_group(shared_data):
    mesh = load_surface(shared_data / "human/makehuman_base.obj", groups=["body"])
    assert (len(mesh.vertices), len(mesh.triangles)) == (13380, 26756)
    assert set(np.unique(mesh.face_counts)) == {4}
    assert mesh.uv.shape == (4 * len(mesh.face_counts), 2)
    assert mesh.is_closed()
