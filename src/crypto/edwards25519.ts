/**
 * Points of edwards25519, -x^2 + y^2 = 1 + d x^2 y^2 modulo p = 2^255 - 19 (RFC 8032): sums, and multiples of points
 * for which a table pays off. The same curve as Curve25519 in other coordinates: u = (1 + y) / (1 - y).
 *
 * Not constant-time: V8's bigint is not. Only scalars of one session or job are multiplied here, on the machine that
 * drew them; long-term secrets are not.
 */
import { TandemError } from "../base/error.ts";
import { inverse, modulo, power, readInteger, writeInteger } from "./integers.ts";

export const pointBytes = 32;
export const fieldPrime = 2n ** 255n - 19n;
const p = fieldPrime;
export const curveConstant = modulo(-121665n * inverseOf(121666n), p);
const d = curveConstant;
const twiceD = modulo(2n * d, p);
const squareRootOfMinusOne = power(2n, (p - 1n) / 4n, p);
/** The order of the subgroup that the base point generates. */
export const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n;

/** Extended coordinates: x = X/Z, y = Y/Z, T = XY/Z. */
export interface Point {
  readonly x: bigint;
  readonly y: bigint;
  readonly z: bigint;
  readonly t: bigint;
}

export const neutral: Point = { x: 0n, y: 1n, z: 1n, t: 0n };
export const basePoint = lifted(modulo(4n * inverseOf(5n), p), 0n);

/** What `plus` takes of a point. */
interface Summand {
  readonly difference: bigint;
  readonly sum: bigint;
  readonly twiceDT: bigint;
  readonly twiceZ: bigint;
}

function summandFrom({ x, y, z, t }: Point): Summand {
  return { difference: y - x, sum: y + x, twiceDT: (twiceD * t) % p, twiceZ: 2n * z };
}

export function add(one: Point, other: Point): Point {
  return plus(one, summandFrom(other));
}

/** Complete: it holds for all pairs of points, equal ones too (Hisil, Wong, Carter and Dawson 2008, section 3.1). */
function plus(one: Point, other: Summand): Point {
  const a = ((one.y - one.x) * other.difference) % p;
  const b = ((one.y + one.x) * other.sum) % p;
  const c = (one.t * other.twiceDT) % p;
  const e = (one.z * other.twiceZ) % p;
  const [f, g, h, i] = [b - a, e - c, e + c, b + a];
  return { x: (f * g) % p, y: (h * i) % p, z: (g * h) % p, t: (f * i) % p };
}

export function negative({ x, y, z, t }: Point): Point {
  return { x: -x, y, z, t: -t };
}

/** Whether eight times the point is the neutral one: it has no component in the large subgroup. */
export function isSmallOrder(point: Point): boolean {
  let multiple = point;
  for (let i = 0; i < 3; i++) multiple = add(multiple, multiple);
  return isNeutral(multiple);
}

function isNeutral({ x, y, z }: Point): boolean {
  return modulo(x, p) === 0n && modulo(y - z, p) === 0n;
}

const windowBits = 4;
const windowCount = 64;

/** Multiples of one point by many scalars: a row of a table for each four bits of a scalar. */
export class Multiples {
  readonly #rows: readonly (readonly Summand[])[];

  constructor(point: Point) {
    this.#rows = Array.from({ length: windowCount }, () => {
      const base = summandFrom(point);
      const row = [neutral];
      for (let digit = 1; digit < 1 << windowBits; digit++) row.push(plus(row[digit - 1], base));
      point = plus(row[row.length - 1], base);
      return row.map(summandFrom);
    });
  }

  /** @param scalar from 0 to 2^256 */
  by(scalar: bigint): Point {
    const digits = scalar.toString(16).padStart(windowCount, "0");
    return this.#rows.reduce(
      (sum, row, i) => plus(sum, row[Number.parseInt(digits[windowCount - 1 - i], 16)]),
      neutral,
    );
  }
}

/** Whether a point other than the neutral one is a multiple of the base point: the subgroup has prime order. */
export function hasPrimeOrder(multiples: Multiples): boolean {
  return isNeutral(multiples.by(groupOrder));
}

