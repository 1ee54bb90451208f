/**
 * Checks that the plaintexts of a set-up are exactly those of the agreed job, to the bit. The content of ciphertexts
 * cannot be checked, but sums have no more room than their strides. This bounds what a malicious active party, which
 * encrypts marks, can learn about the summed instances: per candidate, on average as many bits as an instance's
 * plaintexts have. docs/protocol.md has the figures.
 */
import { TandemError } from "../../base/error.ts";
import { agreedLayout } from "../../codec/agreed-layout.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import { plaintextBitsMax } from "../../codec/packing.ts";
import type { SentPassiveJob } from "../sent-scheme.ts";

/**
 * @returns the layout; shifts and resolutions follow from the agreed job, not from the active party
 * @throws TandemError POLICY for plaintexts that are wider or more numerous than the job needs, or unpacked sums
 * @throws TandemError PROTOCOL_STATE for narrower or fewer ones
 */
export function checkedLayout(
  asked: { readonly ciphertextsPerInstance: number; readonly plaintextBits: number; readonly packing: boolean },
  { terms, instanceCount, allowsUnpacked }: SentPassiveJob,
  keyBits: number,
): GradientLayout {
  const { ciphertextsPerInstance, plaintextBits, packing } = asked;
  const layout = agreedLayout(terms, instanceCount, plaintextBitsMax(keyBits));
  const count = layout.plaintexts.length;
  const bits = layout.plaintextBits;
  if (ciphertextsPerInstance !== count || plaintextBits !== bits)
    throw new TandemError(
      ciphertextsPerInstance > count || plaintextBits > bits ? "POLICY" : "PROTOCOL_STATE",
      `the set-up asks for ${ciphertextsPerInstance} plaintexts of ${plaintextBits} bits per instance; ` +
        `${instanceCount} instances at the agreed resolution need ${count} of ${bits}`,
    );
  if (!packing && !allowsUnpacked)
    throw new TandemError(
      "POLICY",
      "packing: off asked, on needed: a sum in its own ciphertext has room for more than the sum",
    );
  return layout;
}
