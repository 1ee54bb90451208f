/**
 * Points and weights of Gauss-Legendre quadrature on [0, 1]: with n points the integral of every polynomial of degree
 * below 2 n is exact.
 */
export interface Quadrature {
  readonly points: Float64Array;
  readonly weights: Float64Array;
}

const known = new Map<number, Quadrature>();

export function gaussLegendre(count: number): Quadrature {
  const found = known.get(count) ?? made(count);
  known.set(count, found);
  return found;
}

function made(count: number): Quadrature {
  const points = new Float64Array(count);
  const weights = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    let x = Math.cos((Math.PI * (i + 0.75)) / (count + 0.5));
    let slope = 1;
    for (let step = 0; step < 100; step++) {
      const [value, derivative] = legendre(count, x);
      slope = derivative;
      const move = value / derivative;
      x -= move;
      if (Math.abs(move) <= 2 ** -52) break;
    }
    points[i] = (1 - x) / 2;
    weights[i] = 1 / ((1 - x * x) * slope * slope);
  }
  return { points, weights };
}

/** The Legendre polynomial of this degree and its derivative, by their recurrence. */
function legendre(degree: number, x: number): [value: number, derivative: number] {
  let [before, value] = [1, x];
  for (let n = 2; n <= degree; n++) [before, value] = [value, ((2 * n - 1) * x * value - (n - 1) * before) / n];
  return [value, (degree * (x * value - before)) / (x * x - 1)];
}
