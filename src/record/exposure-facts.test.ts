import { membershipFacts } from "../base/membership.ts";
import { expect, test } from "vitest";
import { columnExposure, labelExposure } from "../../test/support/exposed-job.ts";
import { appliesTo, defenceNames } from "../privacy/defences/defences.ts";
import { defenceSentence, settingRows, whatIfTable } from "./defence-facts.ts";
import {
  aucRange,
  columnRows,
  columnSentences,
  exposureLead,
  exposureTotals,
  labelSentences,
  ownExposures,
} from "./exposure-facts.ts";
import { emptyJobView, type JobView } from "./job-view.ts";
import { emptyOwn } from "./own-view.ts";
import {
  alarmSentences,
  assumption,
  dailySpending,
  otherSpending,
  sumsSentences,
  sumsSpent,
} from "./spending-facts.ts";
import { jobView } from "./fold-events.ts";

const passive = (changes: Partial<JobView> = {}): JobView => ({
  ...emptyJobView(),
  party: "retailer",
  role: "passive",
  peers: ["bank"],
  ...changes,
});
const guarded = { answer_noise: 5, min_people_share: 0.01, outcome_bits: 2, masked_scoring: true };
const spent = { sumsPerPerson: 0.06, noisySumsPerPerson: 0.2, outcomesPerPerson: 70, scoredPeople: 7500, vettings: 0 };

test("a party sees only exposures about itself", () => {
  const own = { ...emptyOwn(), exposures: [columnExposure, labelExposure] };
  expect(ownExposures(passive(), own)).toEqual([columnExposure]);
  expect(ownExposures(passive({ party: "bank" }), own)).toEqual([labelExposure]);
});

test("totals are sums of bits and averages over cells; without columns they are zero", () => {
  const { bits, toldBits, certain } = exposureTotals(columnExposure.columns.slice(0, 2));
  expect([bits, toldBits.outcomes, toldBits.sums].map((value) => value.toFixed(2))).toEqual(["3.04", "3.02", "3.04"]);
  expect(certain).toEqual({ outcomes: 0.995, sums: 1, scoring: 1 });
  const nothing = { outcomes: 0, sums: 0, scoring: 0 };
  expect(exposureTotals([])).toEqual({ bits: 0, toldBits: nothing, certain: nothing });
});

test("the text above the bars: an estimate is not called proven, and noise bounds what sums reveal", () => {
  const estimate = columnSentences(columnExposure).join(" ");
  expect(estimate).toMatch(/^An upper estimate: random gradients took the place of the true ones\./);
  expect(estimate).toContain("bank could compute 9.39 of the 15.0 bits that your columns hold per person (63%)");
  expect(estimate).not.toMatch(/lower bound|is certain|noise/);
  const noise = { sigma: 10, bitsPerColumnMax: 0.02 };
  const proven = columnSentences({ ...columnExposure, isEstimate: false, noise }).join(" ");
  expect(proven).toMatch(/^A lower bound: this much is proven\./);
  expect(proven).toContain("The sums had noise (10): they reveal at most 0.02 bits per column.");
  expect(proven).toContain("For 59% of all values the bin is certain: 52% from split outcomes alone, 66% with scoring");
  const outcomesOnly = { ...columnExposure.columns[0], certain: { outcomes: 0.2, sums: 0.2, scoring: 0.2 } };
  expect(columnSentences({ ...columnExposure, columns: [outcomesOnly] })[2]).toMatch(
    /20% of all values the bin could be certain, from split outcomes alone/,
  );
  const none = columnSentences({ ...columnExposure, columns: [], people: 0, trees: 0 }).join(" ");
  expect(none).toContain("0.00 of the 0.00 bits that your columns hold per person; scoring adds nothing.");
  expect(none).not.toMatch(/NaN|Infinity|undefined/);
});

test("where members were hidden, attacks that were not run do not read as safe", () => {
  const words = columnSentences({ ...columnExposure, isEstimate: false, hidesMembers: true }).join(" ");
  expect(words).toMatch(
    /revealed a side of everyone\. What sums reveal besides, 0\.027 of them per person, is not in these/,
  );
  const view = passive({ membership: membershipFacts.hidden, role: "active", party: "bank" });
  expect(assumption(view)).toMatch(
    /can compute for many people and columns .* knows on which side of each split everyone is/,
  );
  expect(assumption(view)).not.toMatch(/key|rank people/);
  const budget = { peer: "bank", spent, limits: {} };
  expect(assumption(passive({ membership: membershipFacts.hidden, budget }))).toContain(
    "split outcomes, which are of everyone,",
  );
});

test("the table of columns counts people", () => {
  const age = columnRows(columnExposure).find(([name]) => name === "AGE");
  expect(age?.slice(2)).toEqual(["4.72", "1.10", "1.60", "3.30", "225 (1%)", "2,250 (10%)", "5,175 (23%)"]);
});

test("a column of which nothing is revealed is not in the table", () => {
  expect(columnRows(columnExposure).map(([name]) => name)).not.toContain("BRANCH");
});

