"""Is a load one that a subspace was made for? What the subspace misses of the body's linear answer to it."""

import hashlib
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.elastic import Body
from supple.errors import SuppleWarning
from supple.solve.forces import Force, Gravity, NodalForce, PassingForce
from supple.solve.live import Live
from supple.subspace import Basis, RestStiffness

__all__ = ["GRAVITY", "Novelty", "digest_load", "digest_pins", "missed_share", "unit_of"]

FloatArray = NDArray[np.float64]
GRAVITY = "gravity"  # in place of a fingerprint: gravity acts on everything
_MISSED = 0.1  # share of the answer to a load that may be missing before a user is told
_WORSE = 1.5  # times a share that was told, before another direction of the same load is told too
_TRAINED, _SEEN = math.cos(math.radians(45.0)), math.cos(math.radians(20.0))  # directions nearer than this are alike
_AXES = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
_MANY = 256  # arrays kept


def digest_load(vertices: ArrayLike, weights: ArrayLike) -> str:
    """Fingerprint of what a force acts on."""
    pieces = np.asarray(vertices, np.int64), np.asarray(weights, np.float64)
    return hashlib.sha256(b"".join(piece.tobytes() for piece in pieces)).hexdigest()[:16]


def digest_pins(vertices: NDArray[np.integer]) -> str:
    """Fingerprint of the patch that pins along one axis push together."""
    return digest_load(vertices, _shares(vertices))


def unit_of(vector: Iterable[float]) -> list[float] | None:
    """The direction of a vector (3,), or None where it has none."""
    x, y, z = map(float, vector)
    length = math.hypot(x, y, z)
    return [x / length, y / length, z / length] if 0.0 < length < math.inf else None


def missed_share(stiffness: RestStiffness, basis: Basis, *fields: FloatArray) -> float:
    """Share of the static answer to small forces (n, 3) [N] that lies outside a diagonalised basis, by energy norm.

    Of several fields, the energies are added.
    """
    whole = within = 0.0
    for field in fields:
        b = stiffness.gather(field.reshape(-1, 1))[:, 0]
        energy = float(b @ stiffness.solve(b))
        # What only accelerates a free body bends nothing, and leaves round-off
        if energy * float(stiffness.matrix.diagonal().max()) > 1e-12 * float(b @ b):
            part = basis.columns.T @ field.ravel()
            whole, within = whole + energy, within + float(part @ (part / basis.importance))
    return math.sqrt(max(0.0, 1.0 - within / whole)) if whole > 0.0 else 0.0


@dataclass(eq=False)
class _Patch:
    """Vertices and weights that loads act on, and the directions that need no look."""

    vertices: NDArray[np.int32]
    weights: FloatArray
    known: list[tuple[list[float], float]]
    """Unit vectors, and the cosine down to which another is taken for the same; its opposite counts as well."""
    last: list[float] | None = None
    told: float = 0.0

    def knows(self, unit: list[float]) -> bool:
        x, y, z = unit
        return any(abs(x * a + y * b + z * c) >= least for (a, b, c), least in self.known)


