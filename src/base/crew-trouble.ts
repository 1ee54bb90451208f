/** What may go wrong with a party's workers, or with the engine between them and it: nothing that counts is lost. */
import type { ErrorCode } from "./error.ts";

const crewTroubles: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["ENGINE_LOST", "ENGINE_FULL", "WORKERS_MISSING"]);

export function isCrewTrouble(code: ErrorCode): boolean {
  return crewTroubles.has(code);
}
