/**
 * The evaluators with random numbers as arguments. Every call is then deterministic, so the kernels can be compared
 * byte for byte. index.ts does not export this interface: callers outside this folder never choose a nonce.
 */
import type { PackRequest, PrivateEvaluator, PublicEvaluator } from "./kernel.ts";
import type { OwnerExponents } from "./nonces.ts";
import type { CiphertextVector, ObfuscatorVector, PlaintextVector, ResidentVector } from "./vectors.ts";

export interface SeamedPublicEvaluator extends PublicEvaluator {
  /** r^n mod n^2 for flat bases r in [1, n), plaintextBytes wide. */
  obfuscatorsFrom(bases: Uint8Array): Promise<ObfuscatorVector>;
  /** As pack, with r^n for such bases r, one per element of the result. */
  packFrom(request: PackRequest, bases: Uint8Array): Promise<ResidentVector>;
}

export interface SeamedPrivateEvaluator extends PrivateEvaluator {
  /** Encrypts with the obfuscators g_p^e mod p^2 and g_q^e' mod q^2; exponents may be narrower than the primes. */
  encryptWithExponents(plaintexts: PlaintextVector, exponents: OwnerExponents): Promise<CiphertextVector>;
}
