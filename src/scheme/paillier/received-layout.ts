/**
 * Whether the plaintexts that a set-up asks for are those of the job that was agreed on, to the bit. Nobody can see
 * what is encrypted in them. But sums have no more room than their strides. So that is all that an active party which
 * encrypts marks can learn of who was summed: per candidate as many bits as a person's plaintexts have, on average.
 * docs/protocol.md has the figures.
 */
import { TandemError } from "../../base/error.ts";
import { agreedLayout } from "../../codec/agreed-layout.ts";
import type { GradientLayout } from "../../codec/layout.ts";
import { plaintextBitsMax } from "../../codec/packing.ts";
import type { SentPassiveJob } from "../sent-scheme.ts";

/**
 * @returns the layout; what its slots say of shifts and resolutions is not the active party's
 * @throws TandemError POLICY for plaintexts that are wider than the job needs, or more, or that come back one by one
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
      `the set-up asks for ${ciphertextsPerInstance} plaintexts of ${plaintextBits} bits per person; ` +
        `${instanceCount} people at the agreed resolution need ${count} of ${bits}`,
    );
  if (!packing && !allowsUnpacked)
    throw new TandemError(
      "POLICY",
      "packing: off asked, on needed: a sum with a ciphertext to itself has room for more than a sum",
    );
  return layout;
}
