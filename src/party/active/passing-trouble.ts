/** Troubles of another party that may pass: it is waited for, and joined again on another connection. */
import { isCrewTrouble } from "../../base/crew-trouble.ts";
import type { TandemError } from "../../base/error.ts";
import { isPartyFault } from "../../transport/wire-error.ts";

/** A party that is gone may come back; one that has a bug will have it again. */
export function mayPass(error: TandemError): boolean {
  if (error.code === "PARTY_LOST") return !isPartyFault(error);
  return isCrewTrouble(error.code);
}
