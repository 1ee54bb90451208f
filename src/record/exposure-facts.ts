/**
 * What an audit's findings come to, as figures and in words for somebody who weighs risks. The page and the report say
 * the same. Runs in browsers too.
 */
import { recordedMembership } from "./membership.ts";
import { finite, formatBits, formatCount, formatPercent, formatPerPerson } from "../base/text/format.ts";
import type { ColumnExposure, Exposure } from "./exposure.ts";
import type { JobView } from "./job-view.ts";
import type { OwnJobView } from "./own-view.ts";

/** Where bits of a column come from, in the order of a bar. */
export const exposureKinds = ["outcomes", "sums", "scoring", "unknown"] as const;
export type ExposureKind = (typeof exposureKinds)[number];

export const kindWords: Readonly<Record<ExposureKind, string>> = {
  outcomes: "told by outcomes of splits",
  sums: "and by sums",
  scoring: "and by scoring",
  unknown: "unknown",
};

/** What is about this party: another's columns are not its own to look at. */
export function ownExposures({ party }: JobView, { exposures }: OwnJobView): readonly Exposure[] {
  return exposures.filter(({ about }) => about === party);
}

export const auditCommand = "tandem audit --job <folder>";

export interface ExposureTotals {
  readonly bits: number;
  readonly toldBits: ColumnExposure["toldBits"];
  /** Of all cells of the binned table. */
  readonly certain: ColumnExposure["certain"];
}

export function exposureTotals(columns: readonly ColumnExposure[]): ExposureTotals {
  const sum = (of: (column: ColumnExposure) => number): number =>
    columns.reduce((total, c) => total + finite(of(c)), 0);
  const each = (
    of: (column: ColumnExposure, kind: keyof ColumnExposure["certain"]) => number,
    parts: number,
  ): ColumnExposure["certain"] => ({
    outcomes: sum((column) => of(column, "outcomes")) / parts,
    sums: sum((column) => of(column, "sums")) / parts,
    scoring: sum((column) => of(column, "scoring")) / parts,
  });
  return {
    bits: sum(({ bits }) => bits),
    toldBits: each(({ toldBits }, kind) => toldBits[kind], 1),
    certain: each(({ certain }, kind) => certain[kind], columns.length || 1),
  };
}

/** Over the bars: how sure it is, and what it comes to. */
export function columnSentences({ columns, learner, noise, isEstimate, ...job }: Exposure): string[] {
  const { bits, toldBits, certain } = exposureTotals(columns);
  const from = `${job.trees} trees of depth ${job.depthMax} over ${formatCount(job.people)} people`;
  const share = bits > 0 ? ` (${formatPercent(toldBits.sums / bits)})` : "";
  const tells = toldBits.scoring - toldBits.sums > 0.005;
  const noiseMax = formatBits(noise?.bitsPerColumnMax ?? 0);
  return [
    isEstimate
      ? "An upper estimate: random gradients took the place of the true ones."
      : "Proven, not guessed: at least so much.",
    `From ${from}, ${learner} could compute ${formatBits(toldBits.sums)} of the ${formatBits(bits)} bits that your ` +
      `columns hold per person${share}` +
      (tells ? `, and ${formatBits(toldBits.scoring)} of people who are scored as well.` : "; scoring adds nothing."),
    cellSentence(certain, isEstimate ? "could be proven" : "are proven", tells),
    ...(recordedMembership(job).membersAreSent ? [] : [hiddenSentence(job.sumsPerPerson)]),
    ...(noise === null ? [] : [`The sums had noise (${noise.sigma}): they tell at most ${noiseMax} bits per column.`]),
  ];
}

/** Nothing of it may read as if sums told nothing. */
function hiddenSentence(sumsPerPerson: number): string {
  return (
    "Who was in a node was hidden from you, so every split that you won told a side of everybody. What sums tell " +
    `besides, ${formatPerPerson(sumsPerPerson)} of them per person, is not in these figures: only whoever has the ` +
    "whole table can try that."
  );
}

function cellSentence(certain: ColumnExposure["certain"], proven: string, tells: boolean): string {
  const [outcomes, sums] = [certain.outcomes, certain.sums].map(formatPercent);
  const apart = outcomes === sums ? ", by outcomes of splits alone" : `: ${outcomes} by outcomes of splits alone`;
  const scored = tells ? `, ${formatPercent(certain.scoring)} with scoring` : "";
  return `Of all cells of your binned table ${sums} ${proven}${apart}${scored}.`;
}

/** What stays hidden, as docs/leakage.md has it. */
export const staysHidden = "Names, units, and where in a bin a value lies stay hidden.";

export const columnHead = [
  "column",
  "bins",
  "bits",
  "told by outcomes",
  "with sums",
  "with scoring",
  "people proven by outcomes",
  "proven with sums",
  "proven with scoring",
] as const;

export function columnRows({ columns, people }: Exposure): string[][] {
  const who = (share: number): string => `${formatCount(peopleOf(share, people))} (${formatPercent(share)})`;
  return columns.map(({ name, bins, bits, toldBits, certain }) => [
    name,
    formatCount(bins),
    formatBits(bits),
    ...[toldBits.outcomes, toldBits.sums, toldBits.scoring].map(formatBits),
    ...[certain.outcomes, certain.sums, certain.scoring].map(who),
  ]);
}

/** At the end of a column's bar. */
export function toldWords({ bits, toldBits }: ColumnExposure): string {
  if (!(bits > 0)) return "nothing to tell";
  return `${formatBits(toldBits.sums)} of ${formatBits(bits)} bits`;
}

/** Of one column, in people. */
export function columnWords({ name, certain }: ColumnExposure, people: number): string {
  const who = (share: number): string => formatCount(peopleOf(share, people));
  return (
    `${name}: the bin is proven for ${who(certain.outcomes)} of ${formatCount(people)} people by outcomes, ` +
    `for ${who(certain.sums)} with sums, for ${who(certain.scoring)} with scoring`
  );
}

function peopleOf(share: number, people: number): number {
  return Math.round(finite(share) * people);
}

/** Of labels that nobody could guess at: who was in which node was told to nobody. */
export function hiddenLabelSentence(learner: string): string {
  return (
    `${learner} was not told who is in a node, so it has nothing to rank your people by but its own columns, and ` +
    "which of its candidates win."
  );
}

export type LabelExposure = NonNullable<Exposure["labels"]>;

export function labelSentences(learner: string, { byTree, modelAuc, riskiestTenth }: LabelExposure): string[] {
  const best = Math.max(...byTree.map(({ auc }) => finite(auc)), 0);
  return [
    `How well ${learner} could rank your people by risk from who falls into which node, without knowing one label.`,
    `At best an AUC of ${best.toFixed(3)}; the model has ${finite(modelAuc).toFixed(3)}, chance 0.500. ` +
      `Of the riskiest tenth by the model it finds ${formatPercent(riskiestTenth)}.`,
  ];
}

/** From chance to the best there is, the same for every job; lower where a guess is. */
export function aucRange({ byTree }: LabelExposure): readonly [number, number] {
  const lowest = Math.min(...byTree.map(({ auc }) => (Number.isFinite(auc) ? auc : 1)), 0.4);
  return [Math.floor(lowest * 10) / 10, 1];
}
