/** What one training tells with each scheme, side by side. */
import { formatCount } from "../../base/text/format.ts";
import type { SchemeExposure } from "../../privacy/attack/audit-result.ts";
import { textTable } from "./text-table.ts";

export function schemesText(schemes: readonly SchemeExposure[]): string {
  const row = (name: string, valueOf: (scheme: SchemeExposure) => string): string[] => [name, ...schemes.map(valueOf)];
  const bits = schemes[0]?.bits ?? 0;
  const table = textTable([
    row("What each scheme tells of this training", ({ scheme, isOfJob }) => (isOfJob ? `${scheme} (this)` : scheme)),
    row("sides of won splits, of", ({ membership: { outcomesCover } }) =>
      outcomesCover === "node" ? "its node" : "everybody",
    ),
    row(`told by outcomes, of ${bits.toFixed(1)} bits`, ({ toldBits }) => toldBits.outcomes.toFixed(1)),
    row("  and by sums", ({ toldBits }) => toldBits.sums.toFixed(1)),
    row("bins proven by outcomes", ({ certain }) => percent(certain.outcomes)),
    row("  and by sums", ({ certain }) => percent(certain.sums)),
    row("counts of sides", ({ tellsCounts }) => (tellsCounts ? "told" : "not told")),
    row(
      "candidates known from tree to tree",
      ({ linked, candidates }) => `${formatCount(linked)} of ${formatCount(candidates)}`,
    ),
    row("who is in a node, to passive parties", ({ membership: { membersAreSent } }) =>
      membersAreSent ? "told" : "hidden",
    ),
    row("labels, AUC of their better guess", ({ labelsAuc }) => (labelsAuc === null ? "-" : labelsAuc.toFixed(2))),
  ]);
  const isCounted = schemes.every(({ membership }) => membership.countsAreSent);
  return [
    table,
    "  From one training, means over the passive parties. Scoring tells the same with either.",
    ...(isCounted
      ? []
      : [
          "  Where counts are not told, sums are taken apart as if they were: a little more than what is really found.",
        ]),
    ...(schemes.every(({ isComplete }) => isComplete)
      ? []
      : ["  The time was over for some of it: --seconds gives it more."]),
  ].join("\n");
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