test("labels: the best guess compared with the model", () => {
  const { labels } = labelExposure;
  if (labels === null) throw new Error("the fixture has labels");
  expect(labelSentences("retailer", labels).join(" ")).toContain("At best an AUC of 0.750; the model has 0.780");
  expect(labelSentences("retailer", { ...labels, byTree: [] }).join(" ")).not.toMatch(/NaN|Infinity/);
  expect(aucRange(labels)).toEqual([0.4, 1]);
  expect(aucRange({ ...labels, byTree: [{ tree: 1, auc: 0.31 }] })).toEqual([0.3, 1]);
});

test("three sentences for a risk officer: whose data, how much of it, which defences", () => {
  expect(exposureLead(passive(), [columnExposure])).toEqual([
    "This is what bank could work out about your columns from the messages of this job.",
    "It comes to at most 81% of the information in your columns; for 66% of all values the bin, or range, can be " +
      "computed.",
    "The job ran without defences that would lower this (privacy: exact).",
  ]);
  const active = passive({ role: "active", party: "bank", peers: ["retailer"] });
  expect(exposureLead(active, [labelExposure])[1]).toBe(
    "At best retailer could rank people by their risk with an AUC of 0.750, where guessing has 0.500 and the model " +
      "0.780.",
  );
  expect(exposureLead(active, [])[1]).toBe("The job has not been audited yet, so only what was sent is counted here.");
  const hidden = exposureLead(active, [{ ...labelExposure, labels: null, hidesMembers: true }]);
  expect(hidden[1]).toContain("nothing ranks people by their risk");
});

test("the defences of a job in one sentence", () => {
  expect(defenceSentence({ parameters: {} })).toBe(
    "The job ran without defences that would lower this (privacy: exact).",
  );
  expect(defenceSentence({ parameters: guarded })).toBe(
    "The job ran with defences (privacy: guarded): noise of deviation 5 in sums, at least 1% of the people on each " +
      "side of a candidate, at most 2 bits per feature in outcomes, masked scoring.",
  );
  // The name of a preset with changed values would promise defences that the job did not have.
  expect(defenceSentence({ parameters: { ...guarded, privacy: "guarded", outcome_bits: 1, answer_noise: 0 } })).toMatch(
    /^The job ran with defences \(privacy: own settings\): at least 1%.*, at most 1 bit per feature in outcomes, m/,
  );
});

test("settings show whether the job had them; those for labels are shown to the active party", () => {
  const shownDefences = defenceNames.filter((name) => appliesTo(name, "sent"));
  const states = (view: JobView) => Object.fromEntries(settingRows(view).map(([name, , state]) => [name, state]));
  expect(states(passive())).toEqual(Object.fromEntries(shownDefences.map((name) => [name, "off"])));
  expect(states(passive({ role: "active", parameters: { ...guarded, local_rounds: 10 } }))).toMatchObject({
    answer_noise: "5",
    min_people_share: "1%",
    outcome_bits: "2",
    masked_scoring: "on",
    local_rounds: "10",
  });
});

test("a what-if shows the measured columns", () => {
  const { head, rows } = whatIfTable(columnExposure.whatIf, 15.01);
  expect(head).toEqual(["with", "auc", "values whose bin is certain", "bits revealed by scoring, of 15.0"]);
  expect(rows[0]).toEqual(["as it is", "0.7803", "37%", "18.9"]);
  expect(rows[2]).toEqual(["and outcome_bits 2", "0.7809 (+0.0006)", "21%", "13.3"]);
  expect(rows[3]).toEqual(["masked_scoring", "–", "–", "7.58"]);
});

test("the gauge covers all jobs with the partner, or else the audited one", () => {
  const limits = { sums_per_person: 0.08, scored_people: 10_000 };
  const view = passive({ budget: { peer: "bank", spent, limits } });
  expect(sumsSpent(view, [columnExposure])).toEqual({
    title: "Exact sums per person, all jobs with bank",
    sumsPerPerson: 0.06,
    openedPerPerson: 0,
    limit: 0.08,
  });
  expect(sumsSpent(passive(), [columnExposure])).toMatchObject({ sumsPerPerson: 0.027, limit: null });
  expect(sumsSpent(passive(), [labelExposure])).toBeNull();
  expect(otherSpending(view, 15)).toEqual([
    {
      what: "sums with noise, per person",
      used: "0.200",
      scale: "no limit; their noise hides single people",
      part: null,
    },
    {
      what: "outcomes of splits, per person",
      used: "70",
      scale: "no limit; at most one bit each; your columns hold 15.0 bits per person",
      part: null,
    },
    { what: "people scored", used: "7,500", scale: "your limit 10,000", part: 0.75 },
  ]);
  const little = { ...spent, noisySumsPerPerson: 0, scoredPeople: 0 };
  const [only, ...none] = otherSpending(passive({ budget: { peer: "bank", spent: little, limits } }), null);
  expect([only.what, none]).toEqual(["outcomes of splits, per person", []]);
  expect(sumsSentences({ sumsPerPerson: 0.06, openedPerPerson: 0 })).toEqual([
    "Exact sums alone reveal about half of your binned table.",
    "At 0.05 half of a table can be computed, at 0.1 all of it.",
  ]);
});

