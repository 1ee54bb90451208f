/** A named deviation from the protocol, run against real parties, with its required outcome. */
import type { ErrorCode } from "../../../src/base/error.ts";
import { outcomeOf } from "../hostile/hostile-job.ts";
import type { Arena } from "./arena.ts";

/** The outcome of a deviation: a refusal, or what was learned; null: nothing. */
export type Caught = { readonly code: string } | { readonly learned: string | null };

export interface Cheat {
  readonly name: string;
  /** It must be refused with one of these codes, or learn nothing. */
  readonly codes: readonly ErrorCode[];
  run(arena: Arena): Promise<Caught>;
}

/** @param play returns what is learned if it is not refused; null: nothing */
export async function caught(play: () => Promise<string | null>): Promise<Caught> {
  try {
    return { learned: await play() };
  } catch (error) {
    return { code: outcomeOf(error) };
  }
}

export function isStopped({ codes }: Cheat, what: Caught): boolean {
  return "code" in what ? codes.some((code) => code === what.code) : what.learned === null;
}
