"""Tet and triangle meshes: neighbours, quality, tetrahedralisation, embedding."""

from supple.mesh.embed import Embedding, embed
from supple.mesh.grid import fill_box
from supple.mesh.orient import orient
from supple.mesh.quality import MeshQuality, assess_quality, dihedral_angles, edge_lengths, mean_ratios
from supple.mesh.sheet import Sheet
from supple.mesh.stuffing import Distance, stuff
from supple.mesh.tetmesh import TetMesh, tet_volumes
from supple.mesh.tetrahedralise import Solid, tetrahedralise
from supple.mesh.trimesh import TriMesh
from supple.mesh.weld import weld_points
from supple.mesh.winding import SurfaceDistance

__all__ = [
    "Distance",
    "Embedding",
    "MeshQuality",
    "Sheet",
    "Solid",
    "SurfaceDistance",
    "TetMesh",
    "TriMesh",
    "assess_quality",
    "dihedral_angles",
    "edge_lengths",
    "embed",
    "fill_box",
    "mean_ratios",
    "orient",
    "stuff",
    "tet_volumes",
    "tetrahedralise",
    "weld_points",
]
