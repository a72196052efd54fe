"""Tet formats in all their dialects, as other programs write them."""

import base64
import struct
import zlib

import meshio
import numpy as np
import pytest

from supple.errors import FileFormatError
from supple.io import load_mesh, load_tets
from supple.io.gmsh import parse_gmsh
from supple.io.medit import parse_medit
from supple.io.source import Source
from supple.io.tetgen import parse_tetgen
from supple.io.tobj import parse_tobj
from supple.io.veg import parse_veg
from supple.io.vtk_legacy import parse_legacy_tets
from supple.io.vtu import parse_vtu

POINTS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1.5]])
TETS = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])

NODES_V4 = "$Nodes\n1 5 10 50\n3 2 0 5\n10\n20\n30\n40\n50\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1.5\n$EndNodes\n"
ENTITIES_V4 = (
    "$Entities\n1 0 0 2\n1 0 0 0 0\n"  # one point without groups
    "2 0 0 0 1 1 1.5 1 9 0\n"  # volume 2 in group 9, bounded by nothing
    "5 0 0 0 1 1 1.5 0 2 1 -2\n$EndEntities\n"  # volume 5 in no group
)
NAMES = '$PhysicalNames\n3\n2 4 "skin"\n3 9 "soft part"\n3 11 "unused"\n$EndPhysicalNames\n'
ELEMENTS_V4 = "$Elements\n3 3 1 3\n2 1 2 1\n1 10 20 30\n3 2 4 1\n2 10 20 30 40\n3 5 4 1\n3 20 30 40 50\n$EndElements\n"


def source(text: str | bytes) -> Source:
    return Source("mesh", text.encode() if isinstance(text, str) else text)


def test_gmsh_41_text_gives_physical_groups_as_regions():
    text = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n" + NAMES + ENTITIES_V4 + NODES_V4 + ELEMENTS_V4
    raw = parse_gmsh(source(text))
    assert np.array_equal(raw.vertices, POINTS)
    assert np.array_equal(raw.tets, TETS)  # node numbers 10, 20, ... looked up
    assert raw.regions.tolist() == [9, 0]
    assert raw.region_names == {"soft part": 9}


@pytest.mark.parametrize("order", ["<", ">"])
def test_gmsh_41_binary_of_both_byte_orders(order):
    def pack(kinds: str, *values: float) -> bytes:
        return struct.pack(order + kinds, *values)

    data = b"$MeshFormat\n4.1 1 8\n" + pack("i", 1) + b"\n$EndMeshFormat\n$Entities\n"
    data += pack("4Q", 0, 0, 0, 1) + pack("i6dQiQ", 2, 0, 0, 0, 1, 1, 1, 1, 9, 0) + b"\n$EndEntities\n$Nodes\n"
    data += pack("4Q3iQ", 1, 5, 1, 5, 3, 2, 0, 5) + pack("5Q", 1, 2, 3, 4, 5) + pack("15d", *POINTS.ravel())
    data += b"\n$EndNodes\n$Elements\n" + pack("4Q3iQ", 1, 2, 1, 2, 3, 2, 4, 2)
    data += pack("10Q", 1, 1, 2, 3, 4, 2, 2, 3, 4, 5) + b"\n$EndElements\n"
    raw = parse_gmsh(source(data))
    assert np.array_equal(raw.vertices, POINTS)
    assert np.array_equal(raw.tets, TETS)
    assert raw.regions.tolist() == [9, 9]


def test_gmsh_22_text_with_mixed_elements_and_tags():
    text = (
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
        + NAMES
        + "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1.5\n$EndNodes\n$Elements\n4\n"
        "1 15 2 0 1 1\n2 2 2 4 1 1 2 3\n3 4 2 9 1 1 2 3 4\n4 4 3 0 1 7 2 3 4 5\n$EndElements\n"
    )
    raw = parse_gmsh(source(text))
    assert np.array_equal(raw.tets, TETS)
    assert raw.regions.tolist() == [9, 0]
    assert raw.region_names == {"soft part": 9}


def test_gmsh_1_text():
    text = "$NOD\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n9 1 1 1.5\n$ENDNOD\n$ELM\n3\n1 2 1 1 3 1 2 3\n"
    raw = parse_gmsh(source(text + "2 4 6 1 4 1 2 3 4\n3 4 6 1 4 2 3 4 9\n$ENDELM\n"))
    assert np.array_equal(raw.tets, TETS)
    assert raw.regions.tolist() == [6, 6]


