/** Arithmetic with ciphertexts as a cheat does it: no key, and no hurry. */

export function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  for (let [factor, left] = [base % modulus, exponent]; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = (result * factor) % modulus;
    factor = (factor * factor) % modulus;
  }
  return result;
}

export function littleEndianNumber(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
}

export function littleEndianBytes(value: bigint, width: number): Uint8Array {
  return Buffer.from(value.toString(16).padStart(2 * width, "0"), "hex").reverse();
}
