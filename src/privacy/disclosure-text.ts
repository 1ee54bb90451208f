/** One disclosure as text, with its upper bound. Runs in browsers too. */
import { formatCount } from "../base/text/format.ts";
import type { Disclosure } from "./disclosures.ts";

export function disclosureText({
  what,
  atMost,
  unit,
  note,
}: Pick<Disclosure, "what" | "atMost" | "unit" | "note">): string {
  const extent = [
    ...(atMost === null
      ? []
      : [`up to ${formatCount(atMost)} ${atMost === 1 ? unit.replace(/^(\w+)s$/, "$1") : unit}`]),
    ...(note === undefined ? [] : [note]),
  ].join("; ");
  return extent === "" ? what : `${what} (${extent})`;
}