def test_gmsh_curved_tets_give_their_corners_and_hexahedra_a_note():
    nodes = "".join(f"{i} {i % 3} {i % 5} {i * i % 7}\n" for i in range(1, 11))
    text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n10\n" + nodes + "$EndNodes\n$Elements\n2\n"
    raw = parse_gmsh(source(text + "1 11 0 1 2 3 4 5 6 7 8 9 10\n2 5 0 1 2 3 4 5 6 7 8\n$EndElements\n"))
    assert raw.tets.tolist() == [[0, 1, 2, 3]]
    assert raw.notes == ("took the corners of 1 curved tets", "skipped 1 solid elements that are not tets")


@pytest.mark.parametrize("form", ["gmsh22", "gmsh"])
@pytest.mark.parametrize("binary", [False, True])
def test_gmsh_files_of_meshio(tmp_path, form, binary):
    tags = {"gmsh:physical": [np.array([4, 4]), np.array([9, 2])], "gmsh:geometrical": [np.ones(2, int)] * 2}
    mesh = meshio.Mesh(POINTS, [("triangle", TETS[:, :3]), ("tetra", TETS)], cell_data=tags)
    if form == "gmsh":  # its writer of 4.1 takes one kind of cells and no tags
        mesh = meshio.Mesh(POINTS, [("tetra", TETS)])
    meshio.write(tmp_path / "a.msh", mesh, file_format=form, binary=binary)
    back = load_tets(tmp_path / "a.msh")
    assert np.array_equal(back.vertices, POINTS)
    assert np.array_equal(np.sort(back.tets, axis=1), TETS)
    assert back.regions.tolist() == ([9, 2] if form == "gmsh22" else [0, 0])


def test_medit_with_comments_triangles_and_blank_layout():
    text = "MeshVersionFormatted 1\n# made by hand\nDimension\n3\nVertices 5\n0 0 0 1  1 0 0 1\n0 1 0 1\n"
    text += "0 0 1 1\n1 1 1.5 1\nTriangles\n1\n1 2 3 5\nTetrahedra\n2\n1 2 3 4 6\n2 3 4 5 8\nEnd\n"
    raw = parse_medit(source(text))
    assert np.array_equal(raw.vertices, POINTS)
    assert np.array_equal(raw.tets, TETS)
    assert raw.regions.tolist() == [6, 8]


def vtu(arrays: dict[str, tuple[str, str]], *, root: str = "", tail: bytes = b"") -> bytes:
    """A VTU of a triangle and two tets; `arrays` gives attributes and text of every DataArray."""

    def element(name: str) -> str:
        attributes, text = arrays[name]
        return f'<DataArray Name="{name}" {attributes}>{text}</DataArray>'

    cells = "".join(element(name) for name in ("connectivity", "offsets", "types"))
    return (
        f'<?xml version="1.0"?><VTKFile type="UnstructuredGrid" {root}><UnstructuredGrid>'
        f'<Piece NumberOfPoints="5" NumberOfCells="3"><Points>{element("Points")}</Points>'
        f"<Cells>{cells}</Cells>"
        f"<CellData>{element('region')}</CellData></Piece></UnstructuredGrid>"
    ).encode() + (tail + b"</VTKFile>")


CONTENT = {
    "Points": ("Float64", POINTS.ravel()),
    "connectivity": ("Int64", np.array([0, 1, 2, *TETS.ravel()])),
    "offsets": ("Int32", np.array([3, 7, 11])),
    "types": ("UInt8", np.array([5, 10, 10])),
    "region": ("Int16", np.array([0, 4, 5])),
}
CODES = {"Float64": "f8", "Int64": "i8", "Int32": "i4", "UInt8": "u1", "Int16": "i2"}


def check_vtu(data: bytes) -> None:
    raw = parse_vtu(source(data))
    assert np.array_equal(raw.vertices, POINTS)
    assert np.array_equal(raw.tets, TETS)
    assert raw.regions.tolist() == [4, 5]
    assert raw.notes == ("skipped 1 cells that are not tets",)


