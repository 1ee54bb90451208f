/**
 * When the certificates of a party and of its partners end, as a small file in its output directory, for the page. It
 * is rewritten whenever one of them has changed.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod/mini";
import { writeFileAtomically } from "../base/files/atomic-file.ts";
import { instant, text } from "./fields.ts";

const certificateLine = z.object({
  /** The party's name. */
  party: text,
  fingerprint: text,
  until: instant,
});
const certificateFile = z.array(certificateLine);

/** This party's own certificate first. */
export type CertificateLine = z.infer<typeof certificateLine>;

const fileName = ".certificates.json";

/** Only the page misses it if it cannot be written. */
export async function writeCertificates(directory: string, lines: readonly CertificateLine[]): Promise<void> {
  await writeFileAtomically(join(directory, fileName), JSON.stringify(lines), 0o600).catch(() => {});
}

export async function readCertificates(directory: string): Promise<readonly CertificateLine[]> {
  try {
    return certificateFile.parse(JSON.parse(await readFile(join(directory, fileName), "utf8")));
  } catch {
    return [];
  }
}
