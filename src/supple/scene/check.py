"""What is wrong with a mesh file, and the file with it put right: what `supple check` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import OutputError
from supple.io import SURFACE_OUT, TET_OUT, TET_SUFFIXES, save_surface, save_tets
from supple.io.load import read_surface, read_tets
from supple.io.obj import FROM_ZERO
from supple.io.permit import Permit
from supple.io.raw import Lacking
from supple.io.save import ask_mesh, mesh_files
from supple.io.source import mesh_suffix
from supple.mesh import (
    Flaw,
    PolygonSoup,
    TetMesh,
    TetSoup,
    TriMesh,
    check_surface,
    check_tets,
    repair_surface,
    repair_tets,
)

__all__ = ["check_file"]

Soup = TetSoup | PolygonSoup


def check_file(path: Path, fix: Path | None = None, *, overwrite: bool = False) -> dict[str, Any]:
    """Facts about the file, `flaws` among them; with `fix`, what `changes` in the file written, and flaws `left`.

    A `fix` that is there is replaced where it was made of the same file before, or with `overwrite`.
    """
    soup, notes = read_soup(path)
    flaws = [*notes, *_check(soup)]
    facts: dict[str, Any] = {
        "file": str(path),
        "kind": "tetrahedra" if isinstance(soup, TetSoup) else "surface",
        "vertices": len(soup.vertices),
        "cells": len(soup.tets) if isinstance(soup, TetSoup) else len(soup.counts),
        "flaws": flaws,
        "failed": any(flaw.severity == "error" for flaw in flaws),
    }
    if fix is None:
        return facts
    known = TET_OUT if isinstance(soup, TetSoup) else SURFACE_OUT
    if fix.suffix.lower() not in known:
        raise OutputError(
            f"{fix}: {facts['kind']} are written as {', '.join(known)}; give the file one of these suffixes."
        )
    permit = Permit(path, "check", overwrite)
    replaced = ask_mesh(permit, fix)
    changes = [note.what for note in notes]
    mended, made = repair_tets(soup) if isinstance(soup, TetSoup) else repair_surface(soup)
    changes += made
    left = _check(mended)
    _save(mended, fix)
    for file in mesh_files(fix):
        permit.done(file)
    return facts | {
        "replaced": replaced,
        "fixed": str(fix),
        "changes": changes,
        "left": left,
        "failed": any(f.severity == "error" for f in left),
    }


def read_soup(path: Path) -> tuple[Soup, list[Flaw]]:
    """The mesh of a file with all that is wrong with it, and what its reader had to say."""
    if mesh_suffix(path) in TET_SUFFIXES:
        try:
            raw = read_tets(path, lenient=True)
            regions = np.zeros(len(raw.tets), np.int32) if raw.regions is None else raw.regions
            return TetSoup(raw.vertices, raw.tets, regions, raw.region_names), _told(raw.notes)
        except Lacking:
            pass
    faces = read_surface(path, lenient=True)
    soup = PolygonSoup(faces.vertices, faces.counts, faces.indices, faces.uv, faces.groups, faces.group_names)
    return soup, _told(faces.notes)


def _told(notes: Sequence[str]) -> list[Flaw]:
    """What the reader said as flaws."""
    found = []
    for note in notes:
        if note == FROM_ZERO:
            then, fix = "the file is refused", "--fix writes it counted from 1"
            found.append(Flaw("numbering", "error", 1, (), (), note, then, fix))
        else:
            numbering = "counted from" in note
            kind = "numbering" if numbering else "on reading"
            found.append(
                Flaw(kind, "note", 1, (), (), note, "so it is whenever the file is read", "check that it is so")
            )
    return found


def _check(soup: Soup) -> list[Flaw]:
    return check_tets(soup) if isinstance(soup, TetSoup) else check_surface(soup)


def _save(soup: Soup, path: Path) -> None:
    if isinstance(soup, TetSoup):
        save_tets(path, TetMesh.clean(soup.vertices, soup.tets, soup.regions, soup.region_names))
        return
    if (soup.counts == 3).all():
        mesh = TriMesh.clean(soup.vertices, soup.indices.reshape(-1, 3), soup.uv)
    else:
        mesh = TriMesh.from_polygons(soup.vertices, soup.counts, soup.indices, soup.uv)
    save_surface(path, replace(mesh, groups=soup.groups, group_names=soup.group_names))
