/** Validates the active party's public key. */
import { TandemError } from "../../base/error.ts";
import { bitLength } from "../../crypto/integers.ts";
import { keyBitsMax, keyBitsMin, PublicKey } from "../../crypto/paillier/keys.ts";
import { bigEndianNumber } from "../../wire/big-endian.ts";

/** Checks n from a peer here: a PublicKey accepts only valid moduli. */
export function checkedPublicKey(modulus: Uint8Array, keyBits: number): PublicKey {
  const lengthMax = Math.ceil(keyBitsMax / 8);
  if (modulus.length > lengthMax || modulus[0] === 0) {
    throw new TandemError("KEY_FORMAT", `the public key must have at most ${lengthMax} bytes and no leading zero`);
  }
  const n = bigEndianNumber(modulus);
  const bits = bitLength(n);
  if (bits !== keyBits)
    throw new TandemError("HANDSHAKE_MISMATCH", `the public key has ${bits} bits; ${keyBits} were agreed`);
  if (n % 2n === 0n || bits % 2 !== 0 || bits < keyBitsMin) {
    throw new TandemError(
      "KEY_FORMAT",
      `the public key must be odd and have an even number of bits from ${keyBitsMin} to ${keyBitsMax}`,
    );
  }
  return new PublicKey(n);
}