def encode(values: np.ndarray, kind: str, order: str, head: str, compress: bool) -> tuple[bytes, bytes]:
    """Header and body of an array as VTK stores it."""
    data = values.astype(order + CODES[kind]).tobytes()
    if not compress:
        return np.array([len(data)], dtype=order + head).tobytes(), data
    blocks = [zlib.compress(data[at : at + 24]) for at in range(0, len(data), 24)]
    sizes = [len(blocks), 24, len(data) % 24, *(len(block) for block in blocks)]
    return np.array(sizes, dtype=order + head).tobytes(), b"".join(blocks)


def test_vtu_text():
    arrays = {
        name: (f'type="{kind}" format="ascii"', " ".join(map(str, values.tolist())))
        for name, (kind, values) in CONTENT.items()
    }
    check_vtu(vtu(arrays))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("head", ["u4", "u8"])
@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("place", ["inline", "raw", "base64"])
def test_vtu_binary_in_every_encoding(order, head, compress, place):
    root = f'byte_order="{"LittleEndian" if order == "<" else "BigEndian"}" '
    root += f'header_type="{"UInt32" if head == "u4" else "UInt64"}" '
    root += 'compressor="vtkZLibDataCompressor"' if compress else ""
    arrays, appended = {}, b""
    for name, (kind, values) in CONTENT.items():
        header, body = encode(values, kind, order, head, compress)
        packed = base64.b64encode(header) + base64.b64encode(body) if compress else base64.b64encode(header + body)
        if place == "inline":
            arrays[name] = (f'type="{kind}" format="binary"', "\n  " + packed.decode() + "\n")
        else:
            arrays[name] = (f'type="{kind}" format="appended" offset="{len(appended)}"', "")
            appended += header + body if place == "raw" else packed
    tail = b"" if place == "inline" else f'<AppendedData encoding="{place}">\n _'.encode() + appended
    check_vtu(vtu(arrays, root=root, tail=tail + b"\n</AppendedData>" if tail else b""))


@pytest.mark.parametrize("compression", [None, "zlib", "lzma"])
@pytest.mark.parametrize("binary", [False, True])
def test_vtu_files_of_meshio(tmp_path, compression, binary):
    mesh = meshio.Mesh(POINTS, [("tetra", TETS)], cell_data={"region": [np.array([4, 5])]})
    meshio.vtu.write(tmp_path / "a.vtu", mesh, binary=binary, compression=compression)
    back = load_tets(tmp_path / "a.vtu")
    assert np.array_equal(back.vertices, POINTS)
    assert back.regions.tolist() == [4, 5]


def test_vtu_of_another_compressor_says_what_to_do():
    arrays = {name: (f'type="{kind}" format="binary"', "AAAA") for name, (kind, _) in CONTENT.items()}
    grid = source(vtu(arrays, root='compressor="vtkLZ4DataCompressor"'))
    with pytest.raises(FileFormatError, match="vtkLZ4DataCompressor; save it as ASCII or with zlib"):
        parse_vtu(grid)


@pytest.mark.parametrize(
    "head",
    [
        '<!DOCTYPE a [<!ENTITY b "c">]>',
        '<!DOCTYPE a SYSTEM "file:///etc/passwd">',
    ],
)
def test_vtu_with_a_document_type_is_refused(head):
    with pytest.raises(FileFormatError, match="declares a document type"):
        parse_vtu(source(f'<?xml version="1.0"?>{head}<VTKFile type="UnstructuredGrid"/>'))


def test_vtu_that_unpacks_to_more_than_promised_is_refused():
    bomb = zlib.compress(bytes(10**7))
    head = base64.b64encode(np.array([1, 10**7, 0, len(bomb)], dtype="<u4").tobytes())
    text = (head + base64.b64encode(bomb)).decode()
    arrays = {name: (f'type="{kind}" format="binary"', text) for name, (kind, _) in CONTENT.items()}
    with pytest.raises(FileFormatError, match="another size than promised"):
        parse_vtu(source(vtu(arrays, root='compressor="vtkZLibDataCompressor"')))


def test_inverted_tets_and_unused_vertices_are_put_right_with_a_note(tmp_path):
    points = np.vstack([POINTS, [[9, 9, 9]]])
    np.savez(tmp_path / "a.npz", vertices=points, tets=TETS[:, [1, 0, 2, 3]])
    mesh = load_tets(tmp_path / "a.npz")
    assert (mesh.volumes() > 0).all()
    assert len(mesh.vertices) == 5
    assert any("inverted" in note for note in mesh.notes)
    assert any("dropped 1 vertex" in note for note in mesh.notes)


