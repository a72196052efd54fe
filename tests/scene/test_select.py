"""The selection language on a known mesh."""

import numpy as np
import pytest

from supple.errors import SceneError
from supple.mesh import TetMesh
from supple.scene.select import Select, select_tets, select_vertices


@pytest.fixture(scope="module")
def bar() -> TetMesh:
    """Eleven unit steps along x, one along y and z; vertex 4 i + j has x = i; region 7 is called "tip"."""
    corners = [(i, y, z) for i in range(12) for y in (0.0, 1.0) for z in (0.0, 1.0)]
    paths = ((0, 1, 3, 7), (0, 1, 5, 7), (0, 2, 3, 7), (0, 2, 6, 7), (0, 4, 5, 7), (0, 4, 6, 7))
    tets = [[4 * i + corner for corner in path] for i in range(11) for path in paths]
    regions = np.repeat([0] * 9 + [7] * 2, 6)
    return TetMesh.clean(np.array(corners), np.array(tets), regions, {"tip": 7})


def vertices(what: object, mesh: TetMesh) -> list[int]:
    return [int(vertex) for vertex in select_vertices(Select.model_validate(what), mesh, "pin[0]")]


def test_side_takes_one_percent_of_the_body_by_default(bar: TetMesh) -> None:
    assert vertices("min x", bar) == [0, 1, 2, 3]
    assert vertices("max x", bar) == [44, 45, 46, 47]
    assert len(vertices("max  y", bar)) == 24


def test_side_takes_a_thickness_or_a_share(bar: TetMesh) -> None:
    assert vertices("min x 1.0", bar) == list(range(8))
    assert vertices("min x 1.5", bar) == list(range(8))
    assert vertices("max x 50%", bar) == list(range(24, 48))


def test_all_is_everything(bar: TetMesh) -> None:
    assert vertices("all", bar) == list(range(48))


def test_box_sphere_and_half_space(bar: TetMesh) -> None:
    assert vertices({"box": [[-1, -1, -1], [0.5, 0.5, 2]]}, bar) == [0, 1]
    assert vertices({"sphere": {"center": [0, 0, 0], "radius": 1.0}}, bar) == [0, 1, 2, 4]
    assert vertices({"half_space": {"point": [10.5, 0, 0], "normal": [3, 0, 0]}}, bar) == [44, 45, 46, 47]


def test_list_is_a_union(bar: TetMesh) -> None:
    assert vertices(["min x", {"vertices": [47, 5]}], bar) == [0, 1, 2, 3, 5, 47]


def test_region_by_name_or_number(bar: TetMesh) -> None:
    assert vertices({"region": "tip"}, bar) == list(range(36, 48))
    assert vertices({"region": 7}, bar) == list(range(36, 48))
    assert select_tets(Select.model_validate({"region": "tip"}), bar, "k").tolist() == list(range(54, 66))


def test_tets_are_chosen_by_centroid_or_by_all_their_vertices(bar: TetMesh) -> None:
    assert select_tets(Select.model_validate("min x 1.0"), bar, "k").tolist() == list(range(6))
    assert select_tets(Select.model_validate({"vertices": [0, 1, 3, 7, 20]}), bar, "k").tolist() == [0]


def test_nothing_selected_says_how_large_the_body_is_and_where(bar: TetMesh) -> None:
    far = Select.model_validate({"sphere": {"centre": [90, 0, 0], "radius": 1.0}})
    for choose in (select_vertices, select_tets):
        with pytest.raises(SceneError) as caught:
            choose(far, bar, "pin[2]", 0.01)
        text = str(caught.value)
        assert text.startswith("pin[2] selects no ")
        assert "the body is 1100 x 100 x 100 in size and lies between (0, 0, 0) and (1100, 100, 100)" in text


def test_unknown_region_lists_those_there_are(bar: TetMesh) -> None:
    with pytest.raises(SceneError, match=r"'tip', 0, 7"):
        vertices({"region": "top"}, bar)


def test_vertex_out_of_range_is_refused(bar: TetMesh) -> None:
    with pytest.raises(SceneError, match="names vertex 48, but the mesh has vertices 0 to 47"):
        vertices({"vertices": [1, 48]}, bar)
