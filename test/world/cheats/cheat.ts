/** A named way to deviate from the protocol, played against real parties, with what must come of it. */
import type { ErrorCode } from "../../../src/base/error.ts";
import { outcomeOf } from "../hostile/hostile-job.ts";
import type { Arena } from "./arena.ts";

/** What came of a cheat: a refusal, or what the cheat has learnt; null: nothing. */
export type Caught = { readonly code: string } | { readonly learnt: string | null };

export interface Cheat {
  readonly name: string;
  /** It is stopped by one of these; otherwise it must learn nothing. */
  readonly codes: readonly ErrorCode[];
  run(arena: Arena): Promise<Caught>;
}

/** @param learnt what the cheat knows if it is not stopped; null where that is nothing */
export async function caught(play: () => Promise<string | null>): Promise<Caught> {
  try {
    return { learnt: await play() };
  } catch (error) {
    return { code: outcomeOf(error) };
  }
}

export function isStopped({ codes }: Cheat, what: Caught): boolean {
  return "code" in what ? codes.some((code) => code === what.code) : what.learnt === null;
}