def test_compressed_npz_is_read(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", vertices=POINTS, tets=TETS, regions=[2, 2])
    assert load_tets(tmp_path / "a.npz").regions.tolist() == [2, 2]


VTK_HEAD = "# vtk DataFile Version {}\ntitle\n{}\nDATASET {}\n"
VTK_POINTS = "POINTS 5 float\n0 0 0 1 0 0 0 1 0\n0 0 1 1 1 1.5\n\n"


def test_legacy_vtk_text_with_mixed_cells_and_fields():
    text = VTK_HEAD.format("3.0", "ASCII", "UNSTRUCTURED_GRID") + VTK_POINTS
    text += "CELLS 3 14\n4 0 1 2 3\n3 0 1 2\n4 1 2 3 4\n\nCELL_TYPES 3\n10 5 10\n"
    text += "CELL_DATA 3\nFIELD FieldData 2\nheat 1 3 float\n1 2 3\nMaterialIDs 1 3 int\n4 5 6\n"
    raw = parse_legacy_tets(source(text))
    assert np.array_equal(raw.vertices, POINTS)
    assert np.array_equal(raw.tets, TETS)
    assert raw.regions.tolist() == [4, 6]
    assert raw.notes == ("skipped 1 cells that are not tets",)


def test_legacy_vtk_of_version_5_in_binary():
    data = VTK_HEAD.format("5.1", "BINARY", "UNSTRUCTURED_GRID").encode() + b"POINTS 5 double\n"
    data += POINTS.astype(">f8").tobytes() + b"\nMETADATA\nINFORMATION 0\n\n"
    data += b"CELLS 3 8\nOFFSETS vtktypeint64\n" + np.array([0, 4, 8], ">i8").tobytes()
    data += b"\nCONNECTIVITY vtktypeint64\n" + TETS.astype(">i8").tobytes()
    data += b"\nCELL_TYPES 2\n" + np.array([10, 10], ">i4").tobytes() + b"\n"
    raw = parse_legacy_tets(source(data))
    assert np.array_equal(raw.vertices, POINTS)
    assert np.array_equal(raw.tets, TETS)


def test_legacy_vtk_surfaces_are_told_from_tets(tmp_path):
    text = VTK_HEAD.format("4.2", "ASCII", "POLYDATA") + VTK_POINTS + "POLYGONS 2 9\n4 0 1 4 2\n3 0 1 3\n"
    (tmp_path / "a.vtk").write_text(text)
    mesh = load_mesh(tmp_path / "a.vtk")
    assert mesh.face_counts.tolist() == [4, 3]


@pytest.mark.parametrize("first", [0, 1, 7])
def test_vega_and_tetgen_number_their_vertices_as_they_like(first):
    rows = "".join(f"{first + k} {x} {y} {z}\n" for k, (x, y, z) in enumerate(POINTS.tolist()))
    cells = "".join(f"{first + k} " + " ".join(str(c + first) for c in t) + "\n" for k, t in enumerate(TETS.tolist()))
    sets = f"*MATERIAL soft\nENU, 1, 2, 0.3\n*SET core\n{first + 1},\n*REGION\ncore, soft\n"
    raw = parse_veg(source(f"# made\n*VERTICES\n5 3 0 0\n{rows}\n*ELEMENTS\nTET\n2 4 0\n{cells}\n{sets}"))
    assert np.array_equal(raw.tets, TETS)
    assert raw.regions.tolist() == [0, 1]
    assert raw.region_names == {"core": 1}
    raw = parse_tetgen(source(f"5 3 0 0\n{rows}# end\n"), source(f"2 4 0\n{cells}"))
    assert np.array_equal(raw.vertices, POINTS)
    assert np.array_equal(raw.tets, TETS)


def test_a_file_that_counts_from_1_is_told_by_its_last_index():
    lines = "".join(f"v {x} {y} {z}\n" for x, y, z in POINTS.tolist())
    raw = parse_tobj(source(lines + "t 1 2 3 4\nt 2 3 4 5\n"))
    assert np.array_equal(raw.tets, TETS)
    assert raw.notes == ("took its vertices as counted from 1",)


def test_a_vega_file_does_not_reach_for_another():
    with pytest.raises(FileFormatError, match="includes another file"):
        parse_veg(source("*INCLUDE /etc/passwd\n"))
