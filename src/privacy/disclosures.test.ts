import { factsOfJob, membershipFacts } from "../base/membership.ts";
import { expect, test } from "vitest";
import { ledgerEntries } from "../messages/ledger.ts";
import { noDefences } from "./defences/defences.ts";
import {
  type Disclosure,
  disclosureEntries,
  type DisclosureFacts,
  type DisclosureName,
  disclosuresOf,
  type PassiveFacts,
  withoutBounds,
} from "./disclosures.ts";
import { leakageOf, leakageText } from "./leakage.ts";

const entries = Object.values(disclosureEntries);

const hiddenMembers = { memberships: [membershipFacts.hidden] };

const masked = { ...noDefences, masked_scoring: true };

const plain: DisclosureFacts = {
  active: "bank",
  passive: "shop",
  trees: 4,
  rounds: 4,
  hasStart: false,
  defences: noDefences,
  localRounds: 0,
  depth: 3,
  leaves: 0,
  binsMax: 8,
  memberships: [membershipFacts.sent],
  treeShapeIsSent: false,
  key: "a 2048-bit Paillier key",
  instances: 100,
  ciphertextsPerInstance: 1,
  sampling: { method: "none" },
  columnsAreSampled: false,
  classes: 0,
  validationRows: 0,
  predictedRows: 0,
  alignment: null,
  passiveParty: {
    features: 2,
    candidates: 30,
    constrainedFeatures: 0,
    groupedFeatures: 0,
    minimums: { perNode: 1, perCandidate: 1 },
    scoringIdsMax: "refused",
  },
};

const found = (facts: DisclosureFacts): Partial<Record<DisclosureName, Disclosure>> =>
  Object.fromEntries(disclosuresOf(facts).reveals.map((one) => [one.name, one]));

test("every disclosure is either revealed or absent, and numbers follow from the job", () => {
  const { reveals, absent } = disclosuresOf(plain);
  expect([...reveals.map(({ name }) => name), ...absent].sort()).toEqual(Object.keys(disclosureEntries).sort());
  expect([...absent].sort()).toEqual([
    "alignedActiveCount",
    "alignedActiveIds",
    "alignedPartyIds",
    "bestCandidates",
    "candidateLinks",
    "categoryGroups",
    "categoryWeights",
    "classes",
    "commonIds",
    "drawnTogether",
    "featureTags",
    "maskedConditions",
    "maskedScores",
    "monotone",
    "nodePlaces",
    "nodesAsked",
    "openGroups",
    "ownContributions",
    "predictedIds",
    "predictionOutcomes",
    "sampled",
    "scoredIds",
    "scoringDefaults",
    "scoringHolds",
    "scoringOutcomes",
    "splitGroups",
    "startOutcomes",
    "suppressed",
    "validationRows",
    "vettedColumns",
    "vettedNames",
    "vettedStabilities",
  ]);
  const all = found(plain);
  expect(all.candidateSums?.atMost).toBe(4 * 7 * 30); // trees, nodes of three levels, candidates
  expect(all.splitOutcomes?.atMost).toBe(4 * 3 * 100);
  expect(all.directions?.atMost).toBe(4 * 2 * 100); // partitions into leaves are not sent
  expect(all.encryptedGradients).toMatchObject({ atMost: 400, learner: "shop", about: "bank" });
});

const hidden = { ...plain, memberships: [membershipFacts.hidden], key: "lattices" };

test("where members are hidden they are not sent, and won splits reveal a side of every instance", () => {
  const all = found(hidden);
  expect(all.memberships ?? all.directions ?? all.sampled ?? null).toBeNull();
  expect(found({ ...hidden, sampling: { method: "goss", topFraction: 0.2, otherFraction: 0.1 } }).sampled).toBe(
    undefined,
  );
  expect(all.splitOutcomes?.atMost).toBe(4 * 7 * 100); // trees, splits, instances
  expect(all.splitOutcomes?.note).toContain("in the node or not");
  expect(all.candidateLinks?.atMost).toBe(30);
  expect(all.candidateSums?.note).toMatch(/counts are not sent$/);
  expect(all.nodesAsked).toMatchObject({ atMost: 4 * 4, learner: "shop", about: "bank" });
  expect(disclosuresOf(hidden).absent).toEqual(expect.arrayContaining(["drawnTogether", "nodePlaces"]));
});

