/**
 * The log of what people decided about requests: one JSON object per line. Lines are only added, and each has the
 * SHA-256 of the line before it: a line that is changed or removed in the middle is noticed. What was approved follows
 * from this file alone.
 *
 * An interrupted write leaves a line that is not JSON, whose writer was never confirmed: it is left out.
 */
import { createHash } from "node:crypto";
import * as z from "zod";
import { TandemError } from "../base/error.ts";
import { readText, type Storage } from "../base/files/storage.ts";

const digest = z.string().regex(/^[0-9a-f]{64}$/);

const action = z.strictObject({
  at: z.iso.datetime(),
  /** The operating system's user, or the name of a token of the page. */
  who: z.string(),
  via: z.enum(["command", "page"]),
  what: z.enum(["approved", "denied"]),
  request: z.string(),
  /** Of the terms that were decided about. */
  terms: digest,
  partner: z.string(),
  job: z.string(),
  /** How many jobs an approval is for; 0: it is a denial. */
  uses: z.number().int().nonnegative(),
  /** When an approval that no job has used ends, and when a denied request may be made again. */
  until: z.iso.datetime(),
  /** Of a denial: sent to the partner. */
  reason: z.string(),
  /** SHA-256 of the config file. */
  config: digest,
  before: digest,
});

export type Action = z.infer<typeof action>;
export type NewAction = Omit<Action, "before">;

/** A line of the log, and its SHA-256. */
export interface LoggedAction extends Action {
  readonly hash: string;
}

const noLine = "0".repeat(64);

/** Empty if there is no log. @throws TandemError FILE_FORMAT if a line was changed or removed */
export async function readActions(path: string, storage: Storage): Promise<readonly LoggedAction[]> {
  const text = (await readText(storage, path)) ?? "";
  const actions: LoggedAction[] = [];
  text.split("\n").forEach((line, i) => {
    const value = jsonIn(line);
    if (value === undefined) return;
    const read = action.safeParse(value);
    if (!read.success) throw wrong(path, i, "has wrong contents");
    if (read.data.before !== (actions.at(-1)?.hash ?? noLine))
      throw wrong(path, i, "does not follow the line before it: a line was changed, removed or added by hand");
    actions.push({ ...read.data, hash: hashOf(line) });
  });
  return actions;
}

/** Only one process at a time may add. @returns the line as it was added */
export async function addAction(path: string, given: NewAction, storage: Storage): Promise<LoggedAction> {
  const before = (await readActions(path, storage)).at(-1)?.hash ?? noLine;
  const added: Action = { ...given, before };
  const line = JSON.stringify(added);
  await storage.append(path, `\n${line}\n`); // the remains of an interrupted write have no line end
  return { ...added, hash: hashOf(line) };
}

function jsonIn(line: string): unknown {
  try {
    return line === "" ? undefined : JSON.parse(line);
  } catch {
    return undefined;
  }
}

function hashOf(line: string): string {
  return createHash("sha256").update(line).digest("hex");
}

function wrong(path: string, index: number, what: string): TandemError {
  return new TandemError(
    "FILE_FORMAT",
    `${path}, line ${index + 1}, ${what}. Restore the file; or move the folder away, and approve open requests again`,
  );
}
