/** One colour per party, the same everywhere: Okabe and Ito's palette, distinguishable for colour-blind readers. */
import type { JobView } from "../../src/record/job-view.ts";

const passiveColours = 6;

/** The name of a custom property of the style sheet. The active party is always blue. */
export function partyColour(view: JobView, name: string): string {
  const passives = view.parties.filter(({ role }) => role === "passive").map((party) => party.name);
  const index = passives.indexOf(name);
  return index === -1 ? "var(--party-active)" : `var(--party-${index % passiveColours})`;
}
