"""Tet and triangle meshes: neighbours, quality, tetrahedralisation, embedding."""

from supple.mesh.check_surface import check_surface
from supple.mesh.check_tets import check_tets
from supple.mesh.conform import Attempt, ConformLimits, conform
from supple.mesh.embed import Embedding, embed
from supple.mesh.flaw import Flaw
from supple.mesh.grid import fill_box
from supple.mesh.orient import orient
from supple.mesh.quality import MeshQuality, assess_quality, dihedral_angles, edge_lengths, mean_ratios
from supple.mesh.repair_surface import repair_surface
from supple.mesh.repair_tets import repair_tets
from supple.mesh.sheet import Sheet
from supple.mesh.soup import PolygonSoup, TetSoup
from supple.mesh.stuffing import Distance, stuff
from supple.mesh.tetmesh import TetMesh, tet_volumes
from supple.mesh.tetrahedralise import Solid, tetrahedralise
from supple.mesh.trimesh import TriMesh
from supple.mesh.weld import weld_points
from supple.mesh.winding import SurfaceDistance

__all__ = [
    "Attempt",
    "ConformLimits",
    "Distance",
    "Embedding",
    "Flaw",
    "MeshQuality",
    "PolygonSoup",
    "Sheet",
    "Solid",
    "SurfaceDistance",
    "TetMesh",
    "TetSoup",
    "TriMesh",
    "assess_quality",
    "check_surface",
    "check_tets",
    "conform",
    "dihedral_angles",
    "edge_lengths",
    "embed",
    "fill_box",
    "mean_ratios",
    "orient",
    "repair_surface",
    "repair_tets",
    "stuff",
    "tet_volumes",
    "tetrahedralise",
    "weld_points",
]
