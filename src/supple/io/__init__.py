"""Files: meshes in and out, recorded runs, checkpoints, trained models."""

from supple.io.articulated_file import load_articulated, save_articulated
from supple.io.cache import CACHE_SUFFIXES, open_cache, open_writer, probe
from supple.io.checkpoint import load_checkpoint, save_checkpoint
from supple.io.drawn import RenderMesh
from supple.io.frames import Cache, CacheInfo, Frame, FrameWriter
from supple.io.load import MESH_SUFFIXES, SURFACE_SUFFIXES, TET_SUFFIXES, load_mesh, load_surface, load_tets
from supple.io.model_file import load_model, save_model
from supple.io.save import SURFACE_OUT, TET_OUT, save_surface, save_tets
from supple.io.skinned_file import load_skinned, save_skinned

__all__ = [
    "CACHE_SUFFIXES",
    "MESH_SUFFIXES",
    "SURFACE_OUT",
    "SURFACE_SUFFIXES",
    "TET_OUT",
    "TET_SUFFIXES",
    "Cache",
    "CacheInfo",
    "Frame",
    "FrameWriter",
    "RenderMesh",
    "load_articulated",
    "load_checkpoint",
    "load_mesh",
    "load_model",
    "load_skinned",
    "load_surface",
    "load_tets",
    "open_cache",
    "open_writer",
    "probe",
    "save_articulated",
    "save_checkpoint",
    "save_model",
    "save_skinned",
    "save_surface",
    "save_tets",
]
