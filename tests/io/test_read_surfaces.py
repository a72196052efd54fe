"""Surface formats in all their dialects, as other programs write them."""

import gzip
import struct

import numpy as np
import pytest

from supple.errors import FileFormatError
from supple.io import load_surface
from supple.io.obj import parse_obj
from supple.io.off import parse_off
from supple.io.ply import parse_ply
from supple.io.source import Source

POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1]])
COUNTS, CORNERS = [4, 3, 3], [0, 3, 2, 1, 0, 1, 4, 1, 2, 4]


def source(data: str | bytes) -> Source:
    return Source("mesh", data.encode() if isinstance(data, str) else data)


def check(raw):
    assert np.array_equal(raw.vertices, POINTS)
    assert raw.counts.tolist() == COUNTS
    assert raw.indices.tolist() == CORNERS


VERTEX_LINES = "v 0 0 0\nv 1 0 0 1.0\nv 1 1 0 0.5 0.5 0.5\nv 0 1 0\n v  0.5\t0.5 1 \n"


def test_obj_with_colours_weights_comments_and_windows_lines():
    text = "# made by hand\nmtllib a.mtl\n" + VERTEX_LINES + "vn 0 0 1\nf 1 4 3 2\nusemtl b\nf 1//1 2//1 5//1 # top\n"
    check(parse_obj(source((text + "f 2 \\\n 3 5").replace("\n", "\r\n"))))


def test_obj_negative_indices_count_back_from_the_face():
    lines = VERTEX_LINES.splitlines()
    text = "\n".join([*lines[:4], "f -4 -1 -2 -3", lines[4], "f -5 -4 -1", "f 2 3 -1"])
    check(parse_obj(source(text)))


def test_obj_texture_coordinates_of_every_corner():
    text = VERTEX_LINES + "vt 0 0.25\nvt 0.5 1 0\nf 1/1 4/2 3/1 2/2\nf 1/1/1 2/1/1 5/2/1\nf 2/-1 3/-2 5/-1\n"
    raw = parse_obj(source(text))
    check(raw)
    assert raw.uv[:, 0].tolist() == [0, 0.5, 0, 0.5, 0, 0, 0.5, 0.5, 0, 0.5]


def test_obj_without_texture_at_some_corner_has_none():
    raw = parse_obj(source(VERTEX_LINES + "vt 0 0\nf 1/1 4 3 2\nf 1 2 5\nf 2 3 5\n"))
    check(raw)
    assert raw.uv is None


def test_obj_groups_pick_polygons(tmp_path):
    (tmp_path / "a.obj").write_text(VERTEX_LINES + "g base\nf 1 4 3 2\ng side left\nf 1 2 5\no base\nf 2 3 5\n")
    mesh = load_surface(tmp_path / "a.obj", groups=["base"])
    assert mesh.face_counts.tolist() == [4, 3]
    assert len(mesh.vertices) == 5
    assert mesh.notes[0] == "took 2 of 3 polygons: group base"
    with pytest.raises(FileFormatError, match=r"no group 'top'; it has base, side left"):
        load_surface(tmp_path / "a.obj", groups=["top"])


@pytest.mark.parametrize(("face", "reason"), [("f 1 2 9", "refer to entry 8"), ("f 0 1 2", "counts from 1")])
def test_obj_with_a_wrong_reference_is_refused(face, reason):
    with pytest.raises(FileFormatError, match=reason):
        parse_obj(source(VERTEX_LINES + face))


def ply_header(form: str, count_type: str = "uchar") -> str:
    return (
        f"ply\nformat {form} 1.0\ncomment by hand\nelement vertex 5\nproperty double x\nproperty uchar red\n"
        f"property double y\nproperty double z\nelement edge 1\nproperty int vertex1\nproperty int vertex2\n"
        f"element face 3\nproperty uchar flags\nproperty list {count_type} int vertex_indices\n"
        "property list uchar float weights\nend_header\n"
    )


def test_ply_text_with_other_properties_and_elements():
    rows = "".join(f"{x} 200 {y} {z}\n" for x, y, z in POINTS)
    text = ply_header("ascii") + rows + "0 1\n7 4 0 3 2 1 0\n7 3 0 1 4 1 0.5\n7 3 1 2 4 2 0.5 0.25\n"
    check(parse_ply(source(text)))


@pytest.mark.parametrize(("form", "order"), [("binary_little_endian", "<"), ("binary_big_endian", ">")])
@pytest.mark.parametrize(("name", "code"), [("uchar", "B"), ("int", "i")])
def test_ply_binary_of_both_byte_orders(form, order, name, code):
    data = ply_header(form, name).encode()
    data += b"".join(struct.pack(order + "dBdd", x, 200, y, z) for x, y, z in POINTS) + struct.pack(order + "ii", 0, 1)
    for count, corners, weights in (
        (4, CORNERS[:4], []),
        (3, CORNERS[4:7], [0.5]),
        (3, CORNERS[7:], [0.5, 0.25]),
    ):
        data += struct.pack(f"{order}B{code}{count}iB{len(weights)}f", 7, count, *corners, len(weights), *weights)
    check(parse_ply(source(data)))


def test_ply_packed_by_gzip(tmp_path, polygons):
    from supple.io import save_surface

    save_surface(tmp_path / "a.ply", polygons)
    (tmp_path / "b.ply.gz").write_bytes(gzip.compress((tmp_path / "a.ply").read_bytes()))
    assert np.array_equal(load_surface(tmp_path / "b.ply.gz").face_indices, polygons.face_indices)


def test_ply_vertex_texture_coordinates_go_to_the_corners():
    text = "ply\nformat ascii 1.0\nelement vertex 3\n" + "".join(f"property float {n}\n" for n in "xyzst")
    text += "element face 1\nproperty list uchar int vertex_index\nend_header\n"
    raw = parse_ply(source(text + "0 0 0 0 0\n1 0 0 1 0\n0 1 0 0 1\n3 2 0 1\n"))
    assert raw.uv.tolist() == [[0, 1], [0, 0], [1, 0]]


@pytest.mark.parametrize("start", ["OFF\n5 3 0\n", "OFF 5 3 0\n", "# hand made\nOFF # with comments\n\n5 3 8\n"])
def test_off_with_any_beginning(start):
    text = start + "0 0 0\n1 0 0\n1 1 0\n\n0 1 0\n0.5 0.5 1\n4 0 3 2 1\n3 0 1 4 # side\n3 1 2 4"
    check(parse_off(source(text)))


def test_off_with_colours_at_vertices_and_faces():
    rows = "".join(f"{x} {y} {z} 0.1 0.2 0.3 1\n" for x, y, z in POINTS)
    check(parse_off(source("COFF\n5 3 0\n" + rows + "4 0 3 2 1 0.5 0.5 0.5\n3 0 1 4\n3 1 2 4 255 0 0\n")))


def test_faces_of_two_corners_are_dropped_with_a_note(tmp_path):
    (tmp_path / "a.off").write_text("OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n2 0 1\n3 0 1 2\n")
    mesh = load_surface(tmp_path / "a.off")
    assert mesh.triangles.tolist() == [[0, 1, 2]]
    assert mesh.notes == ("dropped 1 faces of fewer than 3 corners",)
