// Materials whose density separates, psi = a(I) + b Q + c(J) with I = |F|², Q = |FᵀF|², J = det F.
// F is nine numbers in rows, m the three moduli of the model file.

const log = (J) => {  // continued below 0.2 by its Taylor polynomial, so that it survives inversion
  const base = Math.max(J, 0.2), d = Math.min(J - 0.2, 0), k = 1 / base;
  return [Math.log(base) + k * d - 0.5 * k * k * d * d, k - k * k * d, -k * k];
};

/** By name: a, a', a'' of I; b; c, c', c'' of J. */
export const MATERIALS = {
  stable_neo_hookean: {
    stretch: (I, [mu, , rest]) => {
      const k = 1 / (I + 1);
      return [0.5 * mu * (I - 3) - 0.5 * mu * Math.log(0.25 * (I + 1)) - rest, 0.5 * mu * (1 - k), 0.5 * mu * k * k];
    },
    quartic: () => 0,
    volume: (J, [mu, lambda]) => {
      const d = J - (1 + (0.75 * mu) / lambda);
      return [0.5 * lambda * d * d, lambda * d, lambda];
    },
  },
  stvk: {
    stretch: (I, [mu, lambda]) => {
      const d = I - 3;
      return [0.125 * lambda * d * d - 0.5 * mu * I + 0.75 * mu, 0.25 * lambda * d - 0.5 * mu, 0.25 * lambda];
    },
    quartic: ([mu]) => 0.25 * mu,
    volume: (J, [mu, lambda]) => {  // a barrier against inversion
      const k = 2 * (lambda + 2 * mu), d = Math.max(0.3 - J, 0);
      return [(k / 3) * d * d * d, -k * d * d, 2 * k * d];
    },
  },
  neo_hookean: {
    stretch: (I, [mu]) => [0.5 * mu * (I - 3), 0.5 * mu, 0],
    quartic: () => 0,
    volume: (J, [mu, lambda]) => {
      const [f, f1, f2] = log(J), slope = lambda * f - mu;
      return [0.5 * lambda * f * f - mu * f, slope * f1, slope * f2 + lambda * f1 * f1];
    },
  },
};

export const det = (F) => F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6])
  + F[2] * (F[3] * F[7] - F[4] * F[6]);

/** The gradient of the determinant. */
export const cofactor = (F) => [
  F[4] * F[8] - F[5] * F[7], F[5] * F[6] - F[3] * F[8], F[3] * F[7] - F[4] * F[6],
  F[2] * F[7] - F[1] * F[8], F[0] * F[8] - F[2] * F[6], F[1] * F[6] - F[0] * F[7],
  F[1] * F[5] - F[2] * F[4], F[2] * F[3] - F[0] * F[5], F[0] * F[4] - F[1] * F[3],
];

/** A B, or with `first` Aᵀ B, or with `second` A Bᵀ. */
export function product(A, B, first = false, second = false) {
  const C = new Array(9);
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++) {
      let sum = 0;
      for (let k = 0; k < 3; k++) sum += (first ? A[3 * k + i] : A[3 * i + k]) * (second ? B[3 * j + k] : B[3 * k + j]);
      C[3 * i + j] = sum;
    }
  }
  return C;
}

const squares = (F) => F.reduce((sum, x) => sum + x * x, 0);

/** Energy density [J/m³]. */
export function energy(material, F, m) {
  return material.stretch(squares(F), m)[0] + material.quartic(m) * squares(product(F, F, true))
    + material.volume(det(F), m)[0];
}

/** First Piola-Kirchhoff stress [Pa]: 2 a' F + 4 b F FᵀF + c' cof F. */
export function stress(material, F, m) {
  const a = 2 * material.stretch(squares(F), m)[1], b = 4 * material.quartic(m), c = material.volume(det(F), m)[1];
  const C = cofactor(F), cubic = b === 0 ? F : product(F, product(F, F, true));
  return F.map((x, k) => a * x + b * cubic[k] + c * C[k]);
}

/** Second derivatives of the energy density by F, 81 numbers. */
export function hessian(material, F, m) {
  const a = material.stretch(squares(F), m), b = material.quartic(m), c = material.volume(det(F), m);
  const C = cofactor(F), H = new Float64Array(81);
  for (let k = 0; k < 9; k++) {
    for (let l = 0; l < 9; l++) H[9 * k + l] = 4 * a[2] * F[k] * F[l] + c[2] * C[k] * C[l];
    H[10 * k] += 2 * a[1];
  }
  for (let i = 0; i < 3; i++) {  // of c' cof F: the cofactor is bilinear in entries of other rows and columns
    for (let j = 0; j < 3; j++) {
      const [u, v, x, y] = [(i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3], row = 9 * (3 * i + j);
      H[row + 3 * u + x] += c[1] * F[3 * v + y];
      H[row + 3 * v + y] += c[1] * F[3 * u + x];
      H[row + 3 * u + y] -= c[1] * F[3 * v + x];
      H[row + 3 * v + x] -= c[1] * F[3 * u + y];
    }
  }
  if (b !== 0) {  // of 4 b F FᵀF
    const right = product(F, F, true), left = product(F, F, false, true);
    for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) for (let k = 0; k < 3; k++) {
      H[9 * (3 * i + j) + 3 * i + k] += 4 * b * right[3 * k + j];
      H[9 * (3 * i + j) + 3 * k + j] += 4 * b * left[3 * i + k];
      for (let l = 0; l < 3; l++) H[9 * (3 * i + j) + 3 * k + l] += 4 * b * F[3 * i + l] * F[3 * k + j];
    }
  }
  return H;
}

/** The same without what resists turning, which damping must not slow: its part beside R times skew matrices. */
export function viscosity(material, F, m) {
  const H = hessian(material, F, m), R = rotation(F), twists = [];
  for (let k = 0; k < 3; k++) {
    const [a, b] = [(k + 1) % 3, (k + 2) % 3], twist = new Array(9).fill(0);
    for (let i = 0; i < 3; i++) {
      twist[3 * i + b] += R[3 * i + a] * Math.SQRT1_2;
      twist[3 * i + a] -= R[3 * i + b] * Math.SQRT1_2;
    }
    twists.push(twist);
  }
  for (const sides of [0, 1]) {
    for (const t of twists) for (let k = 0; k < 9; k++) {
      let along = 0;
      for (let l = 0; l < 9; l++) along += H[sides ? 9 * k + l : 9 * l + k] * t[l];
      for (let l = 0; l < 9; l++) H[sides ? 9 * k + l : 9 * l + k] -= along * t[l];
    }
  }
  return H;
}

/** The rotation nearest to F, by Newton's iteration for the polar factor. */
export function rotation(F) {
  let R = F;
  for (let k = 0; k < 30; k++) {
    const inverse = 1 / det(R), next = cofactor(R).map((x, l) => 0.5 * (R[l] + inverse * x));
    const change = Math.max(...next.map((x, l) => Math.abs(x - R[l])));
    R = next;
    if (change < 1e-12) break;
  }
  return R;
}
