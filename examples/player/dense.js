// Small dense matrices, flat and in rows.

export const sum = (x) => x.reduce((total, value) => total + value, 0);
export const norm = (x) => Math.sqrt(sum(x.map((value) => value * value)));

/** A row of A, from `begin` on, times x. */
export function dot(A, begin, x, count) {
  let total = 0;
  for (let k = 0; k < count; k++) total += A[begin + k] * x[k];
  return total;
}

/** The lower Cholesky factor in place of K; false where K is not positive definite. */
export function factorise(K, r) {
  for (let k = 0; k < r; k++) {
    for (let l = 0; l <= k; l++) {
      let value = K[k * r + l];
      for (let j = 0; j < l; j++) value -= K[k * r + j] * K[l * r + j];
      if (k !== l) K[k * r + l] = value / K[l * r + l];
      else if (value > 0) K[k * r + k] = Math.sqrt(value);
      else return false;
    }
  }
  return true;
}

/** Overwrite x with the solution. */
export function solve(L, x, r) {
  for (let k = 0; k < r; k++) x[k] = (x[k] - dot(L, k * r, x, k)) / L[k * r + k];
  for (let k = r - 1; k >= 0; k--) {
    for (let j = k + 1; j < r; j++) x[k] -= L[j * r + k] * x[j];
    x[k] /= L[k * r + k];
  }
}

/** The inverse of the matrix of distances between points, by Gauss's elimination with pivots. */
export function invertDistances(points, m, e) {
  const rows = Array.from({ length: m }, (_, i) => {
    const row = new Float64Array(2 * m);
    for (let j = 0; j < m; j++) {
      let square = 0;
      for (let a = 0; a < e; a++) square += (points[i * e + a] - points[j * e + a]) ** 2;
      row[j] = Math.sqrt(square);
    }
    row[m + i] = 1;
    return row;
  });
  for (let k = 0; k < m && m > 1; k++) {
    let pivot = k;
    for (let i = k; i < m; i++) if (Math.abs(rows[i][k]) > Math.abs(rows[pivot][k])) pivot = i;
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    rows[k] = rows[k].map((x) => x / rows[k][k]);
    rows.forEach((row, i) => { if (i !== k && row[k] !== 0) rows[i] = row.map((x, j) => x - row[k] * rows[k][j]); });
  }
  return Float64Array.from(rows.flatMap((row) => Array.from(row.subarray(m))));
}
