/** Troubles of another party that may pass: it is waited for, and joined again on another connection. */
import type { ErrorCode, TandemError } from "../../base/error.ts";
import { isPartyFault } from "../../transport/wire-error.ts";

/** Its workers, or the engine between them and it, are away; nothing that counts is lost with them. */
const crewTroubles: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["ENGINE_LOST", "ENGINE_FULL", "WORKERS_MISSING"]);

export function isCrewTrouble(code: ErrorCode): boolean {
  return crewTroubles.has(code);
}

/** A party that is gone may come back; one that has a bug will have it again. */
export function mayPass(error: TandemError): boolean {
  if (error.code === "PARTY_LOST") return !isPartyFault(error);
  return isCrewTrouble(error.code);
}
