/** Texts about what a partner has received over all jobs, and what to assume. Runs in browsers too. */
import { factsOfJob } from "../base/membership.ts";
import { finite, formatBits, formatCount, formatPerPerson, roundedUp } from "../base/text/format.ts";
import { openedBitsMax, reachOfSums } from "../privacy/spending.ts";
import { defencesOf } from "./defence-facts.ts";
import type { Exposure } from "./exposure.ts";
import type { JobView } from "./job-view.ts";

/** The amount of exact sums of all candidates, and over which jobs it is counted. */
export interface SumsSpent {
  readonly title: string;
  readonly sumsPerPerson: number;
  /** Of best candidates that were opened: the success of the attacks does not depend on it. */
  readonly openedPerPerson: number;
  /** The policy's limit, which opened candidates have used too; null: none. */
  readonly limit: number | null;
}

/** Over all jobs with the partner. Without a budget in the record: of this job, from its audit. */
export function sumsSpent({ budget }: JobView, exposures: readonly Exposure[]): SumsSpent | null {
  if (budget !== null) {
    const title = `Exact sums per person, all jobs with ${budget.peer}`;
    const { sumsPerPerson, openedPerPerson = 0 } = budget.spent;
    return { title, sumsPerPerson, openedPerPerson, limit: budget.limits.sums_per_person ?? null };
  }
  const audited = exposures.find(({ columns, noise }) => columns.length > 0 && noise === null);
  if (audited === undefined) return null;
  const { sumsPerPerson: sums, hidesSums = false } = audited;
  const [sumsPerPerson, openedPerPerson] = hidesSums ? [0, sums] : [sums, 0];
  return { title: "Exact sums per person, this job", sumsPerPerson, openedPerPerson, limit: null };
}

const partWords = { little: "little", some: "some", half: "about half", all: "nearly all" } as const;

/** How much of a table exact sums reveal, and what best candidates can add. */
export function sumsSentences({ sumsPerPerson, openedPerPerson }: Omit<SumsSpent, "title" | "limit">): string[] {
  const [sums, opened] = [sumsPerPerson, openedPerPerson].map(finite);
  return [
    sums === 0
      ? "No exact sums of all candidates were sent."
      : `Exact sums alone reveal ${partWords[reachOfSums(sums)]} of your binned table.`,
    "At 0.05 half of a table can be computed, at 0.1 all of it.",
    ...(opened === 0 ? [] : [`That is not so for sums of best candidates only: ${openedSentence(opened)}.`]),
  ];
}

/** What sums of best candidates reveal at most, as a clause. */
export function openedSentence(openedPerPerson: number): string {
  return (
    `${formatPerPerson(openedPerPerson)} of these per person were opened, and reveal at most ` +
    `${openedBits(openedPerPerson)} per person, all columns together`
  );
}

function openedBits(openedPerPerson: number): string {
  return `${formatCount(roundedUp(openedBitsMax(openedPerPerson)))} bits`;
}

/** One amount that a partner has received, and what to compare it with. */
export interface Spent {
  readonly what: string;
  readonly used: string;
  /** The policy's limit, or another reference. */
  readonly scale: string;
  /** Fraction of the limit, from 0 to 1; null: no limit. */
  readonly part: number | null;
}

/**
 * What the partner has received in all jobs besides exact sums. Zeros are left out.
 *
 * @param columnBits entropy of all columns per instance, from an audit; null: not audited
 */
export function otherSpending({ budget, data }: JobView, columnBits: number | null): Spent[] {
  if (budget === null) return [];
  const { spent, limits } = budget;
  const bits = columnBits === null ? "" : `; your columns hold ${formatBits(columnBits)} bits per person`;
  const rows = data === null ? "" : `this job has ${formatCount(data.trainRows)} training rows`;
  const openedPerPerson = spent.openedPerPerson ?? 0;
  return [
    spentOf("sums of best candidates, per person", openedPerPerson, limits.sums_per_person, {
      format: formatPerPerson,
      scale: `they reveal at most ${openedBits(openedPerPerson)} per person${bits}`,
      sharedWith: { name: "exact sums", value: spent.sumsPerPerson },
    }),
    spentOf("sums with noise, per person", spent.noisySumsPerPerson, limits.noisy_sums_per_person, {
      format: formatPerPerson,
      scale: "their noise hides single people",
    }),
    spentOf("outcomes of splits, per person", spent.outcomesPerPerson, limits.outcomes_per_person, {
      format: formatPerPerson,
      scale: `at most one bit each${bits}`,
    }),
    spentOf("vettings", spent.vettings ?? 0, limits.vettings, { format: formatCount, scale: "" }),
    spentOf("people scored", spent.scoredPeople, limits.scored_people, { format: formatCount, scale: rows }),
  ].filter(({ used }) => used !== "0");
}

