/** Transient failures of another party: the active party waits and reconnects. */
import { isCrewTrouble } from "../../base/crew-trouble.ts";
import type { TandemError } from "../../base/error.ts";
import { isPartyFault } from "../../transport/wire-error.ts";

/** A lost party may return; one that failed with an internal error would fail again. */
export function mayPass(error: TandemError): boolean {
  if (error.code === "PARTY_LOST") return !isPartyFault(error);
  return isCrewTrouble(error.code);
}
