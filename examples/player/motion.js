// A rig along its motion: stored frames, and smooth ones between them, so that it has an acceleration everywhere.

export class Motion {
  /** `stage`: the members of stage.npz, as `readNpz` gives them. */
  constructor(stage) {
    this.values = JSON.parse(stage.values);
    this.frames = stage.points.shape[0];
    this.parts = {};
    for (const name of ["points", "placed", "turns", "surface"]) {
      const { data, shape } = stage[name];
      this.parts[name] = { data, size: shape.slice(1).reduce((product, count) => product * count, 1) };
    }
    [this.triangles, this.corners, this.shares] = ["triangles", "corners", "shares"].map((name) => stage[name].data);
    this.width = stage.corners.shape[1];
  }

  /** { point, placed, turn, surface } at a frame, whole or between; beyond the ends it stands still. */
  at(frame) {
    const last = this.frames - 1, clamped = Math.min(Math.max(frame, 0), last);
    const first = Math.min(Math.floor(clamped), Math.max(last - 1, 0)), t = clamped - first;
    const mix = (name) => this.mix(name, first, t);
    return { point: mix("points"), placed: mix("placed"), turn: orthonormal(mix("turns")), surface: mix("surface") };
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

  /** Columns of the character at the vertices of the drawn surface, (m, s, 3, r). */
  drawnRows(character) {
    const { rank, poses, vertices, columns } = character, count = this.corners.length / this.width, size = 3 * rank;
    const out = new Float32Array(poses * count * size);
    for (let i = 0; i < poses; i++) for (let v = 0; v < count; v++) for (let c = 0; c < this.width; c++) {
      const share = this.shares[v * this.width + c];
      const from = (i * vertices + this.corners[v * this.width + c]) * size, to = (i * count + v) * size;
      if (share !== 0) for (let k = 0; k < size; k++) out[to + k] += share * columns[from + k];
    }
    return out;
  }
}

/** Rows of a nearly orthonormal matrix, made so one after another. */
function orthonormal(R) {
  const out = Array.from(R);
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < i; j++) {
      let along = 0;
      for (let k = 0; k < 3; k++) along += out[3 * i + k] * out[3 * j + k];
      for (let k = 0; k < 3; k++) out[3 * i + k] -= along * out[3 * j + k];
    }
    const length = Math.hypot(out[3 * i], out[3 * i + 1], out[3 * i + 2]);
    for (let k = 0; k < 3; k++) out[3 * i + k] /= length;
  }
  return out;
}
