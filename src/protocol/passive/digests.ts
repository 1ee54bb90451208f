/** Digests by which a passive party recognises a repeated request: equal exactly if the requests are. */
import { createHash } from "node:crypto";
import type { ActiveGradients, ActiveSetUp } from "../../wire/generated/tandem/v1/tandem_pb.ts";

export function membersDigest(members: Uint32Array): string {
  return digest("members", new Uint8Array(members.buffer, members.byteOffset, members.byteLength));
}

/** The terms of a round: its sample, and its column sampling rate if it has one of its own. */
export function sampleDigest({
  sampled,
  colsampleBytree: rate,
}: Pick<ActiveGradients, "sampled" | "colsampleBytree">): string {
  return digest(rate === 0 ? "sample" : `sample/${rate}`, sampled);
}

/** @param lasting what the scheme keeps across attempts: with Paillier the key */
export function setUpDigest({ skipBin }: Pick<ActiveSetUp, "skipBin">, lasting: Uint8Array): string {
  return digest(`set-up/${String(skipBin)}`, lasting);
}

function digest(what: string, bytes: Uint8Array): string {
  return createHash("sha256").update(`tandem/${what}/${bytes.length}\n`).update(bytes).digest("hex");
}
