/** What one training reveals with each scheme, side by side. */
import { formatCount } from "../../base/text/format.ts";
import type { SchemeExposure } from "../../privacy/attack/audit-result.ts";
import { percent } from "./audit-figures.ts";
import { textTable } from "./text-table.ts";

export function schemesText(schemes: readonly SchemeExposure[]): string {
  const row = (name: string, valueOf: (scheme: SchemeExposure) => string): string[] => [name, ...schemes.map(valueOf)];
  const bits = schemes[0]?.bits ?? 0;
  const table = textTable([
    row("What each scheme reveals in this training", ({ scheme, isOfJob }) => (isOfJob ? `${scheme} (this)` : scheme)),
    row("sides of won splits, for", ({ membership: { outcomesCover } }) =>
      outcomesCover === "node" ? "its node" : "all instances",
    ),
    row(`revealed by outcomes, of ${bits.toFixed(1)} bits`, ({ toldBits }) => toldBits.outcomes.toFixed(1)),
    row("  and by sums", ({ toldBits }) => toldBits.sums.toFixed(1)),
    row("bins proven by outcomes", ({ certain }) => percent(certain.outcomes)),
    row("  and by sums", ({ certain }) => percent(certain.sums)),
    row("instance counts of sides", ({ tellsCounts }) => (tellsCounts ? "sent" : "not sent")),
    row(
      "candidates linked across trees",
      ({ linked, candidates }) => `${formatCount(linked)} of ${formatCount(candidates)}`,
    ),
    row("members of nodes, to passive parties", ({ membership: { membersAreSent } }) =>
      membersAreSent ? "sent" : "hidden",
    ),
    row("labels, AUC of the best guess", ({ labelsAuc }) => (labelsAuc === null ? "-" : labelsAuc.toFixed(2))),
  ]);
  const isCounted = schemes.every(({ membership }) => membership.countsAreSent);
  return [
    table,
    "  From one training, means over the passive parties. Scoring reveals the same with either scheme.",
    ...(isCounted ? [] : ["  Where counts are not sent, the attack on sums assumes them: an upper estimate."]),
    ...(schemes.every(({ isComplete }) => isComplete)
      ? []
      : ["  Some attacks reached the time limit: raise --seconds."]),
  ].join("\n");
}
