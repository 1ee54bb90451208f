/**
 * Which 32-byte strings are u-coordinates of points on Curve25519, v^2 = u^3 + 486662 u^2 + u modulo p = 2^255 - 19
 * (RFC 7748), and not of its twist. X25519 multiplies points of either without saying which it was, and a point never
 * changes sides: a hashed id left on the twist would show one bit of its hash through every mask. So a hash is accepted
 * only if the right-hand side is a square: its Jacobi symbol over p is 1.
 *
 * The symbol is computed with 2-adic division steps that stay positive, as in libsecp256k1's modinv32
 * (`jacobi32_maybe_var`): 26 steps at a time on the low bits, then applied to ten 26-bit limbs held as doubles. Row
 * sums of the transition matrix are at most 2^26, so all products and sums stay below 2^53. That takes about 5 us;
 * Euler's criterion in bigint takes 180 us, and a mask 54 us.
 *
 * Not constant-time: the running time depends on the id, which never leaves its holder's machine.
 */
import { assert } from "../base/assert.ts";

export const pointBytes = 32;
export const fieldPrime = 2n ** 255n - 19n;
export const curveA = 486662n;

/**
 * The u-coordinates of small order that are canonical: on the curve 0 (order 2), 1 (order 4) and two of order 8; on the
 * twist -1. Every multiple that X25519 can take of them is zero.
 */
export const smallOrderCoordinates: readonly bigint[] = [
  0n,
  1n,
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
  fieldPrime - 1n,
];

const limbBits = 26;
const limbRadix = 2 ** limbBits;
const limbCount = 10;
/** About 22 batches settle a symbol; one that takes more than this is computed by Euler's criterion. */
const batchesMax = 60;
const primeLimbs = Float64Array.from({ length: limbCount }, (_, i) =>
  Number(BigInt.asUintN(limbBits, fieldPrime >> BigInt(limbBits * i))),
);

/** @returns the little-endian number at `offset`; all 256 bits count */
export function readCoordinate(points: Uint8Array, offset: number): bigint {
  const view = new DataView(points.buffer, points.byteOffset + offset, pointBytes);
  const low = view.getBigUint64(0, true) | (view.getBigUint64(8, true) << 64n);
  return low | (view.getBigUint64(16, true) << 128n) | (view.getBigUint64(24, true) << 192n);
}

/** Whether u < p: X25519 takes other encodings too, but never writes them. */
export function isCanonical(points: Uint8Array, offset: number): boolean {
  const top = points[offset + 31];
  if (top < 0x7f) return true;
  if (top > 0x7f) return false;
  for (let i = 30; i > 0; i--) if (points[offset + i] !== 0xff) return true;
  return points[offset] < 0xed;
}

/** @returns whether u belongs to a point of Curve25519 that is not of small order (of either sign: u has no sign) */
export function isLargeOrderOnCurve(u: bigint): boolean {
  if (u >= fieldPrime || smallOrderCoordinates.includes(u)) return false;
  return jacobiSymbol((u * (u * u + curveA * u + 1n)) % fieldPrime) === 1;
}

/** (value | p) for 0 <= value < p: 0 for zero, 1 for other squares, -1 for the rest. */
export function jacobiSymbol(value: bigint): number {
  assert(value >= 0n && value < fieldPrime, "a field element");
  if (value === 0n) return 0;
  return divisionSteps(value) ?? eulerSymbol(value);
}

/** value^((p-1)/2): slow and obvious. The fallback that has never been needed, and the oracle of the fast way. */
export function eulerSymbol(value: bigint): number {
  let result = 1n;
  let power = value;
  for (let exponent = (fieldPrime - 1n) / 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * power) % fieldPrime;
    power = (power * power) % fieldPrime;
  }
  return result === fieldPrime - 1n ? -1 : Number(result);
}

