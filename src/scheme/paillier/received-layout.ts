/** Whether the plaintexts that a set-up asks for are those of the job that was agreed on. */
import { TandemError } from "../../base/error.ts";
import { agreedLayout } from "../../codec/agreed-layout.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import { plaintextBitsMax } from "../../codec/packing.ts";
import type { PassiveSchemeJob } from "../scheme.ts";

/**
 * @returns the layout; its slots are the job's own only where there is noise
 * @throws TandemError POLICY for plaintexts that are wider than the job needs, or that come back one by one
 */
export function checkedLayout(
  asked: { readonly ciphertextsPerInstance: number; readonly plaintextBits: number; readonly packing: boolean },
  { terms, instanceCount, allowsUnpacked }: PassiveSchemeJob,
  keyBits: number,
): GradientLayout {
  const { ciphertextsPerInstance, plaintextBits, packing } = asked;
  const layout = agreedLayout(terms, instanceCount, plaintextBitsMax(keyBits));
  const { plaintexts } = layout;
  // Slots that are narrower than the widest may be cut otherwise where there are several plaintexts.
  const isCut = terms.codec !== "unbatched" && plaintexts.length > 1 && layout.noise === null;
  const bitsMax = isCut ? plaintextBitsMax(keyBits) : layout.plaintextBits;
  if (ciphertextsPerInstance > plaintexts.length || plaintextBits > bitsMax)
    throw new TandemError(
      "POLICY",
      `the set-up asks for ${ciphertextsPerInstance} plaintexts of ${plaintextBits} bits per person; ` +
        `${instanceCount} people at the agreed resolution need ${plaintexts.length} of ${bitsMax} at most`,
    );
  if (layout.noise !== null && (ciphertextsPerInstance < plaintexts.length || plaintextBits < bitsMax))
    throw new TandemError(
      "PROTOCOL_STATE",
      `the set-up asks for ${ciphertextsPerInstance} plaintexts of ${plaintextBits} bits per person; ` +
        `with noise it must be ${plaintexts.length} of ${bitsMax}`,
    );
  if (!packing && !allowsUnpacked)
    throw new TandemError(
      "POLICY",
      "packing: off asked, on needed: a sum with a ciphertext to itself has room for more than a sum",
    );
  return layout;
}
