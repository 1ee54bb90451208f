/**
 * The id of a model: the same at every party that trained it, so that shares of one model can be matched. It is
 * computed from what all parties know after the handshake, without randomness or time: the same training gives the same
 * id. It covers a digest of the ids, so it reveals nothing about an id to a reader who does not hold the ids.
 */
import { createHash } from "node:crypto";
import { type AgreedParameters, flatParameters } from "./job-parameters.ts";

/** @returns 64 lowercase hex digits: SHA-256 over one line per field, as specified in docs/model-files.md */
export function modelId(agreed: AgreedParameters, instanceCount: number, idsDigest: Uint8Array): string {
  const fields = Object.entries(flatParameters(agreed)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const lines = [
    "tandem/model/1",
    // JSON keeps a text with a line break on one line.
    ...fields.map(([name, value]) => `${name}=${JSON.stringify(value)}`),
    `instances=${instanceCount}`,
    `ids=${Buffer.from(idsDigest).toString("hex")}`,
  ];
  return createHash("sha256")
    .update(lines.map((line) => `${line}\n`).join(""))
    .digest("hex");
}
