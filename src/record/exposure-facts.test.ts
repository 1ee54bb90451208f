import { membershipFacts } from "../base/membership.ts";
import { expect, test } from "vitest";
import { columnExposure, labelExposure } from "../../test/support/exposed-job.ts";
import { privacyLine, settingRows, whatIfTable } from "./defence-facts.ts";
import {
  aucRange,
  columnRows,
  columnSentences,
  exposureTotals,
  labelSentences,
  ownExposures,
} from "./exposure-facts.ts";
import { emptyJobView, type JobView } from "./job-view.ts";
import { emptyOwn } from "./own-view.ts";
import { alarmSentences, assumption, dailySpending, otherSpending, sumsSentence, sumsSpent } from "./spending-facts.ts";
import { jobView } from "./fold-events.ts";

const passive = (changes: Partial<JobView> = {}): JobView => ({
  ...emptyJobView(),
  party: "retailer",
  role: "passive",
  peers: ["bank"],
  ...changes,
});
const guarded = { answer_noise: 10, min_people_share: 0.01, max_thresholds: 3, masked_scoring: true };
const spent = { sumsPerPerson: 0.06, noisySumsPerPerson: 0.2, outcomesPerPerson: 70, scoredPeople: 7500 };

test("a party sees what is about itself alone", () => {
  const own = { ...emptyOwn(), exposures: [columnExposure, labelExposure] };
  expect(ownExposures(passive(), own)).toEqual([columnExposure]);
  expect(ownExposures(passive({ party: "bank" }), own)).toEqual([labelExposure]);
});

test("totals are sums of bits and averages over cells; of no column they are nothing", () => {
  const { bits, toldBits, certain } = exposureTotals(columnExposure.columns.slice(0, 2));
  expect([bits, toldBits.outcomes, toldBits.sums].map((value) => value.toFixed(2))).toEqual(["3.04", "3.02", "3.04"]);
  expect(certain).toEqual({ outcomes: 0.995, sums: 1, scoring: 1 });
  const nothing = { outcomes: 0, sums: 0, scoring: 0 };
  expect(exposureTotals([])).toEqual({ bits: 0, toldBits: nothing, certain: nothing });
});

test("the words over the bars: an estimate is not called proven, and noise bounds what sums tell", () => {
  const estimate = columnSentences(columnExposure).join(" ");
  expect(estimate).toMatch(/^An upper estimate: random gradients took the place of the true ones\./);
  expect(estimate).toContain("bank could compute 9.39 of the 15.0 bits that your columns hold per person (63%)");
  expect(estimate).not.toMatch(/at least|are proven|noise/);
  const noise = { sigma: 10, bitsPerColumnMax: 0.02 };
  const proven = columnSentences({ ...columnExposure, isEstimate: false, noise }).join(" ");
  expect(proven).toMatch(/^Proven, not guessed: at least so much\./);
  expect(proven).toContain("The sums had noise (10): they tell at most 0.02 bits per column.");
  expect(proven).toContain("Of all cells of your binned table 59% are proven: 52% by outcomes of splits alone, 66%");
  const outcomesOnly = { ...columnExposure.columns[0], certain: { outcomes: 0.2, sums: 0.2, scoring: 0.2 } };
  expect(columnSentences({ ...columnExposure, columns: [outcomesOnly] })[2]).toMatch(
    /20% could be proven, by outcomes of splits alone/,
  );
  const none = columnSentences({ ...columnExposure, columns: [], people: 0, trees: 0 }).join(" ");
  expect(none).toContain("0.00 of the 0.00 bits that your columns hold per person; scoring adds nothing.");
  expect(none).not.toMatch(/NaN|Infinity|undefined/);
});

test("where members were hidden, what was not tried does not read as safe", () => {
  const words = columnSentences({ ...columnExposure, isEstimate: false, hidesMembers: true }).join(" ");
  expect(words).toMatch(
    /told a side of everybody\. What sums tell besides, 0\.027 of them per person, is not in these/,
  );
  const view = passive({ membership: membershipFacts.hidden, role: "active", party: "bank" });
  expect(assumption(view)).toMatch(/can compute which bin people are in.*and that it has the sides of everybody/);
  expect(assumption(view)).not.toMatch(/key|rank people/);
  const budget = { peer: "bank", spent, limits: {} };
  expect(assumption(passive({ membership: membershipFacts.hidden, budget }))).toContain(
    "outcomes of splits, which are of everybody,",
  );
});

test("the table of columns counts people", () => {
  const age = columnRows(columnExposure).find(([name]) => name === "AGE");
  expect(age?.slice(2)).toEqual(["4.72", "1.10", "1.60", "3.30", "225 (1%)", "2,250 (10%)", "5,175 (23%)"]);
});

