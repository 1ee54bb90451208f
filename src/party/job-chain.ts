/** A party's side of a chain: signs, and checks the other party's signatures. */
import { type KeyObject, sign, verify, X509Certificate } from "node:crypto";
import { TandemError } from "../base/error.ts";
import { digestBytes } from "../protocol/chain/entries.ts";
import { type ClosedGradients, noBytes } from "../messages/call.ts";
import { answerText, gradientsText, nextLink, PairChain, signedText } from "../protocol/chain/pair-chain.ts";
import type { Introduction, NodeAnswer, OpenChain } from "../protocol/chain/record.ts";
import { certificateFingerprint } from "../transport/pinned-certificate.ts";
import { peerText } from "../wire/peer-text.ts";

export type ChainRole = "active" | "passive";

export interface ChainTerms {
  readonly role: ChainRole;
  readonly job: string;
  /** The other party's name, and the certificate that it has shown. */
  readonly peer: string;
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
  /** The next tree, and the link before it. */
  readonly tree: number;
  readonly previous: Uint8Array;
}

export function openChain({ role, job, peer, certificate, key, tree, previous }: ChainTerms): OpenChain {
  const other = role === "active" ? "passive" : "active";
  const chain = new PairChain(tree, previous);
  const answerTextOf = ({ tree, node, before, entries }: NodeAnswer): Buffer =>
    answerText(job, nextLink(chain.previous, tree, before), tree, node, entries);
  const textOf = (closed: ClosedGradients, entries: Uint8Array): Buffer =>
    gradientsText(job, closed.node === null ? chain.previous : nextLink(chain.previous, closed.tree, entries), closed);
  return {
    chain,
    sign: (closed) => Uint8Array.from(sign(digestFor(key), signedText(role, job, closed.tree, closed.link), key)),
    verify: (closed, signature) => {
      if (isSigned(certificate, signedText(other, job, closed.tree, closed.link), signature)) return;
      throw new TandemError("PROTOCOL_STATE", `party ${peer} has not signed tree ${closed.tree} with its key`);
    },
    signGradients: (closed) => {
      const entries = closed.node === null ? null : chain.closing().entries;
      const signature = Uint8Array.from(sign(digestFor(key), textOf(closed, entries ?? noBytes), key));
      return { signature, ...(entries === null ? {} : { entries }) };
    },
    verifyGradients: (closed, { signature, entries = noBytes }) => {
      if (closed.node !== null) chain.check(closed.tree, entries);
      if (closed.tree === chain.tree && isSigned(certificate, textOf(closed, entries), signature)) return;
      throw new TandemError(
        "PROTOCOL_STATE",
        `party ${peer} has not signed these gradients of tree ${closed.tree} with its key`,
      );
    },
    signAnswer: (answer) => Uint8Array.from(sign(digestFor(key), answerTextOf(answer), key)),
    verifyAnswer: (answer, signature) => {
      if (isSigned(certificate, answerTextOf(answer), signature)) return;
      throw new TandemError(
        "PROTOCOL_STATE",
        `party ${peer} has not signed its answer about node ${answer.node} of tree ${answer.tree} with its key`,
      );
    },
  };
}

export function isSigned({ publicKey }: X509Certificate, text: Uint8Array, signature: Uint8Array): boolean {
  return verify(digestFor(publicKey), text, publicKey, signature);
}

/** These two include a hash; the others (ECDSA, RSA) need one. */
function digestFor({ asymmetricKeyType }: KeyObject): string | null {
  return asymmetricKeyType === "ed25519" || asymmetricKeyType === "ed448" ? null : "sha256";
}

/**
 * Checks that the other party shows the pinned certificate and a commitment.
 * @throws TandemError HANDSHAKE_MISMATCH
 */
export function checkedCertificate(
  peer: string,
  { commitment, certificate }: Introduction,
  fingerprints: readonly string[],
): X509Certificate {
  const shown = peerText(peer);
  if (commitment.length !== digestBytes)
    throw new TandemError("HANDSHAKE_MISMATCH", `commitment: party ${shown} has made none`);
  let parsed: X509Certificate;
  try {
    parsed = new X509Certificate(certificate);
  } catch (cause) {
    throw new TandemError("HANDSHAKE_MISMATCH", `certificate: party ${shown} shows none that can be read`, { cause });
  }
  if (!fingerprints.includes(certificateFingerprint(parsed.toString())))
    throw new TandemError("HANDSHAKE_MISMATCH", `certificate: party ${shown} shows another than the pinned one`);
  return parsed;
}

/** @throws TandemError HANDSHAKE_MISMATCH */
export function refuseOtherCommitment(peer: string): never {
  throw new TandemError(
    "HANDSHAKE_MISMATCH",
    `commitment: party ${peerText(peer)} has committed to something else when the job began; choose another name`,
  );
}
