/** The fingerprint of a certificate in a PEM file. */
import { readFile } from "node:fs/promises";
import { TandemError } from "../../base/error.ts";

/** @throws TandemError FILE_UNREADABLE or FILE_FORMAT naming the file */
export async function readFingerprint(path: string): Promise<string> {
  const { certificateFingerprint } = await import("../../transport/pinned-certificate.ts");
  let pem: string;
  try {
    pem = await readFile(path, "utf8");
  } catch (cause) {
    throw new TandemError("FILE_UNREADABLE", `${path} cannot be read`, { cause });
  }
  try {
    return certificateFingerprint(pem);
  } catch (cause) {
    throw new TandemError("FILE_FORMAT", `${path} is not a certificate in PEM form`, { cause });
  }
}
