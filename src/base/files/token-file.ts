/** A file with the token that requests to a server must carry. */
import { TandemError } from "../error.ts";
import { readSecretFile } from "./secret-file.ts";

const tokenCharsMin = 16;

/** @throws TandemError; no message contains the token */
export async function readToken(path: string, insecure: boolean): Promise<string> {
  let text: string;
  try {
    text = (await readSecretFile(path, { insecure })).trim();
  } catch (cause) {
    if (cause instanceof TandemError) throw cause;
    throw new TandemError("FILE_UNREADABLE", `${path}: the token cannot be read`, { cause });
  }
  if (!/^\S+$/.test(text) || text.length < tokenCharsMin)
    throw new TandemError("FILE_FORMAT", `${path}: a token has at least ${tokenCharsMin} characters and no spaces`);
  return text;
}
