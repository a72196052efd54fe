// A character in pose space: x = Φ(p) + R U(p) y with U(p) = Σ w_i U_i, stepped as supple steps it.
//
// A frame says where a rig is: { point (e), placed (v, 3) [m], turn (3, 3) }, the pose as a point, the vertices that a
// step looks at, the turn of the root. Columns that turn with the flesh, U(p) = Q Σ w_i U_i with a turn Q of every vertex,
// need flesh (v, 3, 3) as well: Q in the world. So does drag, where the rig knows how it turns flesh. All arrays are flat,
// in rows; docs/files.md of supple has the layout of a model.

import { dot, factorise, invertDistances, norm, solve, sum } from "./dense.js";
import { MATERIALS, cofactor, det, energy, hessian, product, stress, viscosity } from "./materials.js";

const IDENTITY = [1, 0, 0, 0, 1, 0, 0, 0, 1];

export class Character {
  /** `file`: the members of a model, as `readNpz` gives them. */
  constructor(file) {
    if (file.format !== "supple pose-space model") throw new Error("this is no model in pose space.");
    const values = JSON.parse(file.values), all = (name) => file[name].data;
    [this.poses, this.vertices, , this.rank] = file.columns.shape;
    this.count = file.elements.shape[0];
    this.lines = file.edges.shape[2];
    this.turning = this.lines === 12;
    this.blackBox = !values.rig.turns;
    this.points = all("points");
    this.embedding = file.points.shape[1];
    [this.columns, this.edges, this.gram, this.turned] = ["columns", "edges", "gram", "turned"].map(all);
    [this.gravity, this.volumes, this.weights, this.masses] = ["gravity", "volumes", "weights", "masses"].map(all);
    this.firmness = all("stiffness").map(Math.log);
    [this.damping, this.drag] = values.damping;
    this.drags = !this.blackBox && (this.damping > 0 || this.drag > 0);
    const unknown = values.materials.find((name) => !(name in MATERIALS));
    if (unknown) throw new Error(`the material ${unknown} is not known here: use ${Object.keys(MATERIALS).join(", ")}.`);
    if (file.pairs.shape[0]) throw new Error("contacts that open are not known here: train without [contact].");
    this.materials = Array.from(all("kinds"), (kind) => MATERIALS[values.materials[kind]]);
    const moduli = all("moduli"), c = this.count;
    this.moduli = this.materials.map((_, e) => [moduli[e], moduli[c + e], moduli[2 * c + e]]);
    const watched = [...new Set([...all("corners"), ...all("particles")])].sort((a, b) => a - b);
    const place = new Map(watched.map((vertex, k) => [vertex, k]));
    this.watched = watched.length;
    this.corners = all("corners").map((vertex) => place.get(vertex));
    this.particles = all("particles").map((vertex) => place.get(vertex));
    this.feeling = this.pick(all("particles"));
    this.trained = invertDistances(this.points, this.poses, this.embedding);
    this.G = new Float64Array(9 * c * this.rank);
    this.volume = new Float64Array(c);
  }

  /** Columns at some vertices, (m, k, 3, r). */
  pick(vertices) {
    const size = 3 * this.rank, out = new Float32Array(this.poses * vertices.length * size);
    for (let i = 0; i < this.poses; i++) {
      vertices.forEach((vertex, k) => {
        const begin = (i * this.vertices + vertex) * size;
        out.set(this.columns.subarray(begin, begin + size), (i * vertices.length + k) * size);
      });
    }
    return out;
  }

  /** At rest in a frame. */
  start(frame) {
    const y = new Float64Array(this.rank), w = this.shares(frame.point), turn = Array.from(frame.turn);
    const places = this.particlesAt(frame.placed), flesh = this.fleshAt(frame);
    return {
      y: [y, y], w: [w, w], turns: [turn, turn], flesh: [flesh, flesh], places, speeds: places.map(() => 0), step: 1,
      elastic: 0,
    };
  }

