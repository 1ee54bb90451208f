/** Formats the result of an audit for the terminal. */
import { formatCount, roundedUp } from "../../base/text/format.ts";
import type { AuditResult, LabelExposure, PartyExposure, WhatIf } from "../../privacy/attack/audit-result.ts";
import type { Reach } from "../../privacy/spending.ts";
import { metricTitle, metricValue, percent } from "./audit-figures.ts";
import { presetsText, pricesText } from "./preset-table.ts";
import { schemesText } from "./scheme-table.ts";
import { textTable } from "./text-table.ts";

const reaches: Readonly<Record<Reach, string>> = {
  little: "with so few sums, little can be inferred from them",
  some: "about half of all bins can be inferred at 0.05, all at 0.1",
  half: "at 0.05 about half of all bins can be inferred, at 0.1 all",
  all: "at 0.1 and above nearly all bins can be inferred from sums",
};

export function auditText({
  isEstimate,
  parties,
  labels,
  whatIf,
  schemes,
  prices = null,
  presets = [],
}: AuditResult): string {
  return [
    ...parties.flatMap((party) => ["", partyText(party, isEstimate)]),
    ...labels.flatMap((each) => ["", labelText(each)]),
    ...(parties.length === 0
      ? ["", "Passive parties can audit what was revealed of their columns with the same command."]
      : []),
    ...(schemes === null ? [] : ["", schemesText(schemes)]),
    ...(whatIf === null ? [] : ["", whatIfText(whatIf)]),
    ...(presets.length === 0 ? [] : ["", presetsText(presets)]),
    ...(prices === null ? [] : ["", pricesText(prices, presets)]),
    "",
  ].join("\n");
}

function partyText(party: PartyExposure, isEstimate: boolean): string {
  const { people, trees, columns, bits, certain, left } = party;
  const rows = columns.map((column) => [
    column.name,
    String(column.bins),
    percent(column.certain.outcomes),
    percent(column.certain.sums),
    percent(column.certain.scoring),
    column.bits.toFixed(2),
    column.left.sums.toFixed(2),
    // Rounded up: it is an upper bound.
    ...(column.sumsBound === null ? [] : [(Math.ceil(1000 * column.sumsBound) / 1000).toFixed(3)]),
  ]);
  const bound = columns.some(({ sumsBound }) => sumsBound !== null);
  const all = ["all", "-", percent(certain.outcomes), percent(certain.sums), percent(certain.scoring)];
  return [
    `What the active party can infer about ${party.party}: ${formatCount(people)} people, ${columns.length} columns, ` +
      `${bits.toFixed(1)} bits per person; ${trees} trees, ${party.sumsPerPerson.toFixed(3)} sums per person` +
      (party.openedBits !== null ? " of best candidates only" : ""),
    `  (${sumsText(party)})`,
    textTable([
      ["column", "bins", "outcomes", "+ sums", "scoring", "bits", "left", ...(bound ? ["sums at most"] : [])],
      ...rows,
      [...all, bits.toFixed(1), left.sums.toFixed(1), ...(bound ? [""] : [])],
    ]),
    "  outcomes, + sums, scoring: share of people whose bin is proven, not guessed (a lower bound).",
    ...(party.membership.outcomesCover === "all instances"
      ? ["  outcomes cover every instance: the passive party does not know the members of a node."]
      : []),
    ...(party.triesSums
      ? []
      : [
          "  + sums was not tried: this party does not know " +
            `${party.openedBits !== null ? "what was opened" : "the members of the sums"}. Audit the table instead.`,
        ]),
    ...(isEstimate && !bound
      ? ["  + sums is an upper estimate: random gradients replace those that only the active party has."]
      : []),
    ...(party.tellsScoring
      ? []
      : ["  scoring is masked: a score that fits only one path through the trees reveals the same as outcomes."]),
    "  left: bits per person not revealed by training. Names, and values within a bin, stay hidden.",
    ...(party.isComplete ? [] : ["  The time limit was reached before all attacks ended: raise --seconds."]),
    "  Further jobs, folds and warm starts on these people add to this.",
  ].join("\n");
}

function sumsText({ reach, openedBits }: PartyExposure): string {
  if (openedBits !== null)
    return (
      `they reveal at most ${roundedUp(openedBits)} bits per person of all columns together; the last column has ` +
      "equal parts of it"
    );
  return reach === null ? "the last column bounds what sums reveal" : reaches[reach];
}

function labelText({ party, guess, membersAreSent }: LabelExposure): string {
  const title = `What ${party} can infer about the labels`;
  if (!membersAreSent)
    return `${title}: members of nodes are not sent to it; it sees only its own columns and which of them win splits`;
  if (guess === null) return `${title}: not measured: labels are not binary, or it takes part in no tree`;
  const { model, without, withLabels, known } = guess;
  return [
    `${title}, knowing none of them`,
    `  AUC ${without.auc.toFixed(2)} (the model ${model.toFixed(2)}, chance 0.50); it identifies ` +
      `${percent(without.tenth)} of the tenth with the highest risk`,
    `  if it knows ${known} labels: AUC ${withLabels.auc.toFixed(2)}, and ${percent(withLabels.tenth)} of that tenth`,
  ].join("\n");
}

function whatIfText(rows: readonly WhatIf[]): string {
  const [{ testMetric: before }] = rows;
  const name = before === null ? "metric" : metricTitle(before.name);
  const table = textTable([
    ["What could lower this", name, "certain", "scoring bits", "labels"],
    ...rows.map(({ name, testMetric, certain, scoringBits, labelsAuc }) => [
      name,
      metricText(testMetric, before),
      percent(certain),
      scoringBits.toFixed(1),
      labelsAuc === null ? "-" : labelsAuc.toFixed(2),
    ]),
  ]);
  return [
    table,
    `  ${name}: of the model, on test rows. certain: bins proven from training. scoring bits: revealed by scoring, per`,
    "  person. labels: the AUC of the best guess of a passive party. Jobs share --seconds, so certain varies.",
  ].join("\n");
}

function metricText(metric: WhatIf["testMetric"], before: WhatIf["testMetric"]): string {
  if (metric === null || !Number.isFinite(metric.value)) return "-";
  const { name, value } = metric;
  const shown = metricValue(name, value);
  const change = value - (before?.value ?? value);
  if (change === 0 || Number.isNaN(change)) return shown;
  return `${shown} (${change > 0 ? "+" : ""}${name === "auc" ? change.toFixed(3) : Number(change.toPrecision(2))})`;
}
