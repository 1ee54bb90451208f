/** What to say of a certificate that ends soon. */
import { dayMs } from "../../record/renewal-days.ts";
import type { Trouble } from "./check.ts";

/** @param what the certificate @param who the party that has to renew it */
export function endOf(what: string, until: number, who: string, now: number): Omit<Trouble, "code"> {
  const days = Math.floor((until - now) / dayMs);
  const when = days < 0 ? `expired on ${day(until)}` : `expires in ${days} days, on ${day(until)}`;
  return { words: `${what} ${when}`, who, todo: renew };
}

export const renew = "make a new one with 'tandem cert renew', and send the new fingerprint to its partners";

export function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
