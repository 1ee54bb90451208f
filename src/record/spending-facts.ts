/** What a partner has had over all jobs, in words, and what to assume of it. Runs in browsers too. */
import { factsOfJob } from "../base/membership.ts";
import { finite, formatCount, formatPerPerson } from "../base/text/format.ts";
import { sumsWord } from "../privacy/spending.ts";
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

/** How much of a table exact sums give away. */
export function sumsSentence(sumsPerPerson: number): string {
  const sums = finite(sumsPerPerson);
  if (sums === 0) return "There were no exact sums.";
  return `Exact sums alone give away ${partWords[sumsWord(sums)]} of your binned table.`;
}

/** What else the partner has had, each with the policy's limit. */
export function otherSpending({ budget }: JobView): { readonly value: string; readonly label: string }[] {
  if (budget === null) return [];
  const { spent, limits } = budget;
  const limitWords = (limit: number | undefined): string =>
    limit === undefined ? "" : `, your limit ${formatCount(limit)}`;
  return [
    {
      value: formatPerPerson(spent.noisySumsPerPerson),
      label: `sums with noise per person${limitWords(limits.noisy_sums_per_person)}`,
    },
    {
      value: formatPerPerson(spent.outcomesPerPerson),
      label: `outcomes of splits per person${limitWords(limits.outcomes_per_person)}`,
    },
    { value: formatCount(spent.scoredPeople), label: `scored people${limitWords(limits.scored_people)}` },
  ];
}

const dailyWords: Readonly<Record<string, string>> = {
  ids: "ids asked about",
  alignments: "alignments",
  jobs: "jobs begun",
  attempts: "attempts",
  histogram_requests: "nodes asked for",
};

/** What the partner had asked for on the day of the record's end, each with the policy's limit. */
export function dailySpending({ budget }: JobView): { readonly value: string; readonly label: string }[] {
  const { day, used, limits } = budget?.today ?? { day: "", used: {}, limits: {} };
  return Object.entries(used).flatMap(([name, count]) => {
    const words = dailyWords[name];
    if (words === undefined) return [];
    return [{ value: formatCount(count), label: `${words} on ${day}, your limit ${formatCount(limits[name] ?? 0)}` }];
  });
}

/** What its owner should look at. */
export function alarmSentences({ alarms }: JobView): string[] {
  return alarms.map(({ peer, words }) => `${peer}: ${words}.`);
}

function coversAll(view: JobView): boolean {
  return factsOfJob(view.membership.name, defencesOf(view).hidden_outcomes).outcomesCover === "all instances";
}

/** What to assume of the list of disclosures, as docs/leakage.md says it in short. */
export function assumption(view: JobView): string {
  if (view.role === "active") {
    const told =
      defencesOf(view).answer_noise > 0
        ? "gets what outcomes of splits tell of the others' binned columns: the sums had noise. Assume"
        : "can compute which bin people are in, for many people and columns, and";
    const whose = coversAll(view) ? "everybody" : "the node's people";
    if (!view.membership.membersAreSent)
      return `Assume that the active party ${told} that it has the sides of ${whose} at each split.`;
    return (
      `Assume that whoever holds the key ${told} that a passive party can rank people by their risk about as well as ` +
      "the model does."
    );
  }
  const [peer = "the active party"] = view.peers;
  const sums = view.budget?.spent.sumsPerPerson;
  if (sums === undefined) return `Assume that ${peer} gets your binned table.`;
  const outcomes = coversAll(view) ? "outcomes of splits, which are of everybody," : "outcomes of splits";
  const rest = defencesOf(view).masked_scoring ? outcomes : `${outcomes} and scoring`;
  if (sums === 0) return `Assume that ${peer} gets what ${rest} tell of your binned table. ${sumsSentence(sums)}`;
  return (
    `Assume that ${peer} gets your binned table. The exact sums of all jobs so far, ${formatPerPerson(sums)} per ` +
    `person, give away ${partWords[sumsWord(sums)]} of it; ${rest} add to that.`
  );
}
