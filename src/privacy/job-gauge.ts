/** How much of a passive party's columns a job's sums may give away, in one number and its word, before it starts. */
import type { DisclosureFacts } from "./disclosure-entry.ts";
import { sumsWord } from "./spending.ts";
import { hidesPeople, treeSpendingMax } from "./tree-spending.ts";

export interface JobGauge {
  readonly active: string;
  readonly passive: string;
  /** Numbers in sums, per candidate and person, at most. */
  readonly sumsPerPerson: number;
  /** The sums have noise that hides people. */
  readonly isNoisy: boolean;
}

export type GaugedFacts = Pick<
  DisclosureFacts,
  | "active"
  | "passive"
  | "instances"
  | "validationRows"
  | "trees"
  | "depth"
  | "leaves"
  | "classes"
  | "defences"
  | "memberships"
  | "columnsAreSampled"
>;

/** Null where the number of people is not known yet, or nothing bounds a tree. */
export function gaugeOf(facts: GaugedFacts): JobGauge | null {
  const { active, passive, instances, validationRows, trees, depth, leaves, classes, defences } = facts;
  const answerNoise = defences.answer_noise;
  if (instances === null || instances === 0 || (depth === 0 && leaves === 0)) return null;
  // Of several protocols the one whose sums are more.
  const membership = facts.memberships.find(({ countsAreSent }) => countsAreSent) ?? facts.memberships[0];
  const hides = { membership, drawsColumns: facts.columnsAreSampled !== false };
  const terms = { maxDepth: depth, maxLeaves: leaves, outputs: Math.max(1, classes ?? 1), answerNoise, ...hides };
  const { sumsPerPerson, noisySumsPerPerson } = treeSpendingMax(terms, instances, instances - (validationRows ?? 0));
  return {
    active,
    passive,
    sumsPerPerson: trees * (sumsPerPerson + noisySumsPerPerson),
    isNoisy: hidesPeople(answerNoise),
  };
}

const meaning = {
  little: "they tell little of its columns",
  some: "they tell a part of its columns",
  half: "about half of its binned columns can be computed from them",
  all: "nearly all of its binned columns can be computed from them",
} as const;

export function gaugeText({ active, passive, sumsPerPerson, isNoisy }: JobGauge): string {
  const many = Number(sumsPerPerson.toPrecision(2));
  return isNoisy
    ? `${active} gets up to ${many} sums per person of ${passive}, with noise: ` +
        "'tandem audit' says how much they tell at most."
    : `${active} gets up to ${many} exact sums per person of ${passive}: ${meaning[sumsWord(sumsPerPerson)]}.`;
}
