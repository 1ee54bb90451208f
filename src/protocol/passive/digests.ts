/** Digests by which a passive party knows a question again: equal exactly if what was asked is. */
import { createHash } from "node:crypto";
import type { ActiveSetUp } from "../../wire/generated/tandem/v1/tandem_pb.ts";

export function membersDigest(members: Uint32Array): string {
  return digest("members", new Uint8Array(members.buffer, members.byteOffset, members.byteLength));
}

/** @param sampled bitmap over all instances; empty: all */
export function sampleDigest(sampled: Uint8Array): string {
  return digest("sample", sampled);
}

/** @param lasting what the scheme keeps from attempt to attempt: of Paillier the key */
export function setUpDigest({ skipBin }: Pick<ActiveSetUp, "skipBin">, lasting: Uint8Array): string {
  return digest(`set-up/${String(skipBin)}`, lasting);
}

function digest(what: string, bytes: Uint8Array): string {
  return createHash("sha256").update(`tandem/${what}/${bytes.length}\n`).update(bytes).digest("hex");
}
