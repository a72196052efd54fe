"""How far one motion is from another: the error definitions that training, comparison and benchmarks share.

With e = x - x_ref, u = x_ref - x_ref(start) and |.| the root of the mass-weighted mean square over the vertices [m]:

- relative error of frame t: |e(t)| / s, where s is the root of the mean of |u|² over all frames measured. One size for
  the whole run, so that a frame in which the body passes its starting place does not blow up;
- relative error of the run: the root of the mean square of the frames' errors, sqrt(sum |e|² / sum |u|²);
- the same numerator over the size of the deformation, which is u without its best rigid motion: the sterner figure for
  bodies that fall or tumble, whose u is mostly travel;
- greatest distance of a frame [m], and its vertex;
- RMS in unit-cube units: the root of the plain mean square distance, over the longest side of the body.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.errors import SceneError
from supple.linalg.rigid import fit_rigid

__all__ = ["Errors", "Measure", "measure_errors"]

FloatArray = NDArray[np.float64]

STILL = 1e-12  #: share of the body's longest side below which nothing has moved


@dataclass(frozen=True, eq=False)
class Errors:
    """What lies between two motions; see the module for the definitions."""

    relative: float
    """Of the whole run."""
    by_frame: FloatArray
    """Relative error of every frame, (t,)."""
    of_deformation: float | None
    """Of the whole run, relative to the deformation; None for a body that only travels."""
    greatest: FloatArray
    """Largest distance of every frame [m], (t,)."""
    vertex: NDArray[np.intp]
    """Where the largest distance is, (t,)."""
    rms: FloatArray
    """Of every frame, in unit-cube units, (t,)."""
    by_vertex: FloatArray
    """Largest distance of every vertex measured over all frames [m], (k,)."""
    motion: float
    """What errors are relative to: size of the reference's displacement over the run [m]."""
    deformation: float
    """Largest distance of a vertex of the reference from the best rigid motion, as a share of the longest side."""

    @property
    def worst(self) -> int:
        """Place of the frame with the largest relative error."""
        return int(np.argmax(self.by_frame))


class Measure:
    """Collects errors as frames come, one by one; no frame is kept."""

    def __init__(
        self, start: FloatArray, mass: FloatArray, size: float, vertices: NDArray[np.integer] | None = None
    ) -> None:
        """`start` [m], (n, 3): the reference before it moves; `mass` [kg], (n,); `size`: the body's longest side [m].

        With `vertices` only these are measured: the patch that matters.
        """
        self._chosen = slice(None) if vertices is None else np.asarray(vertices, np.intp)
        self._numbers = np.arange(len(start))[self._chosen]
        self._shape = start.shape
        self._start = start[self._chosen]
        if not len(self._start):
            raise SceneError("there is no vertex to measure errors at: choose a patch that holds some.")
        self._share = mass[self._chosen] / mass[self._chosen].sum()
        self._size = float(size)
        self._squares: list[list[float]] = []  # of error, displacement and deformation [m²], per frame
        self._largest: list[tuple[float, int]] = []
        self._rms: list[float] = []
        self._by_vertex = np.zeros(len(self._start))
        self._deformation = 0.0

    def add(self, x: FloatArray, reference: FloatArray) -> None:
        """Take in one frame: positions [m], (n, 3), of both motions."""
        if x.shape != self._shape or reference.shape != self._shape:
            shapes = f"{x.shape} and {reference.shape} beside {self._shape}"
            raise SceneError(f"positions of shapes {shapes} cannot be measured: compare motions of one mesh.")
        x, reference = x[self._chosen], reference[self._chosen]
        distance = np.linalg.norm(x - reference, axis=1)
        displacement = np.linalg.norm(reference - self._start, axis=1)
        bent = _deformation(reference, self._start, self._share)
        self._squares.append([float(self._share @ lengths**2) for lengths in (distance, displacement, bent)])
        worst = int(np.argmax(distance))
        self._largest.append((float(distance[worst]), int(self._numbers[worst])))
        self._rms.append(float(np.sqrt(np.mean(distance**2))) / self._size)
        np.maximum(self._by_vertex, distance, out=self._by_vertex)
        self._deformation = max(self._deformation, float(bent.max()) / self._size)

    def finish(self) -> Errors:
        """The errors of all frames taken in; a reference that stood still is refused unless both did."""
        if not self._squares:
            raise SceneError("no frame was measured, so there is no error to tell: ask for one frame or more.")
        error, displacement, deformation = np.array(self._squares).T
        motion, bent = float(np.sqrt(displacement.mean())), float(np.sqrt(deformation.mean()))
        least = STILL * self._size
        still = bool(np.sqrt(error.max()) <= least)
        if motion <= least and not still:
            raise SceneError(
                "the reference does not move, so errors relative to its motion have no meaning: let a force or a pin "
                "act on the body, or measure frames in which it moves."
            )
        return Errors(
            relative=_divide(np.sqrt(error.mean()), motion, least),
            by_frame=np.array([_divide(value, motion, least) for value in np.sqrt(error)]),
            of_deformation=None if bent <= least and not still else _divide(np.sqrt(error.mean()), bent, least),
            greatest=np.array([value for value, _ in self._largest]),
            vertex=np.array([vertex for _, vertex in self._largest], np.intp),
            rms=np.array(self._rms),
            by_vertex=self._by_vertex.copy(),
            motion=motion,
            deformation=self._deformation,
        )


def measure_errors(
    frames: Iterable[FloatArray],
    references: Iterable[FloatArray],
    start: FloatArray,
    mass: FloatArray,
    size: float,
    vertices: NDArray[np.integer] | None = None,
) -> Errors:
    """The errors of a motion against a reference, both given as frames of positions [m], (n, 3) each."""
    measure = Measure(start, mass, size, vertices)
    for x, reference in zip(frames, references, strict=True):
        measure.add(x, reference)
    return measure.finish()


def _deformation(x: FloatArray, start: FloatArray, mass: FloatArray) -> FloatArray:
    """How far every vertex lies from where the best rigid motion takes it [m], (n,)."""
    turn, shift = fit_rigid(x, start, mass)
    return np.asarray(np.linalg.norm(x - start @ turn.T - shift, axis=1))


def _divide(value: float, size: float, least: float) -> float:
    """A relative error; nothing over nothing is no error."""
    return float(value) / size if size > least else 0.0