test("where a policy allows both protocols, the disclosures of both are listed", () => {
  const names = Object.keys(
    found({ ...hidden, memberships: Object.values(membershipFacts), columnsAreSampled: null, treeShapeIsSent: true }),
  );
  const ofEither = ["memberships", "directions", "candidateLinks", "drawnTogether", "nodesAsked", "nodePlaces"];
  expect(names).toEqual(expect.arrayContaining(ofEither));
});

test("with noise no order of candidates is sent", () => {
  expect(disclosuresOf({ ...plain, defences: { ...noDefences, answer_noise: 1 } }).absent).toContain("candidateOrders");
});

test.each<[string, Partial<DisclosureFacts>, DisclosureName, Partial<Disclosure>]>([
  [
    "goss",
    { sampling: { method: "goss", topFraction: 0.2, otherFraction: 0.1 } },
    "sampled",
    { atMost: 400, note: expect.stringMatching(/20 % of the people .* gets them wrong.*hint about labels/) as string },
  ],
  [
    "goss sends fewer",
    { sampling: { method: "goss", topFraction: 0.2, otherFraction: 0.1 } },
    "encryptedGradients",
    { atMost: 120 },
  ],
  [
    "uniform",
    { sampling: { method: "uniform", fraction: 0.5 } },
    "sampled",
    { note: expect.stringContaining("uniformly") as string },
  ],
  ["folds", { sampling: { method: "folds", folds: 5 } }, "encryptedGradients", { atMost: 320 }],
  [
    "validation rows show in the sample",
    { validationRows: 20 },
    "sampled",
    { note: expect.stringContaining("validation") as string },
  ],
  ["validation", { validationRows: 20 }, "validationRows", { atMost: 20 }],
  ["classes", { classes: 3 }, "classes", { atMost: 3 }],
  ["alignment", { alignment: { activeIds: 70, passiveIds: null } }, "alignedActiveIds", { atMost: 70 }],
  ["monotone", { passiveParty: { ...plain.passiveParty, constrainedFeatures: 1 } }, "monotone", { atMost: 1 }],
  [
    "sets of categories",
    { passiveParty: { ...plain.passiveParty, groupedFeatures: 2 } },
    "categoryGroups",
    { atMost: 2 },
  ],
  [
    "what a set reveals to its owner",
    { passiveParty: { ...plain.passiveParty, groupedFeatures: 2 } },
    "categoryWeights",
    { note: "a hint about labels; the active party may refuse categories with few people" },
  ],
  [
    "what a set of few people reveals to its owner, where the active party permits it",
    {
      categoryPeopleMin: 5,
      passiveParty: { ...plain.passiveParty, groupedFeatures: 2, smallCategories: ["'town' has 3 of 9"] },
    },
    "categoryWeights",
    {
      note: expect.stringMatching(/5 people or more on average.*few people per category: 'town' has 3 of 9/) as string,
    },
  ],
  ["the order of candidates", {}, "candidateOrders", { atMost: 4 * 7 * 30 }],
  [
    "minimums",
    { passiveParty: { ...plain.passiveParty, minimums: { perNode: 1, perCandidate: 5 } } },
    "suppressed",
    { note: expect.stringContaining("fewer than 5") as string },
  ],
  [
    "people between neighbours",
    { passiveParty: { ...plain.passiveParty, minimums: { perNode: 1, perCandidate: 9, between: 5 } } },
    "suppressed",
    { note: "fewer than 9 people on a side, 5 between neighbours, or 1 in a node" },
  ],
  [
    "an agreed minimum, of a party that may have its own",
    { peopleMin: 4, passiveParty: { ...plain.passiveParty, minimums: null } },
    "suppressed",
    { note: expect.stringMatching(/^fewer than 4 people .* own policy asks for$/) as string },
  ],
  [
    "a limit on thresholds",
    { defences: { ...noDefences, max_thresholds: 3 } },
    "suppressed",
    { note: "at most 3 different thresholds of each feature in all trees" },
  ],
  [
    "outcomes with a limit on thresholds",
    { defences: { ...noDefences, max_thresholds: 1 } },
    "splitOutcomes",
    { atMost: 4 * 3 * 100, note: expect.stringContaining("at most 1 threshold of each feature") as string },
  ],
  [
    "scores with a limit on thresholds",
    { defences: { ...noDefences, max_thresholds: 2 }, passiveParty: { ...plain.passiveParty, scoringIdsMax: 9 } },
    "scoringOutcomes",
    { note: expect.stringMatching(/9 ids per request; at most 2 different thresholds/) as string },
  ],
  [
    "noise",
    { defences: { ...noDefences, answer_noise: 10 } },
    "candidateSums",
    { note: expect.stringMatching(/with noise of deviation 10, .* and without counts$/) as string },
  ],
  [
    "noise suppresses sides of one instance",
    { defences: { ...noDefences, answer_noise: 10 } },
    "suppressed",
    { note: expect.stringContaining("fewer than 2") as string },
  ],
  [
    "columns that are sampled where members are hidden",
    { ...hiddenMembers, columnsAreSampled: true },
    "drawnTogether",
    { atMost: 4 * 7 * 30 },
  ],
  [
    "nodes whose children are both requested",
    { ...hiddenMembers, columnsAreSampled: true, treeShapeIsSent: true },
    "nodePlaces",
    { atMost: 4 * 7, note: expect.stringContaining("shape of trees") as string },
  ],
  [
    "minimums where members are hidden",
    {
      ...hiddenMembers,
      passiveParty: { ...plain.passiveParty, minimums: { perNode: 6, perCandidate: 5 } },
    },
    "suppressed",
    { note: expect.stringMatching(/fewer than 5 .* among all summed instances.*no node of fewer than 6/) as string },
  ],
  [
    "noise where members are hidden",
    { ...hiddenMembers, defences: { ...noDefences, answer_noise: 3 } },
    "candidateSums",
    { note: expect.stringMatching(/without counts; a repeated round draws new noise$/) as string },
  ],
  [
    "sides of members by oblivious transfer",
    { memberships: [factsOfJob("hidden", true)] },
    "splitOutcomes",
    { atMost: 4 * 3 * 100 },
  ],
  ["predictions", { predictedRows: 10 }, "predictionOutcomes", { atMost: 4 * 7 * 10 }],
  ["max_leaves", { predictedRows: 10, leaves: 3 }, "predictionOutcomes", { atMost: 4 * 2 * 10 }],
  ["masked scores", { defences: masked, predictedRows: 10 }, "maskedScores", { unit: "scores" }],
  ["a warm start", { hasStart: true }, "startOutcomes", { unit: "outcomes" }],
  ["no limit of depth", { depth: 0, leaves: 5 }, "splitOutcomes", { atMost: 4 * 4 * 100 }],
  [
    "no limit at all",
    { depth: 0 },
    "candidateSums",
    { atMost: null, note: expect.stringContaining("at the nodes") as string },
  ],
  ["local rounds", { localRounds: 2 }, "parameters", { note: expect.stringContaining("first 2 rounds") as string }],
  [
    "an unknown party",
    {
      passiveParty: {
        features: null,
        candidates: null,
        constrainedFeatures: null,
        groupedFeatures: null,
        minimums: null,
        scoringIdsMax: null,
      },
    },
    "candidateSums",
    { atMost: null, note: expect.stringContaining("16 candidates per feature") as string },
  ],
])("%s", (_what, change, name, expected) => {
  expect(found({ ...plain, ...change })[name]).toMatchObject(expected);
});

