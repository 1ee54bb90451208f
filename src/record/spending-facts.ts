/** Texts about what a partner has received over all jobs, and what to assume. Runs in browsers too. */
import { factsOfJob } from "../base/membership.ts";
import { finite, formatBits, formatCount, formatPerPerson } from "../base/text/format.ts";
import { reachOfSums } from "../privacy/spending.ts";
import { defencesOf } from "./defence-facts.ts";
import type { Exposure } from "./exposure.ts";
import type { JobView } from "./job-view.ts";

/** The amount of exact sums, and over which jobs it is counted. */
export interface SumsSpent {
  readonly title: string;
  readonly sumsPerPerson: number;
  /** The policy's limit; null: none. */
  readonly limit: number | null;
}

/** Over all jobs with the partner. Without a budget in the record: of this job, from its audit. */
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
  return [
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
}

/** Limits of this size or more mean that a policy allows everything. */
const noLimit = 1e12;

function spentOf(what: string, value: number, limit: number | undefined, { format, scale }: Shown): Spent {
  const used = format(value);
  if (limit === undefined || limit >= noLimit)
    return { what, used, scale: scale === "" ? "no limit" : `no limit; ${scale}`, part: null };
  return { what, used, scale: `your limit ${format(limit)}`, part: Math.min(1, value / (limit || 1)) };
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
    const computes =
      defencesOf(view).answer_noise > 0
        ? "learns what split outcomes reveal of the other parties' values (the sums had noise)"
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