  /** The state h seconds on, at `frame`; gravity [m/s²], and pulls: { rows (m, 3, r), force [N], stiffness [N/m] }. */
  step(state, frame, h, gravity = [0, -9.81, 0], pulls = [], tolerance = 1e-4) {
    const { rank: r } = this, w = this.shares(frame.point), R = Array.from(frame.turn), ratio = h / state.step;
    this.poseElements(w, frame, this.turning ? IDENTITY : R);
    const S = new Float64Array(r * r), load = new Float64Array(r);
    push(this.gravity, w, R, gravity, 0, S, load, r);
    for (const pull of pulls) push(pull.rows, w, R, pull.force, pull.stiffness, S, load, r);
    const begin = state.y[0], { M, carried } = this.carry(w, state), more = new Float64Array(r);
    if (this.turning) this.feelTurns(w, R, frame, state, h, gravity, load, carried[0], more);
    else this.feelRig(w, R, frame.placed, state, h, load);
    const ahead = begin.map((_, k) => (1 + ratio) * carried[0][k] - ratio * carried[1][k] + more[k]);
    this.carryTurns(w, state, R, ratio, ahead);
    if (this.drags && !this.turning) this.takeAlong(w, R, frame, state, carried[0]);
    const reference = state.elastic + norm(load.map((x, k) => x - dot(S, k * r, begin, r)));
    const ca = 1 / (h * h), cv = this.damping / h;
    for (let k = 0; k < r; k++) load[k] += ca * ahead[k] + cv * carried[0][k];
    if (this.drag > 0) this.addDrag(M, carried[0], this.drag / h, S, load);
    for (let k = 0; k < r * r; k++) S[k] += (ca + cv) * M[k];
    const guess = begin.map((x, k) => x + ratio * (x - state.y[1][k]));
    const { y, elastic, iterations } = this.minimise(begin, guess, S, load, tolerance * reference);
    const places = this.particlesAt(frame.placed);
    const speeds = places.map((x, k) => (x - state.places[k]) / h);
    return {
      y: [y, begin], w: [w, state.w[0]], turns: [R, state.turns[0]], flesh: [this.fleshAt(frame), state.flesh[0]],
      places, speeds, step: h, elastic, iterations,
    };
  }

  /** Displacements from the rig [m], (k, 3), of what has rows (m, k, 3, r). */
  displace(state, rows) {
    const R = state.turns[0], u = this.blend(state, rows), out = new Float64Array(u.length);
    for (let v = 0; v < u.length; v += 3) out.set(apply(R, 0, u.subarray(v, v + 3)), v);
    return out;
  }

  /** The same before anything has turned. */
  blend(state, rows) {
    const r = this.rank, k = rows.length / (this.poses * r), y = state.y[0], u = new Float64Array(k);
    state.w[0].forEach((share, i) => {
      if (share > 0) for (let line = 0; line < k; line++) u[line] += share * dot(rows, (i * k + line) * r, y, r);
    });
    return u;
  }

  /** How much every example counts at a point: none below 0, 1 together. */
  shares(point) {
    const m = this.poses, e = this.embedding;
    if (m === 1) return new Float64Array([1]);
    const apart = Float64Array.from({ length: m }, (_, k) => {
      let square = 0;
      for (let a = 0; a < e; a++) square += (point[a] - this.points[k * e + a]) ** 2;
      return Math.sqrt(square);
    });
    let w = apart.map((_, k) => dot(this.trained, k * m, apart, m));
    const total = sum(w);
    w = w.map((x) => (x > 1e-6 * total ? x / total : 0));
    const left = sum(w);
    return w.map((x) => x / left);
  }