test("masked scoring reveals no outcome, in training and later", () => {
  const passiveParty = { ...plain.passiveParty, scoringIdsMax: 100 };
  const names = (isMasked: boolean): string[] => {
    const defences = isMasked ? masked : noDefences;
    return Object.keys(found({ ...plain, hasStart: true, predictedRows: 10, defences, passiveParty }));
  };
  const ofOutcomes = ["predictionOutcomes", "startOutcomes", "scoringOutcomes", "scoringDefaults"];
  expect(names(false)).toEqual(expect.arrayContaining(ofOutcomes));
  expect(names(true).filter((name) => ofOutcomes.includes(name))).toEqual([]);
  expect(names(true)).toEqual(
    expect.arrayContaining(["maskedScores", "maskedConditions", "scoringHolds", "scoredIds"]),
  );
});

test("explanations reveal what both sides allow, and nothing where scoring is masked", () => {
  const names = (party: Partial<PassiveFacts>, changes: Partial<DisclosureFacts> = {}): string[] =>
    Object.keys(found({ ...plain, ...changes, passiveParty: { ...plain.passiveParty, scoringIdsMax: 9, ...party } }));
  const ofExplanations = ["featureTags", "ownContributions"];
  expect(names({})).toEqual(expect.arrayContaining(ofExplanations)); // an unknown party
  expect(names({ explains: true }, { sendsContributions: false })).toContain("featureTags");
  for (const [party, changes] of [
    [{ explains: false }, {}],
    [{}, { defences: masked }],
    [{ scoringIdsMax: "refused" }, {}],
  ] as const)
    expect(names(party, changes).filter((name) => ofExplanations.includes(name))).toEqual([]);
  for (const [party, changes] of [
    [{ takesContributions: false }, {}],
    [{}, { sendsContributions: false }],
  ] as const)
    expect(names(party, changes).filter((name) => ofExplanations.includes(name))).toEqual(["featureTags"]);
  const { featureTags } = found({ ...plain, passiveParty: { ...plain.passiveParty, scoringIdsMax: 9 } });
  expect(featureTags?.note).toMatch(/without names, and nothing across trees$/);
});