interface Shown {
  readonly format: (value: number) => string;
  /** The reference where there is no limit. */
  readonly scale: string;
  /** Another amount that uses the same limit. */
  readonly sharedWith?: { readonly name: string; readonly value: number };
}

/** Limits of this size or more mean that a policy allows everything. */
const noLimit = 1e12;

function spentOf(what: string, value: number, limit: number | undefined, shown: Shown): Spent {
  const { format, scale, sharedWith } = shown;
  const used = format(value);
  if (limit === undefined || limit >= noLimit)
    return { what, used, scale: scale === "" ? "no limit" : `no limit; ${scale}`, part: null };
  const together = sharedWith === undefined ? "" : `, ${sharedWith.name} included`;
  const part = Math.min(1, (value + finite(sharedWith?.value ?? 0)) / (limit || 1));
  return { what, used, scale: `your limit ${format(limit)}${together}`, part };
}

/** What the limits of a day count, by the names of their fields. */
export const dailyTexts = {
  ids: "requested ids",
  alignments: "PSI runs",
  jobs: "jobs",
  attempts: "attempts",
  histogram_requests: "node histograms",
} as const;

/** What the partner requested on the day of the record's last event. Zeros are left out. */
export function dailySpending({ budget }: JobView): Spent[] {
  const { day, used, limits } = budget?.today ?? { day: "", used: {}, limits: {} };
  return Object.entries(dailyTexts).flatMap(([name, text]) => {
    const count = used[name] ?? 0;
    if (count === 0) return [];
    return [spentOf(`${text} on ${day}`, count, limits[name] ?? 0, { format: formatCount, scale: "" })];
  });
}

/** Alarms for the party's owner. */
export function alarmSentences({ alarms }: JobView): string[] {
  return alarms.map(({ peer, words }) => `${peer}: ${words}.`);
}

/** Whether outcomes of a passive party's splits cover all instances of the job. */
export function coversAll(view: JobView): boolean {
  return factsOfJob(view.membership.name, defencesOf(view).hidden_outcomes).outcomesCover === "all instances";
}

/** What to assume from the list of disclosures, in one sentence; docs/leakage.md has the reasons. */
export function assumption(view: JobView): string {
  if (view.role === "active") {
    const who = view.party === "" ? "the active party" : view.party;
    const { answer_noise: noise, hidden_sums: hidesSums } = defencesOf(view);
    const computes =
      noise > 0 || hidesSums
        ? "learns what split outcomes reveal of the other parties' values " +
          `(the sums ${hidesSums ? "were hidden" : "had noise"})`
        : "can compute for many people and columns of the other parties which bin, or range, a value is in";
    if (!view.membership.membersAreSent) {
      const whose = coversAll(view) ? "everyone is" : "the people that it divides are";
      return `Assume that ${who} ${computes}, and that it knows on which side of each split ${whose}.`;
    }
    return (
      `Assume that ${who}, which holds the key, ${computes}, and ` +
      "that each passive party can rank people by their risk about as well as the model does."
    );
  }
  const [peer = "the active party"] = view.peers;
  const { sumsPerPerson: sums, openedPerPerson: opened = 0 } = view.budget?.spent ?? {};
  if (sums === undefined)
    return `Assume that ${peer} can compute your binned table from it: for each value the range that it is in.`;
  const outcomes = coversAll(view) ? "split outcomes, which are of everyone," : "split outcomes";
  const rest = defencesOf(view).masked_scoring ? outcomes : `${outcomes} and scoring`;
  const best = opened === 0 ? "" : ` Sums of best candidates are not in this: ${openedSentence(opened)}.`;
  if (sums === 0)
    return (
      `Assume that ${peer} learns what ${rest} reveal of your binned table; it was sent no exact sums of all ` +
      `candidates.${best}`
    );
  return (
    `Assume that ${peer} can compute your binned table from it, for each value the range that it is in: the exact ` +
    `sums of all jobs so far, ${formatPerPerson(sums)} per person, reveal ${partWords[reachOfSums(sums)]} of it, and ` +
    `${rest} add to that.${best}`
  );
}
