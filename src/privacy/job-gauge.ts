/**
 * Estimates before a job starts how much its sums may reveal about a passive party's columns: a number and its meaning.
 */
import type { DisclosureFacts } from "./disclosure-entry.ts";
import { roundedUp } from "../base/text/format.ts";
import { openedBitsMax, reachOfSums } from "./spending.ts";
import { hidesSingleInstances, treeSpendingMax } from "./tree-spending.ts";

export interface JobGauge {
  readonly active: string;
  readonly passive: string;
  /** Upper bound of the numbers in sums, per candidate and instance; with hidden sums, of opened candidates. */
  readonly sumsPerPerson: number;
  /** The sums have enough noise to hide single instances. */
  readonly isNoisy: boolean;
  /** Of each node only the sums of the best candidate are opened. */
  readonly hidesSums: boolean;
  /** The number of common instances is not known before alignment: the bound holds if all are common. */
  readonly isBeforeAlignment: boolean;
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
  | "alignment"
>;

/** Null where the number of instances is not known yet, or the size of trees has no limit. */
export function gaugeOf(facts: GaugedFacts): JobGauge | null {
  const { active, passive, instances, validationRows, trees, depth, leaves, classes, defences } = facts;
  const answerNoise = defences.answer_noise;
  if (instances === null || instances === 0 || (depth === 0 && leaves === 0)) return null;
  // Of several protocols the one that sends more numbers per sum.
  const membership = facts.memberships.find(({ countsAreSent }) => countsAreSent) ?? facts.memberships[0];
  const hidesSums = defences.hidden_sums;
  const hides = { membership, drawsColumns: facts.columnsAreSampled !== false, hidesSums };
  const terms = { maxDepth: depth, maxLeaves: leaves, outputs: Math.max(1, classes ?? 1), answerNoise, ...hides };
  const perTree = treeSpendingMax(terms, instances, instances - (validationRows ?? 0));
  return {
    active,
    passive,
    sumsPerPerson: trees * (perTree.sumsPerPerson + perTree.openedPerPerson + perTree.noisySumsPerPerson),
    isNoisy: hidesSingleInstances(answerNoise),
    hidesSums,
    isBeforeAlignment: facts.alignment !== null && facts.alignment.passiveIds === null,
  };
}

const meaning = {
  little: "they reveal little of its columns",
  some: "they reveal a part of its columns",
  half: "about half of its binned columns can be computed from them",
  all: "nearly all of its binned columns can be computed from them",
} as const;

export function gaugeText(gauge: JobGauge): string {
  const { active, sumsPerPerson, isBeforeAlignment } = gauge;
  const many = roundedUp(sumsPerPerson);
  const half = roundedUp(2 * sumsPerPerson);
  const condition = isBeforeAlignment
    ? ` That holds if all of ${active}'s rows are common; with half of them common it is ${half}.`
    : "";
  return `${bound(gauge, many)}${condition}`;
}

function bound({ active, passive, sumsPerPerson, isNoisy, hidesSums }: JobGauge, many: number): string {
  if (hidesSums)
    return (
      `${active} gets up to ${many} sums per person of ${passive}, of the best candidate of each node only: they ` +
      `reveal at most ${roundedUp(openedBitsMax(sumsPerPerson))} bits per person, all columns together.`
    );
  return isNoisy
    ? `${active} gets up to ${many} sums per person of ${passive}, with noise: ` +
        "'tandem audit' shows how much they reveal at most."
    : `${active} gets up to ${many} exact sums per person of ${passive}: ${meaning[reachOfSums(sumsPerPerson)]}.`;
}