test("of labels: the best guess beside the model", () => {
  const { labels } = labelExposure;
  if (labels === null) throw new Error("the fixture has labels");
  expect(labelSentences("retailer", labels).join(" ")).toContain("At best an AUC of 0.750; the model has 0.780");
  expect(labelSentences("retailer", { ...labels, byTree: [] }).join(" ")).not.toMatch(/NaN|Infinity/);
  expect(aucRange(labels)).toEqual([0.4, 1]);
  expect(aucRange({ ...labels, byTree: [{ tree: 1, auc: 0.31 }] })).toEqual([0.3, 1]);
});

test("the defences of a job stand in one line", () => {
  expect(privacyLine({ parameters: {} })).toBe("privacy: exact – nothing lowers it");
  expect(privacyLine({ parameters: guarded })).toBe(
    "privacy: guarded – noise 10, at least 1% of the people, 3 thresholds per feature, masked scoring",
  );
  // The name of a preset that was changed afterwards would promise what is not there.
  expect(privacyLine({ parameters: { ...guarded, privacy: "guarded", max_thresholds: 1, answer_noise: 0 } })).toBe(
    "privacy: own settings – at least 1% of the people, 1 threshold per feature, masked scoring",
  );
});

test("settings say whether the job had them; what protects labels is the active party's", () => {
  const states = (view: JobView): string[] => settingRows(view).map(([, , state]) => state);
  expect(states(passive())).toEqual(["off", "off", "off"]);
  expect(states(passive({ role: "active", parameters: { ...guarded, local_rounds: 10 } }))).toEqual([
    "10 with 1%",
    "3",
    "on",
    "10",
  ]);
});

test("a what-if shows the columns that it has measured", () => {
  const { head, rows } = whatIfTable(columnExposure.whatIf);
  expect(head).toEqual(["with", "auc", "bins proven", "bits told by scoring"]);
  expect(rows[0]).toEqual(["as it is", "0.7803", "37%", "18.9"]);
  expect(rows[2]).toEqual(["and max_thresholds 3", "0.7809 (+0.0006)", "21%", "13.3"]);
  expect(rows[3]).toEqual(["masked_scoring", "–", "–", "7.58"]);
});

test("the gauge: of all jobs with the partner, or else of the audited one", () => {
  const limits = { sums_per_person: 0.08, scored_people: 10_000 };
  const view = passive({ budget: { peer: "bank", spent, limits } });
  expect(sumsSpent(view, [columnExposure])).toEqual({
    title: "Exact sums per person, all jobs with bank",
    sumsPerPerson: 0.06,
    limit: 0.08,
  });
  expect(sumsSpent(passive(), [columnExposure])).toMatchObject({ sumsPerPerson: 0.027, limit: null });
  expect(sumsSpent(passive(), [labelExposure])).toBeNull();
  expect(otherSpending(view)).toEqual([
    { value: "0.200", label: "sums with noise per person" },
    { value: "70", label: "outcomes of splits per person" },
    { value: "7,500", label: "scored people, your limit 10,000" },
  ]);
  expect(sumsSentence(0.06)).toBe("Exact sums alone give away about half of your binned table.");
});

test("what was asked for on the day, with the limits; alarms are said once each", () => {
  const today = { day: "2100-06-15", used: { ids: 12_000, jobs: 2, other: 1 }, limits: { ids: 100_000, jobs: 1000 } };
  expect(dailySpending(passive({ budget: { peer: "bank", spent, limits: {}, today } }))).toEqual([
    { value: "12,000", label: "ids asked about on 2100-06-15, your limit 100,000" },
    { value: "2", label: "jobs begun on 2100-06-15, your limit 1,000" },
  ]);
  expect(dailySpending(passive({ budget: { peer: "bank", spent, limits: {} } }))).toEqual([]);
  expect(dailySpending(passive())).toEqual([]);
  const alarm = { type: "alarm", party: "shop", peer: "bank", words: "its budget runs low", at: 1 } as const;
  const view = jobView([alarm, alarm, { ...alarm, words: "it guesses" }]);
  expect(alarmSentences(view)).toEqual(["bank: its budget runs low.", "bank: it guesses."]);
});

test("what to assume follows from what the partner has had, and from the defences", () => {
  const budget = { peer: "bank", spent, limits: {} };
  expect(assumption(passive())).toBe("Assume that bank gets your binned table.");
  expect(assumption(passive({ budget }))).toMatch(/0\.060 per person, give away about half of it; .* and scoring add/);
  const noisy = { ...budget, spent: { ...spent, sumsPerPerson: 0 } };
  expect(assumption(passive({ budget: noisy, parameters: guarded }))).toBe(
    "Assume that bank gets what outcomes of splits tell of your binned table. There were no exact sums.",
  );
  const active = passive({ role: "active" });
  expect(assumption(active)).toMatch(/can compute which bin people are in.* a passive party can rank people by their/);
  expect(assumption({ ...active, parameters: guarded })).toMatch(
    /what outcomes of splits tell.* a passive party can rank/,
  );
});