/** y and the lowest bit of x, as RFC 8032 writes a point; one inversion for all points. */
export function encodedAll(points: readonly Point[]): Uint8Array {
  const bytes = new Uint8Array(points.length * pointBytes);
  for (const [i, { x, y }] of affine(points).entries()) writeInteger(bytes, pointBytes, i, y | ((x & 1n) << 255n));
  return bytes;
}

/** x and y of many points, by one inversion and three products each (Montgomery's trick). */
export function affine(points: readonly Point[]): { readonly x: bigint; readonly y: bigint }[] {
  const inverses = inverted(points.map(({ z }) => z));
  return points.map(({ x, y }, i) => ({ x: modulo(x * inverses[i], p), y: modulo(y * inverses[i], p) }));
}

/** The inverses modulo p of values that are not 0. */
export function inverted(values: readonly bigint[]): bigint[] {
  const before: bigint[] = [];
  let product = 1n;
  for (const value of values) {
    before.push(product);
    product = (product * value) % p;
  }
  let rest = inverseOf(product);
  const inverses = new Array<bigint>(values.length);
  for (let i = values.length - 1; i >= 0; i--) {
    inverses[i] = modulo(before[i] * rest, p);
    rest = (rest * values[i]) % p;
  }
  return inverses;
}

/** @throws TandemError PROTOCOL_STATE if it is not a point, not canonical, or of small order */
export function decoded(bytes: Uint8Array): Point {
  return checked(decodedAnyOrder(bytes));
}

/** @throws TandemError PROTOCOL_STATE if it is not a point, or not canonical */
export function decodedAnyOrder(bytes: Uint8Array): Point {
  const number = readInteger(bytes, pointBytes, 0);
  return lifted(BigInt.asUintN(255, number), number >> 255n);
}

/**
 * The point of an X25519 public key whose x is even. (The key belongs to the point or to its negative: neither X25519
 * nor this code distinguishes them.)
 * @throws TandemError PROTOCOL_STATE if it is not on the curve, or of small order
 */
export function fromMontgomery(bytes: Uint8Array): Point {
  const u = readInteger(bytes, pointBytes, 0);
  if (u >= p || u === p - 1n) throw noPoint();
  return checked(lifted(modulo((u - 1n) * inverseOf(u + 1n), p), 0n));
}

/** The u-coordinates, as X25519 takes them, of points that are not of small order; one inversion for all points. */
export function montgomeryBytes(points: readonly Point[]): Uint8Array {
  const inverses = inverted(points.map(({ y, z }) => z - y));
  const bytes = new Uint8Array(points.length * pointBytes);
  for (const [i, { y, z }] of points.entries()) writeInteger(bytes, pointBytes, i, modulo((z + y) * inverses[i], p));
  return bytes;
}

/** The point with this y whose x has this lowest bit (RFC 8032, 5.1.3). */
function lifted(y: bigint, sign: bigint): Point {
  if (y >= p) throw noPoint();
  const squareOfY = (y * y) % p;
  const [u, v] = [modulo(squareOfY - 1n, p), (d * squareOfY + 1n) % p];
  const v3 = (v * v * v) % p;
  let x = (u * v3 * power((u * v3 * v3 * v) % p, (p - 5n) / 8n, p)) % p;
  const square = (v * x * x) % p;
  if (square === modulo(-u, p)) x = (x * squareRootOfMinusOne) % p;
  else if (square !== u) throw noPoint();
  if (x === 0n && sign === 1n) throw noPoint();
  if ((x & 1n) !== sign) x = p - x;
  return { x, y, z: 1n, t: (x * y) % p };
}

function checked(point: Point): Point {
  if (isSmallOrder(point)) throw noPoint();
  return point;
}

function inverseOf(value: bigint): bigint {
  return inverse(value, p) ?? 0n;
}

function noPoint(): TandemError {
  return new TandemError("PROTOCOL_STATE", "a point is not on the curve, or of small order");
}
