"""A curve through keys, and its first two derivatives: what a motion does between its frames."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from supple.rig.cubic_spline import spline_pieces

__all__ = ["BETWEEN", "Between", "KeyCurve"]

FloatArray = NDArray[np.float64]

#: Between two keys: a cubic spline through this key and its neighbours (C2); straight at a steady rate (C0); slowing
#: down to a stop, without acceleration, at both keys (C2); from a stop into whatever follows the second key (C2).
Between = Literal["spline", "linear", "ease", "run-up"]
BETWEEN: tuple[Between, ...] = get_args(Between)


@dataclass(frozen=True, eq=False)
class KeyCurve:
    """Curve through points whose last columns are unit quaternions, each near the one before it."""

    times: FloatArray
    """Times of the keys [s], (k,), increasing."""
    points: FloatArray
    """What the curve passes through, (k, w)."""
    plain: int
    """How many columns come before the quaternions."""
    between: tuple[Between, ...]
    """How to go on from every key but the last, (k - 1,)."""
    powers: FloatArray
    """Coefficients of the intervals that are polynomials, lowest power first, (6, k - 1, w)."""

    @classmethod
    def through(cls, times: FloatArray, points: FloatArray, plain: int, between: tuple[Between, ...]) -> KeyCurve:
        """The curve through the points; every run of "spline" intervals is one spline of its own."""
        powers = np.zeros((6, max(len(times) - 1, 1), points.shape[1]))
        powers[0, 0] = points[0]
        curve = cls(times, points, plain, between or ("spline",), powers)
        at = 0
        for kind, run in groupby(between):
            first, at = at, at + len(list(run))
            if kind == "spline":
                powers[:4, first:at] = spline_pieces(times[first : at + 1], points[first : at + 1])
        for k in range(len(between) - 1, -1, -1):  # backwards: a run-up meets what follows it
            if between[k] == "run-up":
                powers[:, k] = curve._run_up(k)
        return curve

    def jet(self, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The curve, its velocity and its acceleration at times [s], each (n, w); outside the keys it stands still."""
        inside = np.clip(times, self.times[0], self.times[-1])
        interval = np.clip(np.searchsorted(self.times, inside, side="right") - 1, 0, len(self.between) - 1)
        value, rate, bend = self._polynomial(interval, (inside - self.times[interval])[:, None])
        for kind in ("linear", "ease"):
            chosen = np.flatnonzero(np.array([self.between[k] == kind for k in interval], bool))
            if len(chosen):
                arc = self._arc(interval[chosen], inside[chosen], eased=kind == "ease")
                value[chosen], rate[chosen], bend[chosen] = arc
        held = inside != times
        rate[held], bend[held] = 0.0, 0.0
        return value, rate, bend

    def _polynomial(self, interval: NDArray[np.intp], t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        c = self.powers[:, interval]
        value = c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * (c[4] + t * c[5]))))
        rate = c[1] + t * (2 * c[2] + t * (3 * c[3] + t * (4 * c[4] + t * 5 * c[5])))
        bend = 2 * c[2] + t * (6 * c[3] + t * (12 * c[4] + t * 20 * c[5]))
        return value, rate, bend

    def _arc(self, k: NDArray[np.intp], times: FloatArray, eased: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Straight lines, and great arcs of the quaternions (slerp), by a share of the way."""
        length = self.times[k + 1] - self.times[k]
        s = (times - self.times[k]) / length
        share, rate, bend = s, 1.0 / length, np.zeros_like(s)
        if eased:
            share = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
            rate, bend = 30.0 * (s * (1.0 - s)) ** 2 / length, 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / length**2
        u, du, ddu = share[:, None, None], rate[:, None, None], bend[:, None, None]
        out = [np.empty((len(k), self.points.shape[1])) for _ in range(3)]
        for columns, width in ((slice(0, self.plain), 1), (slice(self.plain, None), 4)):
            begin, end = (self.points[row, columns].reshape(len(k), -1, width) for row in (k, k + 1))
            # the half angle between unit quaternions from their chord, accurate when it is small; lines have none
            angle = 2.0 * np.arcsin(np.minimum(0.5 * np.linalg.norm(end - begin, axis=2, keepdims=True), 1.0))
            angle = angle if width == 4 else np.zeros_like(angle)
            whole = np.sinc(angle / np.pi)
            a, b = ((v * np.sinc(v * angle / np.pi) / whole) for v in (1.0 - u, u))
            slope = (np.cos(u * angle) * end - np.cos((1.0 - u) * angle) * begin) / whole
            point = a * begin + b * end
            jet = (point, du * slope, ddu * slope - (du * angle) ** 2 * point)
            for part, value in zip(out, jet, strict=True):
                part[:, columns] = value.reshape(len(k), -1)
        return out[0], out[1], out[2]

    def _run_up(self, k: int) -> FloatArray:
        """The quintic from a stop at key k to the position, velocity and acceleration that follow key k + 1, (6, w)."""
        length = self.times[k + 1] - self.times[k]
        gap, rate, bend = self.points[k + 1] - self.points[k], np.zeros(1), np.zeros(1)
        if k + 2 < len(self.times):
            _, rate, bend = (part[0] for part in self.jet(self.times[k + 1 : k + 2]))
        v, a = rate * length, 0.5 * bend * length**2
        scaled = np.zeros((6, self.points.shape[1]))
        scaled[0] = self.points[k]
        scaled[3] = 10.0 * gap - 4.0 * v + a
        scaled[4] = -15.0 * gap + 7.0 * v - 2.0 * a
        scaled[5] = 6.0 * gap - 3.0 * v + a
        return np.asarray(scaled / length ** np.arange(6.0)[:, None])