test("with all rounds local nothing about the trees is revealed", () => {
  const names = Object.keys(found({ ...plain, trees: 0, rounds: 0, localRounds: 4 }));
  expect(names.sort()).toEqual(["candidates", "consent", "instances", "parameters", "trainingRows"]);
});

test("one block per party, absent only what no pair has, and the page at the end", () => {
  const leakage = leakageOf("job spring", [plain, { ...plain, passive: "telecom", classes: 3 }]);
  expect(leakage.parties.map(({ party, role }) => [party, role])).toEqual([
    ["bank", "active"],
    ["shop", "passive"],
    ["telecom", "passive"],
  ]);
  expect(new Set(leakage.parties[0].learns.map(({ about }) => about))).toEqual(new Set(["shop", "telecom"]));
  expect(leakage.absent.map(({ name }) => name)).not.toContain("classes");
  const text = leakageText(leakage);
  expect(text).toMatch(
    /^What job spring reveals[\s\S]*bank, the active party, learns\n {2}of shop:\n[\s\S]*of telecom:/,
  );
  expect(text).toMatch(/of telecom:[\s\S]*shop, a passive party, learns\n {2}of bank:[\s\S]*docs\/leakage\.md/);
  expect(text).toContain("up to 840 sums of unnamed candidates");
});

test("a ledger entry without a bound is disclosed without one, where there are trees", () => {
  const field = {
    learner: "active",
    what: "a checksum of a node's candidates",
    unit: "checksums",
    scale: "splits",
  } as const;
  const { checksums, wins } = withoutBounds({ checksums: field, wins: ledgerEntries.wins }, entries);
  expect(wins).toBeUndefined();
  expect(checksums?.extent(plain)).toEqual({ atMost: null, unit: "checksums" });
  expect(checksums?.extent({ ...plain, trees: 0 })).toBeNull();
});
