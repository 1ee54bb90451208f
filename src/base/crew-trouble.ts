/** Failures of a party's workers, or of the engine between them and the party: nothing durable is lost. */
import type { ErrorCode } from "./error.ts";

const crewTroubles: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["ENGINE_LOST", "ENGINE_FULL", "WORKERS_MISSING"]);

export function isCrewTrouble(code: ErrorCode): boolean {
  return crewTroubles.has(code);
}
