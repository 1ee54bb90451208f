/** What an audit found, for people who decide. */
import { formatCount } from "../../base/text/format.ts";
import type { AuditResult, LabelExposure, PartyExposure, WhatIf } from "../../privacy/attack/audit-result.ts";
import type { Reach } from "../../privacy/spending.ts";
import { schemesText } from "./scheme-table.ts";
import { textTable } from "./text-table.ts";

const reaches: Readonly<Record<Reach, string>> = {
  little: "with so few, sums give little away",
  some: "half of everything goes at 0.05, all at 0.1",
  half: "at 0.05 about half of everything is gone, at 0.1 all",
  all: "at 0.1 and above sums give away nearly everything",
};

export function auditText({ isEstimate, parties, labels, whatIf, schemes }: AuditResult): string {
  return [
    ...parties.flatMap((party) => ["", partyText(party, isEstimate)]),
    ...labels.flatMap((each) => ["", labelText(each)]),
    ...(parties.length === 0 ? ["", "What was told of columns their owners find out, with the same command."] : []),
    ...(schemes === null ? [] : ["", schemesText(schemes)]),
    ...(whatIf === null ? [] : ["", whatIfText(whatIf)]),
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
    ...(column.sumsBound === null ? [] : [column.sumsBound.toFixed(2)]),
  ]);
  const bound = columns.some(({ sumsBound }) => sumsBound !== null);
  const all = ["all", "-", percent(certain.outcomes), percent(certain.sums), percent(certain.scoring)];
  return [
    `What the active party can learn of ${party.party}: ${formatCount(people)} people, ${columns.length} columns, ` +
      `${bits.toFixed(1)} bits a person; ${trees} trees, ${party.sumsPerPerson.toFixed(3)} sums per person`,
    bound ? "  (they have noise, and tell at most what the last column says)" : `  (${reaches[party.reach]})`,
    textTable([
      ["column", "bins", "outcomes", "+ sums", "scoring", "bits", "left", ...(bound ? ["sums at most"] : [])],
      ...rows,
      [...all, bits.toFixed(1), left.sums.toFixed(1), ...(bound ? [""] : [])],
    ]),
    "  outcomes, + sums, scoring: share of people whose bin is proven, not guessed: at least so much.",
    ...(party.membership.outcomesCover === "all instances"
      ? ["  outcomes are of everybody: who answers does not know who is in a node."]
      : []),
    ...(party.triesSums
      ? []
      : ["  + sums was not tried: nobody here knows whom the sums are of. Audit the table to find out."]),
    ...(isEstimate && !bound
      ? ["  + sums is an upper estimate: random gradients took the place of those that only the active party has."]
      : []),
    ...(party.tellsScoring
      ? []
      : ["  scoring is masked: a score may fit one way through the trees only, and then tells what outcomes tell."]),
    "  left: bits a person that training leaves open. Names, and values within a bin, stay hidden.",
    ...(party.isComplete ? [] : ["  The time was over before everything was tried: --seconds gives it more."]),
    "  Further jobs, folds and warm starts on these people add to this.",
  ].join("\n");
}

function labelText({ party, guess, membersAreSent }: LabelExposure): string {
  const title = `What ${party} can learn of the labels`;
  if (!membersAreSent)
    return `${title}: it is not told who is in a node; its own columns, and which of them win, are all it has`;
  if (guess === null) return `${title}: not measured; labels are not of two classes, or it sees no tree`;
  const { model, without, withLabels, known } = guess;
  return [
    `${title}, without knowing one`,
    `  AUC ${without.auc.toFixed(2)} (the model ${model.toFixed(2)}, chance 0.50); of the riskiest tenth it finds ` +
      `${percent(without.tenth)}`,
    `  if it knows ${known} labels: AUC ${withLabels.auc.toFixed(2)}, and ${percent(withLabels.tenth)} of that tenth`,
  ].join("\n");
}

function whatIfText(rows: readonly WhatIf[]): string {
  const [{ testAuc: before }] = rows;
  const auc = (value: number | null): string => (value === null ? "-" : value.toFixed(4));
  const change = (value: number | null): string =>
    value === null || before === null || value === before
      ? ""
      : ` (${value > before ? "+" : ""}${(value - before).toFixed(3)})`;
  const table = textTable([
    ["What could lower it", "AUC", "certain", "scoring bits", "labels"],
    ...rows.map(({ name, testAuc, certain, scoringBits, labelsAuc }) => [
      name,
      `${auc(testAuc)}${change(testAuc)}`,
      percent(certain),
      scoringBits.toFixed(1),
      labelsAuc === null ? "-" : labelsAuc.toFixed(2),
    ]),
  ]);
  return [
    table,
    "  AUC: of the model, on people held back. certain: bins proven from training. scoring bits: told by scoring, per",
    "  person. labels: the AUC of a passive party's better guess. Jobs share --seconds, so certain varies.",
  ].join("\n");
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