  /** G of all elements about the shape of the moment, and volumes times weights times stiffness. */
  poseElements(w, { placed, flesh }, R) {
    const { count, poses, rank: r, corners, edges, lines, G } = this;
    const whole = new Float64Array(lines * r), rows = this.turning ? new Float64Array(9 * r) : whole;
    for (let e = 0; e < count; e++) {
      const E = new Array(9);
      for (let a = 0; a < 3; a++) {
        for (let i = 0; i < 3; i++) E[3 * i + a] = placed[3 * corners[4 * e + a + 1] + i] - placed[3 * corners[4 * e] + i];
      }
      const D = product(R, E, true), size = det(D), C = cofactor(D);
      if (!(size / 6 / this.volumes[e] > 1e-6)) throw new Error(`the pose turns element ${e} inside out.`);
      let weight = 0, firmness = 0;
      whole.fill(0);
      for (let i = 0; i < poses; i++) {
        if (w[i] === 0) continue;
        weight += w[i] * this.weights[i * count + e];
        if (this.firmness.length) firmness += w[i] * this.firmness[i * count + e];
        const begin = (e * poses + i) * lines * r;
        for (let k = 0; k < lines * r; k++) whole[k] += w[i] * edges[begin + k];
      }
      if (this.turning) this.turnCorners(whole, flesh, corners.subarray(4 * e, 4 * e + 4), rows);
      this.volume[e] = (weight * Math.exp(firmness) * Math.abs(size)) / 6;
      for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) {
        const [a, b, c] = [C[3 * j] / size, C[3 * j + 1] / size, C[3 * j + 2] / size], out = (9 * e + 3 * i + j) * r;
        for (let k = 0; k < r; k++) {
          G[out + k] = a * rows[3 * i * r + k] + b * rows[(3 * i + 1) * r + k] + c * rows[(3 * i + 2) * r + k];
        }
      }
    }
  }

  /** What columns at corners (4, 3, r), each turned with its flesh, change from the first to the others, (9, r). */
  turnCorners(columns, flesh, corners, rows) {
    const r = this.rank, there = new Float64Array(12 * r);
    corners.forEach((vertex, c) => {
      for (let a = 0; a < 3; a++) for (let b = 0; b < 3; b++) {
        const size = flesh[9 * vertex + 3 * a + b], to = (3 * c + a) * r, from = (3 * c + b) * r;
        for (let k = 0; k < r; k++) there[to + k] += size * columns[from + k];
      }
    });
    for (let a = 0; a < 3; a++) for (let i = 0; i < 3; i++) for (let k = 0; k < r; k++) {
      rows[(3 * i + a) * r + k] = there[(3 * (a + 1) + i) * r + k] - there[i * r + k];
    }
  }

  /** Gravity and the rig's acceleration to the load, and what turning does to motion: beside the root to what is carried,
   *  if the rig is a black box, and all the rest to `more`. */
  feelTurns(w, R, frame, state, h, gravity, load, carried, more) {
    const { rank: r, poses } = this, count = this.particles.length, ratio = h / state.step;
    const here = this.particlesAt(frame.placed), now = this.fleshAt(frame);
    for (let k = 0; k < count; k++) {
      let mass = 0;
      for (let i = 0; i < poses; i++) mass += w[i] * this.masses[i * count + k];
      const a = [0, 1, 2].map((x) => {
        const n = 3 * k + x;
        return gravity[x] - ((here[n] - state.places[n]) / h - state.speeds[n]) / h;
      });
      const felt = applyBack(now, 9 * k, a), seen = [0, 0, 0], whole = [0, 0, 0];
      for (let s = 0; s < 2; s++) {
        const u = [0, 0, 0], factor = s ? -ratio : 1 + ratio;
        for (let i = 0; i < poses; i++) if (state.w[s][i] > 0) for (let j = 0; j < 3; j++) {
          u[j] += state.w[s][i] * dot(this.feeling, ((i * count + k) * 3 + j) * r, state.y[s], r);
        }
        const e = apply(state.flesh[s], 9 * k, u), all = applyBack(now, 9 * k, e);
        const along = applyBack(now, 9 * k, apply(R, 0, applyBack(state.turns[s], 0, e)));
        for (let j = 0; j < 3; j++) {
          const beside = this.blackBox && s === 0 ? along[j] - u[j] : 0;
          seen[j] += beside;
          whole[j] += factor * (all[j] - u[j] - beside);
        }
      }
      for (let i = 0; i < poses; i++) if (w[i] > 0) for (let j = 0; j < 3; j++) {
        const row = ((i * count + k) * 3 + j) * r, size = w[i] * mass;
        for (let l = 0; l < r; l++) {
          const u = size * this.feeling[row + l];
          load[l] += felt[j] * u;
          carried[l] += seen[j] * u;
          more[l] += whole[j] * u;
        }
      }
    }
  }

  /** What drag does not resist: displacements that the skin has turned since the step began, beside the root. */
  takeAlong(w, R, frame, state, carried) {
    const { rank: r, poses } = this, count = this.particles.length, now = this.fleshAt(frame);
    for (let k = 0; k < count; k++) {
      let mass = 0;
      for (let i = 0; i < poses; i++) mass += w[i] * this.masses[i * count + k];
      const u = [0, 0, 0];
      for (let i = 0; i < poses; i++) if (state.w[0][i] > 0) for (let j = 0; j < 3; j++) {
        u[j] += state.w[0][i] * dot(this.feeling, ((i * count + k) * 3 + j) * r, state.y[0], r);
      }
      const e = apply(now, 9 * k, applyBack(state.flesh[0], 9 * k, apply(state.turns[0], 0, u)));
      const moved = applyBack(R, 0, e).map((x, j) => mass * (x - u[j]));
      for (let i = 0; i < poses; i++) if (w[i] > 0) for (let j = 0; j < 3; j++) {
        const row = ((i * count + k) * 3 + j) * r;
        for (let l = 0; l < r; l++) carried[l] += w[i] * moved[j] * this.feeling[row + l];
      }
    }
  }

  /** Take U(p)ᵀ M a from the load, a the second difference of the rig at the particles. */
  feelRig(w, R, placed, state, h, load) {
    const { rank: r, poses } = this, count = this.particles.length;
    const here = this.particlesAt(placed);
    for (let k = 0; k < count; k++) {
      let mass = 0;
      for (let i = 0; i < poses; i++) mass += w[i] * this.masses[i * count + k];
      const a = [0, 1, 2].map((x) => ((here[3 * k + x] - state.places[3 * k + x]) / h - state.speeds[3 * k + x]) / h);
      for (let i = 0; i < poses; i++) {
        if (w[i] > 0) for (let j = 0; j < 3; j++) {
          const size = -w[i] * mass * (R[j] * a[0] + R[3 + j] * a[1] + R[6 + j] * a[2]);
          const row = ((i * count + k) * 3 + j) * r;
          for (let l = 0; l < r; l++) load[l] += size * this.feeling[row + l];
        }
      }
    }
  }

  /** M = U(w)ᵀ M U(w), and U(w)ᵀ M U(w_s) y_s of the two moments before. */
  carry(w, { w: before, y }) {
    const { poses, rank: r, gram } = this, M = new Float64Array(r * r);
    const carried = [new Float64Array(r), new Float64Array(r)];
    for (let i = 0, pair = 0; i < poses; i++) {
      for (let j = i; j < poses; j++, pair += r * r) {
        const both = w[i] * w[j], there = before.map((one) => w[i] * one[j]);
        const back = before.map((one) => (i === j ? 0 : w[j] * one[i]));
        if (both === 0 && sum([...there, ...back]) === 0) continue;
        for (let k = 0; k < r; k++) for (let l = 0; l < r; l++) {
          const g = gram[pair + k * r + l];
          M[k * r + l] += both * g;
          if (i !== j) M[l * r + k] += both * g;
          for (let s = 0; s < 2; s++) {
            carried[s][k] += there[s] * g * y[s][l];
            carried[s][l] += back[s] * g * y[s][k];
          }
        }
      }
    }
    return { M, carried };
  }

  /** What the turning of the root adds to the motion carried along, by nine products for the axes. */
  carryTurns(w, { w: before, y, turns }, R, ratio, ahead) {
    if (!this.turned.length) return;
    const { poses, rank: r, turned } = this;
    const Q = [1 + ratio, -ratio].map((f, s) => product(R, turns[s], true).map((x, k) => f * (x - IDENTITY[k])));
    if (Math.max(...Q.flat().map(Math.abs)) === 0) return;
    for (let i = 0, pair = 0; i < poses; i++) {
      for (let j = i; j < poses; j++, pair += 9 * r * r) {
        for (let axes = 0; axes < 9; axes++) {
          const back = 3 * (axes % 3) + Math.floor(axes / 3);
          for (let s = 0; s < 2; s++) {
            const there = w[i] * before[s][j] * Q[s][axes], here = i === j ? 0 : w[j] * before[s][i] * Q[s][back];
            if (there === 0 && here === 0) continue;
            for (let a = 0; a < r; a++) for (let b = 0; b < r; b++) {
              const n = turned[pair + (axes * r + a) * r + b];
              ahead[a] += there * n * y[s][b];
              ahead[b] += here * n * y[s][a];
            }
          }
        }
      }
    }
  }

  /** Drag by stiffness against strain beside what the rig takes along. */
  addDrag(M, carried, factor, S, load) {
    const { rank: r } = this, origin = carried.slice(), L = M.slice(), K = new Float64Array(r * r);
    if (!factorise(L, r)) return;
    solve(L, origin, r);
    this.square(this.strain(origin), viscosity, K);
    for (let k = 0; k < r; k++) for (let l = 0; l < k; l++) K[l * r + k] = K[k * r + l];
    for (let k = 0; k < r; k++) {
      load[k] += factor * dot(K, k * r, origin, r);
      for (let l = 0; l < r; l++) S[k * r + l] += factor * K[k * r + l];
    }
  }

  /** Newton's method for the energy of the elements and yᵀ S y / 2 - load y, with a line search where it is needed. */
  minimise(begin, guess, S, load, goal) {
    const { rank: r } = this, K = new Float64Array(r * r), least = 1e-12 * norm(load);
    let y = guess, size = Infinity, careful = false, elastic = 0;
    for (let iterations = 0; iterations < 60; iterations++) {
      const F = this.strain(y), g = this.force(F), before = size;
      elastic = norm(g);
      for (let k = 0; k < r; k++) g[k] += dot(S, k * r, y, r) - load[k];
      size = norm(g);
      if (!(size < Infinity) || (!careful && size > before)) {
        if (careful) break;
        [y, careful, size] = [begin, true, Infinity];
        continue;
      }
      if (size <= Math.max(goal, least)) return { y, elastic, iterations };
      if (iterations === 0 || careful || size > 0.25 * before) {
        let shift = 0;
        do {
          K.set(S);
          this.square(F, hessian, K);
          for (let k = 0; k < r; k++) K[k * r + k] += shift;
          shift = Math.max(10 * shift, 1e-3 * Math.abs(K[0]));
        } while (!factorise(K, r) && shift < 1e6 * norm(S));
      }
      const d = g.slice();
      solve(K, d, r);
      const slope = sum(d.map((x, k) => -x * g[k])), here = careful ? this.height(y, S, load) : 0;
      const ahead = (t) => y.map((x, k) => x - t * d[k]);
      let t = 1;
      if (careful) {
        const enough = (t) => here + 1e-4 * t * slope + 1e-15 * Math.abs(here);
        while (t > 1e-6 && !(this.height(ahead(t), S, load) <= enough(t))) t /= 2;
      }
      y = ahead(t > 1e-6 ? t : 1);  // energies too close to tell apart: the residual decides
    }
    throw new Error("a step did not converge: move the pose more slowly.");
  }

  strain(y) {
    const F = new Array(this.count);
    for (let e = 0; e < this.count; e++) {
      F[e] = IDENTITY.map((x, k) => x + dot(this.G, (9 * e + k) * this.rank, y, this.rank));
    }
    return F;
  }

  force(F) {
    const g = new Float64Array(this.rank);
    F.forEach((one, e) => stress(this.materials[e], one, this.moduli[e]).forEach((P, k) => {
      const row = (9 * e + k) * this.rank, size = this.volume[e] * P;
      for (let l = 0; l < g.length; l++) g[l] += size * this.G[row + l];
    }));
    return g;
  }

  height(y, S, load) {
    const elastic = this.strain(y).map((F, e) => this.volume[e] * energy(this.materials[e], F, this.moduli[e]));
    return sum(elastic) + sum(y.map((x, k) => x * (0.5 * dot(S, k * this.rank, y, this.rank) - load[k])));
  }

  /** Add Gᵀ H G of all elements to K, in its lower triangle. */
  square(F, curvature, K) {
    const { rank: r, G, volume } = this, T = new Float64Array(9 * r);
    for (let e = 0; e < this.count; e++) {
      const H = curvature(this.materials[e], F[e], this.moduli[e]), begin = 9 * e * r;
      T.fill(0);
      for (let k = 0; k < 9; k++) {
        for (let l = 0; l < 9; l++) {
          const h = volume[e] * H[9 * k + l], row = begin + l * r;
          if (h !== 0) for (let b = 0; b < r; b++) T[k * r + b] += h * G[row + b];
        }
      }
      for (let a = 0; a < r; a++) {
        const g = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((k) => G[begin + k * r + a]);
        for (let b = 0; b <= a; b++) {
          K[a * r + b] += g[0] * T[b] + g[1] * T[r + b] + g[2] * T[2 * r + b] + g[3] * T[3 * r + b] + g[4] * T[4 * r + b]
            + g[5] * T[5 * r + b] + g[6] * T[6 * r + b] + g[7] * T[7 * r + b] + g[8] * T[8 * r + b];
        }
      }
    }
  }

  /** Turns of the flesh at the particles, (i, 3, 3). */
  fleshAt({ flesh }) {
    const seen = this.turning || this.drags, out = new Float64Array(seen ? 9 * this.particles.length : 0);
    if (seen) this.particles.forEach((vertex, k) => out.set(flesh.slice(9 * vertex, 9 * vertex + 9), 9 * k));
    return out;
  }

  particlesAt(placed) {
    const out = new Float64Array(3 * this.particles.length);
    this.particles.forEach((vertex, k) => out.set(placed.slice(3 * vertex, 3 * vertex + 3), 3 * k));
    return out;
  }
}

/** Q x, with Q of three rows from `begin` on. */
export function apply(Q, begin, x) {
  return [0, 3, 6].map((a) => Q[begin + a] * x[0] + Q[begin + a + 1] * x[1] + Q[begin + a + 2] * x[2]);
}

/** Qᵀ x. */
export function applyBack(Q, begin, x) {
  return [0, 1, 2].map((a) => Q[begin + a] * x[0] + Q[begin + a + 3] * x[1] + Q[begin + a + 6] * x[2]);
}

/** A force at a point that moves by R J y, J of rows (m, 3, r), and a spring there. */
function push(rows, w, R, force, stiffness, S, load, r) {
  const J = new Float64Array(3 * r);
  w.forEach((share, i) => { for (let k = 0; k < 3 * r; k++) J[k] += share * rows[i * 3 * r + k]; });
  for (let k = 0; k < r; k++) {
    for (let a = 0; a < 3; a++) for (let j = 0; j < 3; j++) load[k] += force[a] * R[3 * a + j] * J[j * r + k];
    for (let l = 0; l < r; l++) for (let j = 0; j < 3; j++) S[k * r + l] += stiffness * J[j * r + k] * J[j * r + l];
  }
}
