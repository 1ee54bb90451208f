/**
 * One model's identity: the same at every party that trained it, so that their shares can be told to belong together.
 * Made of what all of them know after the handshake, and of nothing random or timed: the same training gives the same
 * id. A digest of the ids goes in, so it says nothing of a person to whoever does not hold the ids.
 */
import { createHash } from "node:crypto";
import { type AgreedParameters, flatParameters } from "./job-parameters.ts";

/** @returns 64 lowercase hex digits: SHA-256 over one line per field, as docs/model-files.md writes them down */
export function modelId(agreed: AgreedParameters, instanceCount: number, idsDigest: Uint8Array): string {
  const fields = Object.entries(flatParameters(agreed)).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const lines = [
    "tandem/model/1",
    // JSON keeps a text with a line break in it on one line.
    ...fields.map(([name, value]) => `${name}=${JSON.stringify(value)}`),
    `instances=${instanceCount}`,
    `ids=${Buffer.from(idsDigest).toString("hex")}`,
  ];
  return createHash("sha256")
    .update(lines.map((line) => `${line}\n`).join(""))
    .digest("hex");
}
