/**
 * Summarises the result of an audit, as figures and text for a risk officer. Runs in browsers too.
 */
import { recordedMembership } from "./membership.ts";
import { finite, formatBits, formatCount, formatPercent, formatPerPerson } from "../base/text/format.ts";
import { defenceSentence } from "./defence-facts.ts";
import { openedSentence } from "./spending-facts.ts";
import type { ColumnExposure, Exposure } from "./exposure.ts";
import type { JobView } from "./job-view.ts";
import type { OwnJobView } from "./own-view.ts";

/** Where bits of a column come from, in the order of a bar. */
export const exposureKinds = ["outcomes", "sums", "scoring", "unknown"] as const;
export type ExposureKind = (typeof exposureKinds)[number];

export const kindWords: Readonly<Record<ExposureKind, string>> = {
  outcomes: "revealed by split outcomes",
  sums: "also by sums",
  scoring: "also by scoring",
  unknown: "not revealed",
};

/** The exposures about this party: it may not see those of another party's columns. */
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

/** Three sentences above the result: what this is, the total, and the job's defences. */
export function exposureLead(view: JobView, exposures: readonly Exposure[]): readonly [string, string, string] {
  const [first] = exposures;
  const who = view.role === "active" ? "the passive parties" : (view.peers[0] ?? "the active party");
  const whose = view.role === "active" ? "labels" : "columns";
  return [
    `This is what ${who} could work out about your ${whose} from the messages of this job.`,
    first === undefined
      ? "The job has not been audited yet, so only what was sent is counted here."
      : summaryOf(exposures),
    defenceSentence(view),
  ];
}

/** For the party that could compute most. */
function summaryOf(exposures: readonly Exposure[]): string {
  const guesses = exposures.flatMap(({ learner, labels }) =>
    labels === null ? [] : [{ learner, auc: bestAuc(labels), labels }],
  );
  const [best] = guesses.toSorted((a, b) => b.auc - a.auc);
  if (best !== undefined)
    return (
      `At best ${best.learner} could rank people by their risk with an AUC of ${best.auc.toFixed(3)}, where guessing ` +
      `has 0.500 and the model ${finite(best.labels.modelAuc).toFixed(3)}.`
    );
  const columns = exposures.flatMap((exposure) => exposure.columns);
  if (columns.length === 0) return "Node membership was not revealed, so nothing ranks people by their risk.";
  const { bits, toldBits, certain } = exposureTotals(columns);
  const part = bits > 0 ? formatPercent(Math.max(toldBits.sums, toldBits.scoring) / bits) : "0%";
  const values = formatPercent(Math.max(certain.sums, certain.scoring));
  const bound = exposures.some(({ isEstimate }) => isEstimate) ? "at most" : "at least";
  return (
    `It comes to ${bound} ${part} of the information in your columns; ` +
    `for ${values} of all values the bin, or range, can be computed.`
  );
}

/** Above the bars: how certain the result is, and the total. */
export function columnSentences({ columns, learner, noise, isEstimate, ...job }: Exposure): string[] {
  const { bits, toldBits, certain } = exposureTotals(columns);
  const from = `${job.trees} trees of depth ${job.depthMax} over ${formatCount(job.people)} people`;
  const share = bits > 0 ? ` (${formatPercent(toldBits.sums / bits)})` : "";
  const addsScoring = toldBits.scoring - toldBits.sums > 0.005;
  const noiseMax = formatBits(noise?.bitsPerColumnMax ?? 0);
  return [
    isEstimate
      ? "An upper estimate: random gradients took the place of the true ones."
      : "A lower bound: this much is proven.",
    `From ${from}, ${learner} could compute ${formatBits(toldBits.sums)} of the ${formatBits(bits)} bits that your ` +
      `columns hold per person${share}` +
      (addsScoring
        ? `, and ${formatBits(toldBits.scoring)} for people who are scored as well.`
        : "; scoring adds nothing."),
    cellSentence(certain, isEstimate ? "could be certain" : "is certain", addsScoring),
    ...hiddenSentences(job),
    ...(noise === null
      ? []
      : [`The sums had noise (${noise.sigma}): they reveal at most ${noiseMax} bits per column.`]),
  ];
}

