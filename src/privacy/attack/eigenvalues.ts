/** Eigenvalues of a symmetric matrix: Householder tridiagonalisation, then QL with implicit shifts. */

/** @param matrix its rows; overwritten */
export function eigenvalues(matrix: Float64Array[]): number[] {
  const { diagonal, offDiagonal } = tridiagonal(matrix);
  const count = diagonal.length;
  // What is left of a matrix without full rank is rounding, which sweeps would never remove.
  const rounding = 1e-15 * Math.max(0, ...diagonal.map(Math.abs), ...offDiagonal.map(Math.abs));
  for (let first = 0; first < count; first++) {
    for (;;) {
      let last = first;
      while (last + 1 < count && !isNegligible(offDiagonal[last], diagonal[last], diagonal[last + 1], rounding)) last++;
      if (last === first) break;
      sweep(diagonal, offDiagonal, first, last);
    }
  }
  return Array.from(diagonal);
}

function isNegligible(value: number, a: number, b: number, rounding: number): boolean {
  return Math.abs(value) <= Math.max(rounding, 1e-14 * (Math.abs(a) + Math.abs(b)));
}

function sweep(diagonal: Float64Array, offDiagonal: Float64Array, first: number, last: number): void {
  const half = (diagonal[first + 1] - diagonal[first]) / (2 * offDiagonal[first]);
  let g = diagonal[last] - diagonal[first] + offDiagonal[first] / (half + Math.sign(half || 1) * Math.hypot(half, 1));
  let [s, c, p] = [1, 1, 0];
  for (let i = last - 1; i >= first; i--) {
    const f = s * offDiagonal[i];
    const b = c * offDiagonal[i];
    const r = Math.hypot(f, g);
    offDiagonal[i + 1] = r;
    if (r === 0) {
      diagonal[i + 1] -= p;
      offDiagonal[last] = 0;
      return;
    }
    s = f / r;
    c = g / r;
    const shifted = diagonal[i + 1] - p;
    const t = (diagonal[i] - shifted) * s + 2 * c * b;
    p = s * t;
    diagonal[i + 1] = shifted + p;
    g = c * t - b;
  }
  diagonal[first] -= p;
  offDiagonal[first] = g;
  offDiagonal[last] = 0;
}

function tridiagonal(matrix: Float64Array[]): { diagonal: Float64Array; offDiagonal: Float64Array } {
  const count = matrix.length;
  const diagonal = new Float64Array(count);
  const offDiagonal = new Float64Array(count);
  for (let k = count - 1; k > 0; k--) {
    const row = matrix[k].subarray(0, k);
    const norm = Math.hypot(...row);
    diagonal[k] = matrix[k][k];
    if (norm === 0) continue;
    const alpha = row[k - 1] > 0 ? -norm : norm;
    offDiagonal[k - 1] = alpha;
    row[k - 1] -= alpha;
    const scale = row.reduce((sum, x) => sum + x * x, 0) / 2;
    reflect(matrix, row, scale, k);
  }
  if (count > 0) diagonal[0] = matrix[0][0];
  return { diagonal, offDiagonal };
}

/** Applies the Householder reflection of a vector to the leading k rows and columns. */
function reflect(matrix: Float64Array[], vector: Float64Array, scale: number, k: number): void {
  const image = new Float64Array(k);
  for (let i = 0; i < k; i++) {
    const row = matrix[i];
    let sum = 0;
    for (let j = 0; j < k; j++) sum += row[j] * vector[j];
    image[i] = sum / scale;
  }
  let overlap = 0;
  for (let i = 0; i < k; i++) overlap += image[i] * vector[i];
  overlap /= 2 * scale;
  for (let i = 0; i < k; i++) image[i] -= overlap * vector[i];
  for (let i = 0; i < k; i++) {
    const row = matrix[i];
    for (let j = 0; j < k; j++) row[j] -= vector[i] * image[j] + image[i] * vector[j];
  }
}
