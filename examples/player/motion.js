// A rig along its motion: stored frames, and smooth ones between them, so that it has an acceleration everywhere.

import { apply, applyBack } from "./posespace.js";

export class Motion {
  /** `stage`: the members of stage.npz, as `readNpz` gives them. */
  constructor(stage) {
    this.values = JSON.parse(stage.values);
    this.frames = stage.points.shape[0];
    this.parts = {};
    this.turning = "skin" in stage;
    this.turns = ["flesh", "skin"].filter((name) => name in stage);
    for (const name of ["points", "placed", "turns", "surface", ...this.turns]) {
      const { data, shape } = stage[name];
      this.parts[name] = { data, size: shape.slice(1).reduce((product, count) => product * count, 1) };
    }
    [this.triangles, this.corners, this.shares] = ["triangles", "corners", "shares"].map((name) => stage[name].data);
    this.width = stage.corners.shape[1];
    this.spun = this.turning ? stage.spun.data : [];
  }

  /** { point, placed, turn, surface } at a frame, whole or between, and turns of the flesh and the skin where there are
   *  any; beyond the ends it stands still. */
  at(frame) {
    const last = this.frames - 1, clamped = Math.min(Math.max(frame, 0), last);
    const first = Math.min(Math.floor(clamped), Math.max(last - 1, 0)), t = clamped - first;
    const mix = (name) => this.mix(name, first, t);
    const found = { point: mix("points"), placed: mix("placed"), turn: orthonormal(mix("turns")), surface: mix("surface") };
    return { ...found, ...Object.fromEntries(this.turns.map((name) => [name, orthonormal(mix(name))])) };
  }

  /** Cubic through the frames, with the slopes of their neighbours (Catmull and Rom). */
  mix(name, first, t) {
    const { data, size } = this.parts[name], last = this.frames - 1;
    const begin = [first - 1, first, first + 1, first + 2].map((k) => size * Math.min(Math.max(k, 0), last));
    const weights = [
      t * (-0.5 + t * (1 - 0.5 * t)), 1 + t * t * (-2.5 + 1.5 * t), t * (0.5 + t * (2 - 1.5 * t)), t * t * (-0.5 + 0.5 * t),
    ];
    const out = new Float64Array(size);
    weights.forEach((weight, n) => {
      if (weight !== 0) for (let k = 0; k < size; k++) out[k] += weight * data[begin[n] + k];
    });
    return out;
  }

  /** Columns of the character at the vertices of the drawn surface, (m, s, 3, r); those that turn, at the corners that
   *  each of them is a sum of, (m, s c, 3, r). */
  drawnRows(character) {
    const { rank, poses, vertices, columns } = character, size = 3 * rank, group = this.turning ? 1 : this.width;
    const count = this.corners.length / group, out = new Float32Array(poses * count * size);
    for (let i = 0; i < poses; i++) this.corners.forEach((corner, n) => {
      const share = this.shares[n], from = (i * vertices + corner) * size, to = (i * count + Math.floor(n / group)) * size;
      if (share !== 0) for (let k = 0; k < size; k++) out[to + k] += share * columns[from + k];
    });
    return out;
  }

  /** Displacements of the drawn surface from the rig [m], (s, 3), with its rows, at a frame. */
  displace(character, state, rows, frame) {
    if (!this.turning) return character.displace(state, rows);
    const u = character.blend(state, rows), out = new Float64Array(u.length / this.width);
    this.spun.forEach((who, n) => {
      const to = 3 * Math.floor(n / this.width);
      apply(frame.skin, 9 * who, u.subarray(3 * n, 3 * n + 3)).forEach((x, a) => { out[to + a] += x; });
    });
    return out;
  }

  /** What the columns of every example do to one vertex of the drawn surface, seen from the root, (m, 3, r). */
  pullRows(character, rows, vertex, frame) {
    const { poses, rank } = character, size = 3 * rank, count = rows.length / (poses * size);
    const width = this.turning ? this.width : 1, out = new Float32Array(poses * size);
    for (let i = 0; i < poses; i++) for (let c = 0; c < width; c++) for (let k = 0; k < rank; k++) {
      const n = vertex * width + c, begin = (i * count + n) * size, own = [0, 1, 2].map((a) => rows[begin + a * rank + k]);
      const seen = this.turning ? applyBack(frame.turn, 0, apply(frame.skin, 9 * this.spun[n], own)) : own;
      seen.forEach((x, a) => { out[i * size + a * rank + k] += x; });
    }
    return out;
  }
}

/** Rows of nearly orthonormal matrices, one matrix after another, made so one row after another. */
function orthonormal(all) {
  const out = Array.from(all);
  for (let i = 0; i < out.length / 3; i++) {
    for (let j = i - (i % 3); j < i; j++) {
      let along = 0;
      for (let k = 0; k < 3; k++) along += out[3 * i + k] * out[3 * j + k];
      for (let k = 0; k < 3; k++) out[3 * i + k] -= along * out[3 * j + k];
    }
    const length = Math.hypot(out[3 * i], out[3 * i + 1], out[3 * i + 2]);
    for (let k = 0; k < 3; k++) out[3 * i + k] /= length;
  }
  return out;
}