/** Sums that were not attacked must not read as if they revealed nothing. */
function hiddenSentences(job: Pick<Exposure, "sumsPerPerson" | "hidesSums" | "hidesMembers">): string[] {
  const { sumsPerPerson, hidesSums = false } = job;
  const { membersAreSent } = recordedMembership(job);
  const ofMembers = "Node membership was hidden from you, so every split that you won revealed a side of everyone.";
  const untried =
    `What sums reveal besides, ${formatPerPerson(sumsPerPerson)} of them per person, is not in these figures: only a ` +
    "party with the whole table can try that.";
  const ofOpened = `Sums of best candidates are not in these figures: ${openedSentence(sumsPerPerson)}.`;
  return [...(membersAreSent ? [] : [ofMembers]), ...(hidesSums ? [ofOpened] : membersAreSent ? [] : [untried])];
}

function cellSentence(certain: ColumnExposure["certain"], isCertain: string, addsScoring: boolean): string {
  const [outcomes, sums] = [certain.outcomes, certain.sums].map(formatPercent);
  const apart = outcomes === sums ? ", from split outcomes alone" : `: ${outcomes} from split outcomes alone`;
  const scored = addsScoring ? `, ${formatPercent(certain.scoring)} with scoring` : "";
  return `For ${sums} of all values the bin ${isCertain}${apart}${scored}.`;
}

/** As in docs/leakage.md. */
export const staysHidden = "Names, units, and where in a bin a value lies stay hidden.";

export const columnHead = [
  "column",
  "bins",
  "bits per person",
  "bits revealed by split outcomes",
  "with sums",
  "with scoring",
  "people whose bin is certain from split outcomes",
  "with sums",
  "with scoring",
] as const;

/** Whether any information about the column is revealed. */
export function isRevealed({ toldBits }: ColumnExposure): boolean {
  return finite(toldBits.outcomes) > 0 || finite(toldBits.sums) > 0 || finite(toldBits.scoring) > 0;
}

export function columnRows({ columns, people }: Exposure): string[][] {
  const who = (share: number): string => `${formatCount(peopleOf(share, people))} (${formatPercent(share)})`;
  return columns
    .filter(isRevealed)
    .map(({ name, bins, bits, toldBits, certain }) => [
      name,
      formatCount(bins),
      formatBits(bits),
      ...[toldBits.outcomes, toldBits.sums, toldBits.scoring].map(formatBits),
      ...[certain.outcomes, certain.sums, certain.scoring].map(who),
    ]);
}

/** Text at the end of a column's bar. */
export function toldWords({ bits, toldBits }: ColumnExposure): string {
  return `${formatBits(toldBits.sums)} of ${formatBits(bits)} bits`;
}

/** The exposure of one column, in numbers of people. */
export function columnWords({ name, certain }: ColumnExposure, people: number): string {
  const who = (share: number): string => formatCount(peopleOf(share, people));
  return (
    `${name}: the bin is certain for ${who(certain.outcomes)} of ${formatCount(people)} people from split outcomes, ` +
    `for ${who(certain.sums)} with sums, for ${who(certain.scoring)} with scoring`
  );
}

function peopleOf(share: number, people: number): number {
  return Math.round(finite(share) * people);
}

/** About labels, where node membership is hidden from passive parties. */
export function hiddenLabelSentence(learner: string): string {
  return (
    `Node membership was hidden from ${learner}, so it can rank your people only by its own columns and by which of ` +
    "its candidates win."
  );
}

export type LabelExposure = NonNullable<Exposure["labels"]>;

function bestAuc({ byTree }: LabelExposure): number {
  return Math.max(...byTree.map(({ auc }) => finite(auc)), 0);
}

export function labelSentences(learner: string, labels: LabelExposure): string[] {
  const { modelAuc, riskiestTenth } = labels;
  return [
    `How well ${learner} could rank your people by risk from node membership, without knowing one label.`,
    `At best an AUC of ${bestAuc(labels).toFixed(3)}; the model has ${finite(modelAuc).toFixed(3)}, guessing 0.500. ` +
      `Of the riskiest tenth by the model it finds ${formatPercent(riskiestTenth)}; guessing finds 10%.`,
  ];
}

/** The axis from chance to 1, the same for every job; lower where a guess is worse than chance. */
export function aucRange({ byTree }: LabelExposure): readonly [number, number] {
  const lowest = Math.min(...byTree.map(({ auc }) => (Number.isFinite(auc) ? auc : 1)), 0.4);
  return [Math.floor(lowest * 10) / 10, 1];
}