test("opened best candidates are no exact sums: they have a row and a sentence of their own", () => {
  const limits = { sums_per_person: 0.4 };
  const many = { ...spent, sumsPerPerson: 0, openedPerPerson: 0.155 };
  const opened = "0.155 of these per person were opened, and reveal at most 5.1 bits per person, all columns together.";
  const view = passive({ budget: { peer: "bank", spent: many, limits } });
  const gauge = sumsSpent(view, []);
  expect(gauge).toMatchObject({ sumsPerPerson: 0, openedPerPerson: 0.155, limit: 0.4 });
  expect(sumsSentences(many)).toEqual([
    "No exact sums of all candidates were sent.",
    "At 0.05 half of a table can be computed, at 0.1 all of it.",
    `That is not so for sums of best candidates only: ${opened}`,
  ]);
  expect(assumption(view)).toBe(
    "Assume that bank learns what split outcomes and scoring reveal of your binned table; it was sent no exact sums " +
      `of all candidates. Sums of best candidates are not in this: ${opened}`,
  );
  // Of both: each counts as what it is.
  const both = passive({ budget: { peer: "bank", spent: { ...many, sumsPerPerson: 0.06 }, limits } });
  expect(sumsSentences({ ...many, sumsPerPerson: 0.06 })[0]).toMatch(/about half/);
  expect(assumption(both)).toMatch(/0\.060 per person, reveal about half .* best candidates .* at most 5\.1 bits/);
  expect(otherSpending(both, null)[0]).toEqual({
    what: "sums of best candidates, per person",
    used: "0.155",
    scale: "your limit 0.400, exact sums included",
    part: (0.155 + 0.06) / 0.4,
  });
  const free = passive({ budget: { peer: "bank", spent: many, limits: {} } });
  expect(otherSpending(free, 15)[0].scale).toBe(
    "no limit; they reveal at most 5.1 bits per person; your columns hold 15.0 bits per person",
  );
});

test("an audit of a job with hidden sums: what was opened is bounded, and in no gauge of exact sums", () => {
  const audited = { ...columnExposure, sumsPerPerson: 0.155, isEstimate: false, hidesSums: true };
  expect(sumsSpent(passive(), [audited])).toMatchObject({ sumsPerPerson: 0, openedPerPerson: 0.155 });
  const bounded = "Sums of best candidates are not in these figures: 0.155 of these per person were opened, and reveal";
  expect(columnSentences(audited).at(-1)).toMatch(bounded);
  const words = columnSentences({ ...audited, hidesMembers: true }).join(" ");
  expect(words).toContain(`revealed a side of everyone. ${bounded}`);
  expect(words).not.toContain("can try that");
});

test("requests of the day, with the limits; each alarm is shown once", () => {
  const used = { ids: 12_000, alignments: 0, jobs: 2, other: 1 };
  const today = { day: "2100-06-15", used, limits: { ids: 100_000, jobs: 1000 } };
  expect(dailySpending(passive({ budget: { peer: "bank", spent, limits: {}, today } }))).toEqual([
    { what: "requested ids on 2100-06-15", used: "12,000", scale: "your limit 100,000", part: 0.12 },
    { what: "jobs on 2100-06-15", used: "2", scale: "your limit 1,000", part: 0.002 },
  ]);
  expect(dailySpending(passive({ budget: { peer: "bank", spent, limits: {} } }))).toEqual([]);
  expect(dailySpending(passive())).toEqual([]);
  const alarm = { type: "alarm", party: "shop", peer: "bank", words: "a limit is nearly used up", at: 1 } as const;
  const view = jobView([alarm, alarm, { ...alarm, words: "it guesses" }]);
  expect(alarmSentences(view)).toEqual(["bank: a limit is nearly used up.", "bank: it guesses."]);
});

test("what to assume depends on what the partner has received, and on the defences", () => {
  const budget = { peer: "bank", spent, limits: {} };
  expect(assumption(passive())).toBe(
    "Assume that bank can compute your binned table from it: for each value the range that it is in.",
  );
  expect(assumption(passive({ budget }))).toMatch(/0\.060 per person, reveal about half of it, .* and scoring add/);
  const noisy = { ...budget, spent: { ...spent, sumsPerPerson: 0 } };
  expect(assumption(passive({ budget: noisy, parameters: guarded }))).toBe(
    "Assume that bank learns what split outcomes reveal of your binned table; it was sent no exact sums of all " +
      "candidates.",
  );
  const active = passive({ role: "active" });
  expect(assumption(active)).toMatch(
    /can compute for many people and columns.* each passive party can rank people by their/,
  );
  expect(assumption({ ...active, parameters: guarded })).toMatch(
    /what split outcomes reveal.* \(the sums had noise\).* each passive party can rank/,
  );
  expect(assumption({ ...active, parameters: { hidden_sums: true } })).toMatch(
    /what split outcomes reveal.* \(the sums were hidden\).* each passive party can rank/,
  );
});