/** Scratch: f and g of the division steps, and one batch's transition matrix (u v; q r) with eta and the sign. */
const f = new Float64Array(limbCount);
const g = new Float64Array(limbCount);
const step = { eta: 0, flips: 0, u: 0, v: 0, q: 0, r: 0 };

function divisionSteps(value: bigint): number | null {
  f.set(primeLimbs);
  let rest = value;
  for (let i = 0; i < limbCount; i += 2) {
    const pair = Number(BigInt.asUintN(2 * limbBits, rest));
    rest >>= BigInt(2 * limbBits);
    const high = Math.floor(pair / limbRadix);
    g[i] = pair - high * limbRadix;
    g[i + 1] = high;
  }
  step.eta = -1;
  step.flips = 0;
  let length = limbCount;
  for (let batch = 0; batch < batchesMax; batch++) {
    stepLowBits(f[0] | (f[1] << limbBits), g[0] | (g[1] << limbBits));
    applySteps(length);
    if (f[0] === 1 && isOne(length)) return 1 - 2 * (step.flips & 1);
    if (length > 2 && f[length - 1] === 0 && g[length - 1] === 0) length--;
  }
  return null;
}

/** 26 division steps on the low 32 bits of f (odd) and g; each step halves g, or swaps and halves. */
function stepLowBits(fLow: number, gLow: number): void {
  let { eta, flips } = step;
  let u = 1;
  let v = 0;
  let q = 0;
  let r = 1;
  let fw = fLow;
  let gw = gLow;
  let left = limbBits;
  for (;;) {
    const candidate = gw | (-1 << left);
    const zeros = 31 - Math.clz32(candidate & -candidate);
    gw >>>= zeros;
    u <<= zeros;
    v <<= zeros;
    eta -= zeros;
    left -= zeros;
    flips ^= zeros & ((fw >>> 1) ^ (fw >>> 2)); // (2 | f) is -1 for f = 3, 5 mod 8
    if (left === 0) break;
    let w: number;
    if (eta < 0) {
      eta = -eta;
      [fw, gw] = [gw, fw];
      [u, q] = [q, u];
      [v, r] = [r, v];
      flips ^= (fw & gw) >>> 1; // reciprocity: both are 3 mod 4
      // -g/f modulo 2^6: f (f^2 - 2) is -1/f there.
      w = Math.imul(Math.imul(fw, gw), Math.imul(fw, fw) - 2) & lowMask(Math.min(eta + 1, left, 6));
    } else {
      // -g/f modulo 2^4: f, plus 8 where f is 3 or 5 modulo 8, is 1/f there.
      w = Math.imul(-(fw + (((fw + 1) & 4) << 1)), gw) & lowMask(Math.min(eta + 1, left, 4));
    }
    gw = (gw + Math.imul(fw, w)) | 0;
    q += Math.imul(u, w);
    r += Math.imul(v, w);
  }
  step.eta = eta;
  step.flips = flips;
  step.u = u;
  step.v = v;
  step.q = q;
  step.r = r;
}

function lowMask(bits: number): number {
  return (1 << bits) - 1;
}

/** (f, g) <- (u f + v g, q f + r g) / 2^26; the division is exact. */
function applySteps(length: number): void {
  const { u, v, q, r } = step;
  const scale = 1 / limbRadix;
  let fCarry = (u * f[0] + v * g[0]) * scale;
  let gCarry = (q * f[0] + r * g[0]) * scale;
  for (let i = 1; i < length; i++) {
    const fSum = u * f[i] + v * g[i] + fCarry;
    const gSum = q * f[i] + r * g[i] + gCarry;
    fCarry = Math.floor(fSum * scale);
    gCarry = Math.floor(gSum * scale);
    f[i - 1] = fSum - fCarry * limbRadix;
    g[i - 1] = gSum - gCarry * limbRadix;
  }
  f[length - 1] = fCarry;
  g[length - 1] = gCarry;
}

function isOne(length: number): boolean {
  for (let i = 1; i < length; i++) if (f[i] !== 0) return false;
  return true;
}