class Novelty:
    """Looks at every load that was not trained for, once for every direction."""

    def __init__(self, body: Body, make_basis: Callable[[], Basis], trained: Iterable[object]) -> None:
        """`make_basis` is asked for the subspace when there is something to look at.

        `trained`: tables of a patch's fingerprint and a direction; anything else is passed over.
        """
        self._body, self._make_basis = body, make_basis
        self._trained: dict[str, list[tuple[list[float], float]]] = {}
        for entry in trained:
            unit = unit_of(entry["direction"]) if isinstance(entry, Mapping) else None
            if isinstance(entry, Mapping) and unit is not None:
                self._trained.setdefault(entry["patch"], []).append((unit, _TRAINED))
        self._patches: dict[str, _Patch] = {}
        self._arrays: dict[tuple[int, int], tuple[Any, _Patch]] = {}  # kept so that no others get their numbers
        self._live: Live | None = None
        self._pinned = np.zeros((len(body.mass), 3), np.bool_)
        self.is_left = False
        """Whether a user was told."""

    def look(self, forces: Sequence[Force]) -> None:
        """Warn where the subspace cannot answer a force."""
        for force in forces:
            if isinstance(force, PassingForce):
                continue  # contact, which no training foresees
            if isinstance(force, NodalForce):
                patch, vector = self._patch_of(force), force.vector
            elif isinstance(force, Gravity):
                patch, vector = self._gravity, force.acceleration
            else:
                continue
            latest = np.asarray(vector, np.float64).tolist()
            if latest == patch.last:
                continue
            patch.last, unit = latest, unit_of(latest)
            if unit is not None and not patch.knows(unit):
                what = "gravity" if patch is self._gravity else f"a force on {len(patch.vertices)} vertices"
                self._meet(f"{what} along ({', '.join(f'{v:.2g}' for v in unit)})", [(patch, unit)])

    def look_live(self, live: Live, is_still: bool) -> None:
        """Warn where the subspace cannot answer a user's grabs and pins; grabs of a body that moves pull anywhere."""
        if live is self._live:
            return
        self._live = live
        for grab in live.grabs:
            vertices, weights = np.array(grab.vertices), np.array(grab.weights)
            patch = self._patch(digest_load(vertices, weights), vertices, weights)
            pull = unit_of(np.asarray(grab.target) - weights @ self._body.mesh.vertices[vertices])
            units = _AXES if not is_still else [] if pull is None else [pull]
            self._meet(f"the grab {grab.name!r} of {len(vertices)} vertices", [(patch, unit) for unit in units])
        self._look_pins(live)

    def _look_pins(self, live: Live) -> None:
        """Warn of pins that were added, all together."""
        held = np.zeros_like(self._pinned)
        held[live.added.vertices] = live.added.held
        fresh, self._pinned = held & ~self._pinned, held
        loads = []
        for axis in np.flatnonzero(fresh.any(axis=0)):
            vertices = np.flatnonzero(fresh[:, axis])
            loads.append((self._patch(digest_pins(vertices), vertices, _shares(vertices)), _AXES[axis]))
        self._meet(f"pins added to {int(fresh.any(axis=1).sum())} vertices", loads)

    def _patch_of(self, force: NodalForce) -> _Patch:
        key = id(force.vertices), id(force.weights)
        if key not in self._arrays:
            if len(self._arrays) >= _MANY:
                self._arrays.clear()
            vertices, weights = np.asarray(force.vertices), np.asarray(force.weights, np.float64)
            patch = self._patch(digest_load(vertices, weights), vertices, weights)
            self._arrays[key] = (force.vertices, force.weights), patch
        return self._arrays[key][1]

    def _patch(self, name: str, vertices: NDArray[np.integer], weights: FloatArray) -> _Patch:
        if name not in self._patches:
            self._patches[name] = _Patch(vertices.astype(np.int32), weights, list(self._trained.get(name, ())))
        return self._patches[name]

    @cached_property
    def _gravity(self) -> _Patch:
        return self._patch(GRAVITY, np.arange(len(self._body.mass)), self._body.mass)

    @cached_property
    def _basis(self) -> Basis:
        return self._make_basis()

    @cached_property
    def _stiffness(self) -> RestStiffness:
        return RestStiffness(self._body)

    def _meet(self, what: str, loads: list[tuple[_Patch, list[float]]]) -> None:
        """Look at those of some loads that are new, as one."""
        new = [(patch, unit) for patch, unit in loads if not patch.knows(unit)]
        fields = np.zeros((len(new), *self._body.mesh.vertices.shape))
        for field, (patch, unit) in zip(fields, new, strict=True):
            patch.known.append((unit, _SEEN))
            NodalForce(patch.vertices, patch.weights, np.array(unit)).add_to(field, self._body.mass)
        missed = missed_share(self._stiffness, self._basis, *fields) if new else 0.0
        if missed <= max([_MISSED, *(_WORSE * patch.told for patch, _ in new)]):
            return
        for patch, _ in new:
            patch.told = missed
        self.is_left = True
        warnings.warn(
            f"the subspace misses {100 * missed:.0f} % of how the body answers {what} that it was not trained for: "
            "add the load as [[training.load]] and train again, or use the full solver.",
            SuppleWarning,
            stacklevel=2,
        )


def _shares(vertices: NDArray[np.integer]) -> FloatArray:
    return np.full(len(vertices), 1.0 / max(len(vertices), 1))
