/** What a partner has had over all jobs, in words, and what to assume of it. Runs in browsers too. */
import { factsOfJob } from "../base/membership.ts";
import { finite, formatBits, formatCount, formatPerPerson } from "../base/text/format.ts";
import { reachOfSums } from "../privacy/spending.ts";
import { defencesOf } from "./defence-facts.ts";
import type { Exposure } from "./exposure.ts";
import type { JobView } from "./job-view.ts";

/** How much of exact sums there is, and since when it counts. */
export interface SumsSpent {
  readonly title: string;
  readonly sumsPerPerson: number;
  /** Of the policy; null: there is none. */
  readonly limit: number | null;
}

/** Of the partner over all jobs. A record without a budget has what an audit found of the one job. */
export function sumsSpent({ budget }: JobView, exposures: readonly Exposure[]): SumsSpent | null {
  if (budget !== null) {
    const title = `Exact sums per person, all jobs with ${budget.peer}`;
    return { title, sumsPerPerson: budget.spent.sumsPerPerson, limit: budget.limits.sums_per_person ?? null };
  }
  const audited = exposures.find(({ columns, noise }) => columns.length > 0 && noise === null);
  return audited === undefined
    ? null
    : { title: "Exact sums per person, this job", sumsPerPerson: audited.sumsPerPerson, limit: null };
}

const partWords = { little: "little", some: "some", half: "about half", all: "nearly all" } as const;

/** How much of a table exact sums reveal. */
export function sumsSentence(sumsPerPerson: number): string {
  const sums = finite(sumsPerPerson);
  if (sums === 0) return "No exact sums were sent.";
  return `Exact sums alone reveal ${partWords[reachOfSums(sums)]} of your binned table.`;
}

/** Something that a partner has had: how much, and what that is to be compared with. */
export interface Spent {
  readonly what: string;
  readonly used: string;
  /** The policy's limit, or what would be a lot. */
  readonly scale: string;
  /** Of the limit, from 0 to 1; null: there is none. */
  readonly part: number | null;
}

/**
 * What the partner has had besides, in all jobs. What it has not had is left out.
 *
 * @param columnBits per person, of all columns, where an audit has counted them
 */
export function otherSpending({ budget, data }: JobView, columnBits: number | null): Spent[] {
  if (budget === null) return [];
  const { spent, limits } = budget;
  const bits = columnBits === null ? "" : `; your columns hold ${formatBits(columnBits)} bits per person`;
  const rows = data === null ? "" : `this job has ${formatCount(data.trainRows)} training rows`;
  return [
    spentOf("sums with noise, per person", spent.noisySumsPerPerson, limits.noisy_sums_per_person, {
      format: formatPerPerson,
      scale: "their noise hides single people",
    }),
    spentOf("outcomes of splits, per person", spent.outcomesPerPerson, limits.outcomes_per_person, {
      format: formatPerPerson,
      scale: `at most one bit each${bits}`,
    }),
    spentOf("people scored", spent.scoredPeople, limits.scored_people, { format: formatCount, scale: rows }),
  ].filter(({ used }) => used !== "0");
}

interface Shown {
  readonly format: (value: number) => string;
  /** Where there is no limit. */
  readonly scale: string;
}

/** A policy that is meant to allow everything has limits of this size. */
const noLimit = 1e12;

function spentOf(what: string, value: number, limit: number | undefined, { format, scale }: Shown): Spent {
  const used = format(value);
  if (limit === undefined || limit >= noLimit)
    return { what, used, scale: scale === "" ? "no limit" : `no limit; ${scale}`, part: null };
  return { what, used, scale: `your limit ${format(limit)}`, part: Math.min(1, value / (limit || 1)) };
}

const dailyWords: Readonly<Record<string, string>> = {
  ids: "ids asked about",
  alignments: "alignments",
  jobs: "jobs begun",
  attempts: "attempts",
  histogram_requests: "nodes asked for",
};

/** What the partner had asked for on the day of the record's end. What it has not asked for is left out. */
export function dailySpending({ budget }: JobView): Spent[] {
  const { day, used, limits } = budget?.today ?? { day: "", used: {}, limits: {} };
  return Object.entries(used).flatMap(([name, count]) => {
    const words = dailyWords[name];
    if (words === undefined || count === 0) return [];
    return [spentOf(`${words} on ${day}`, count, limits[name] ?? 0, { format: formatCount, scale: "" })];
  });
}

/** What its owner should look at. */
export function alarmSentences({ alarms }: JobView): string[] {
  return alarms.map(({ peer, words }) => `${peer}: ${words}.`);
}

/** Outcomes of a split that a passive party wins are of all people of the job. */
export function coversAll(view: JobView): boolean {
  return factsOfJob(view.membership.name, defencesOf(view).hidden_outcomes).outcomesCover === "all instances";
}

/** What to assume of the list of disclosures, in one sentence; docs/leakage.md has the reasons. */
export function assumption(view: JobView): string {
  if (view.role === "active") {
    const computes =
      defencesOf(view).answer_noise > 0
        ? "learns what split outcomes reveal of the other parties' values (the sums had noise)"
        : "can compute for many people and columns of the other parties which bin, or range, a value is in";
    if (!view.membership.membersAreSent) {
      const whose = coversAll(view) ? "everyone is" : "the people of the node are";
      return `Assume that the active party ${computes}, and that it knows on which side of each split ${whose}.`;
    }
    return (
      `Assume that ${view.party === "" ? "the active party" : view.party}, which holds the key, ${computes}, and ` +
      "that each passive party can rank people by their risk about as well as the model does."
    );
  }
  const [peer = "the active party"] = view.peers;
  const sums = view.budget?.spent.sumsPerPerson;
  if (sums === undefined)
    return `Assume that ${peer} can compute your binned table from it: for each value the range that it is in.`;
  const outcomes = coversAll(view) ? "split outcomes, which are of everyone," : "split outcomes";
  const rest = defencesOf(view).masked_scoring ? outcomes : `${outcomes} and scoring`;
  if (sums === 0)
    return `Assume that ${peer} learns what ${rest} reveal of your binned table; it was sent no exact sums.`;
  return (
    `Assume that ${peer} can compute your binned table from it, for each value the range that it is in: the exact ` +
    `sums of all jobs so far, ${formatPerPerson(sums)} per person, reveal ${partWords[reachOfSums(sums)]} of it, and ` +
    `${rest} add to that.`
  );
}
