/**
 * Samplers over a key stream. Every kernel draws the same numbers from the same bytes, so rejection and byte order are
 * part of the scheme. Only the bytes that are used are consumed, independent of buffer sizes.
 */
import { bitLength } from "../../integers.ts";

/** Returns the next bytes; streams.ts has the real one. */
export interface ByteSource {
  take(count: number): Uint8Array;
}

/** Residues below p: the low 50 bits of 8 bytes, little-endian, with rejection. */
export function drawUniform(source: ByteSource, count: number, p: number): Float64Array {
  const drawn = new Float64Array(count);
  for (let filled = 0; filled < count;) {
    const bytes = source.take(8 * (count - filled));
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < bytes.length; at += 8) {
      const value = view.getUint32(at, true) + (view.getUint32(at + 4, true) & 0x3ffff) * 2 ** 32;
      if (value < p) drawn[filled++] = value;
    }
  }
  return drawn;
}

/** -1, 0 or 1: five from each byte below 243 = 3^5, lowest digit first. */
export function drawTernary(source: ByteSource, count: number): Int8Array {
  const drawn = new Int8Array(count);
  for (let filled = 0; filled < count;) {
    for (const byte of source.take(Math.ceil((count - filled) / 5))) {
      if (byte >= 243) continue;
      for (let digit = 0, rest = byte; digit < 5 && filled < count; digit++, rest = Math.floor(rest / 3))
        drawn[filled++] = (rest % 3) - 1;
    }
  }
  return drawn;
}

/** Centred binomial: ones of two bytes minus ones of the next two. Variance 8, at most 16. */
export function drawBinomial(source: ByteSource, count: number): Int8Array {
  const drawn = new Int8Array(count);
  const bytes = source.take(4 * count);
  for (let i = 0; i < count; i++)
    drawn[i] = ones[bytes[4 * i]] + ones[bytes[4 * i + 1]] - ones[bytes[4 * i + 2]] - ones[bytes[4 * i + 3]];
  return drawn;
}

const ones = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll("0", "").length);

/**
 * The smudging noise that hides the errors of an answer: the sum of four uniforms on [-W, W). Not Gaussian, because the
 * tail of a Gaussian can cause a wrong decryption. Each uniform is the low bits of 8 bytes, little-endian (16 if 2W is
 * above 2^64), with rejection.
 */
export function drawSmudgingSample(source: ByteSource, width: bigint): bigint {
  const bits = bitLength(2n * width - 1n);
  const mask = (1n << BigInt(bits)) - 1n;
  let smudging = -4n * width;
  for (let i = 0; i < 4; i++) {
    let uniform: bigint;
    do uniform = littleEndian(source.take(bits > 64 ? 16 : 8)) & mask;
    while (uniform >= 2n * width);
    smudging += uniform;
  }
  return smudging;
}

function littleEndian(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const low = view.getBigUint64(0, true);
  return bytes.length === 8 ? low : low | (view.getBigUint64(8, true) << 64n);
}
