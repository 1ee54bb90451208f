/** A party that deviates is named, with the tree and the message; honest parties are not. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { TandemError } from "../src/base/error.ts";
import { commitmentTo } from "../src/protocol/chain/commitment.ts";
import { fromHex, toHex } from "../src/store/stored-numbers.ts";
import { checkOpenings } from "../src/verify/check.ts";
import { deviations, type Finding, outcomeOf, type Verdict } from "../src/verify/findings.ts";
import type { Opening } from "../src/verify/opening.ts";
import {
  anyMembers,
  askingOrders,
  confusing,
  exchanged,
  forgetting,
  leavingAt,
  lostAtEnd,
  marking,
  markingIn,
  otherCandidate,
  otherGradients,
  otherMembers,
  otherOrder,
  otherOutcome,
} from "./support/deviating-parties.ts";
import { expectError } from "./support/expect-error.ts";
import { auditorPins, type Cheat, type FailedAttempt, verifiedJob, type VerifiedJob } from "./support/verified-job.ts";
import { manyFeatures } from "./support/oracle-jobs.ts";
import { randomTable } from "./support/tables.ts";
import { type TestTable } from "./world/simulated.ts";

const root = mkdtempSync(join(tmpdir(), "tandem-verified-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;
const opened = (options: VerifiedJob): Promise<Opening[]> => verifiedJob(join(root, String(folders++)), options);
const check = async (openings: readonly Opening[], trees: ReadonlySet<number> | null = null): Promise<Verdict> =>
  checkOpenings(openings, { pins: await auditorPins(), trees });

const table = randomTable("verified", { rows: 90, features: [1, 2, 2], missingFraction: 0.1 });

function withShop(of: TestTable, change: (columns: readonly Float32Array[]) => readonly Float32Array[]): TestTable {
  return { ...of, parties: of.parties.map((columns, party) => (party === 1 ? change(columns) : columns)) };
}

test.each([
  ["noise", { table, training: { num_round: 2 }, defences: { answer_noise: 3, min_people_share: 0.05 } }],
  [
    "clipped gradients",
    {
      table: { ...table, labels: table.labels.map((label, i) => (i === 7 ? 500 : label)) },
      training: { num_round: 2, objective: "reg:squarederror" as const, base_score: 0.5 },
      defences: { answer_noise: 0.5 },
    },
  ],
  ["trees dropped", { table, training: { booster: "dart" as const, rate_drop: 0.5, one_drop: true } }],
  ...manyFeatures.map(([name, many, training]) => [name, { table: many, training }] as const),
] as const)("an honest job holds: %s", async (_, options) => {
  const verdict = await check(await opened(options));
  expect(deviations(verdict)).toEqual([]);
  expect(verdict.notChecked).toEqual([]);
  expect(new Set(verdict.trees.map(({ state }) => state))).toEqual(new Set(["as agreed"]));
});

/** Two instances with the same label, and so the same gradients in the first tree. */
const [person, alike, unlike] = [0, 11, 2];

interface Deviation {
  readonly name: string;
  readonly job?: Partial<VerifiedJob>;
  readonly cheat: Cheat;
  readonly party: string;
  /** The first where it shows; left out: 0. */
  readonly tree?: number;
  readonly what: RegExp;
}

const cheats: readonly Deviation[] = [
  {
    name: "the bank encrypts a mark instead of a gradient",
    cheat: { activeScheme: marking, isUnchecking: true },
    party: "bank",
    what: /gradients .* are not those of its labels/,
  },
  {
    name: "the bank trains with another label than it has committed to",
    cheat: { labels: (labels) => labels.map((label, i) => (i === person ? 1 - label : label)) },
    party: "bank",
    what: /gradients .* are not those of its labels/,
  },
  {
    name: "the bank trains with other weights than it has committed to",
    cheat: { columns: { weight: table.labels.map((_, i) => 1 + (i % 3)) } },
    party: "bank",
    what: /gradients .* are not those of its labels/,
  },
  {
    name: "the bank drops other trees than its seed draws",
    job: { training: { booster: "dart", num_round: 2 } },
    cheat: { training: { rate_drop: 1 } },
    party: "bank",
    tree: 1,
    what: /gradients .* are not those of its labels/,
  },
  {
    name: "the bank sends other instances as a node's members",
    cheat: { peer: otherMembers, isUnchecking: true },
    party: "bank",
    what: /^the members of node \d+: not/,
  },
  {
    name: "the bank names another candidate than the best",
    cheat: { peer: otherCandidate, isUnchecking: true },
    party: "bank",
    what: /^the decision at node \d+: not/,
  },
  {
    name: "the bank searches with another parameter than it has committed to",
    cheat: { training: { lambda: 60 } },
    party: "bank",
    what: /^(the order of candidates at|the decision at|the members of) node \d+: .* \(towards /,
  },
  {
    name: "the bank asks for an order where nothing ties",
    cheat: { peer: askingOrders },
    party: "bank",
    what: /^the order of candidates at node \d+: unexpected \(towards shop\)/,
  },
  {
    name: "the bank agrees on other parameters than it has committed to",
    cheat: { training: { seed: 99 } },
    party: "bank",
    what: /^the terms of the job: not/,
  },
  {
    // Noise hides it from the bank.
    name: "shop leaves instances out of its sums",
    job: { defences: { answer_noise: 1, min_people_share: 0.05 } },
    cheat: { passiveScheme: forgetting },
    party: "shop",
    what: /^the sums of node \d+: not/,
  },
  {
    name: "shop sums another column than it has committed to",
    cheat: { features: exchanged(person, unlike) },
    party: "shop",
    what: /^the sums of node 0: not/,
  },
  {
    name: "shop answers another outcome, of instances with equal gradients",
    cheat: { features: exchanged(person, alike) },
    party: "shop",
    what: /^the outcome at node 0: not/,
  },
  {
    name: "shop gives another order of candidates that tie",
    job: { table: withShop(table, ([, column]) => [column, column]) },
    cheat: { answers: otherOrder },
    party: "shop",
    what: /^the order of candidates at node 0: not/,
  },
];

test.each(cheats)("$name", async ({ job = {}, cheat, party, tree = 0, what }) => {
  const expected: Finding = { party, tree, what: expect.stringMatching(what) as string };
  const openings = await opened({ table, training: { num_round: 3 }, ...job, cheat });
  expect(deviations(await check(openings))).toEqual([expected]);
  // After a deviation ciphertexts are checked whether sampled or not.
  expect(deviations(await check(openings, new Set([2])))).toEqual([expected]);
});

interface Attempts {
  readonly name: string;
  readonly earlier: readonly FailedAttempt[];
  readonly last?: FailedAttempt;
  /** What is found: null if nothing is. */
  readonly party: string | null;
  readonly tree?: number;
}

const marked: Cheat = { activeScheme: marking, isUnchecking: true };
const leaving = leavingAt(0);

const attempts: readonly Attempts[] = [
  { name: "true gradients, twice", earlier: [leaving], party: null },
  { name: "true gradients, and no second attempt", earlier: [], last: leaving, party: null },
  {
    name: "false gradients, then true ones",
    earlier: [{ ...marked, ...leaving }],
    last: { fails: otherGradients },
    party: "bank",
  },
  {
    name: "true gradients, then false ones",
    earlier: [leaving],
    last: { ...marked, ...leaving, fails: otherGradients },
    party: "bank",
  },
  { name: "false gradients, and no second attempt", earlier: [], last: { ...marked, ...leaving }, party: "bank" },
  {
    name: "a false gradient in the second round, then true ones",
    earlier: [{ activeScheme: (scheme) => markingIn(scheme, 1), isUnchecking: true, ...leavingAt(1) }],
    last: { fails: otherGradients },
    party: "bank",
    tree: 1,
  },
];

/** The passive party answers the first gradients only, so its answers are never compared with others. */
test.each(
  [{}, { answer_noise: 3, min_people_share: 0.05 }].flatMap((defences) =>
    attempts.map((each) => ({ ...each, defences, noise: "answer_noise" in defences ? "with" : "without" })),
  ),
)("broken-off attempts, $noise noise: $name", async ({ earlier, last, party, tree = 0, defences }) => {
  const failing = last === undefined ? {} : { cheat: last, fails: last.fails };
  const openings = await opened({ table, training: { num_round: 2 }, defences, earlier, ...failing });
  const verdict = await check(openings);
  expect(deviations(verdict)).toEqual(
    party === null
      ? []
      : [{ party, tree, what: expect.stringMatching(/gradients .* are not those of its labels/) as string }],
  );
  expect(outcomeOf(verdict)).toBe(party === null ? "as agreed" : "deviated");
});

test.each([
  ["with one party only", [false]],
  ["with both, and again with one", [true, false]],
  ["with one, then with both", [false, true]],
  ["with both, twice", [true, true]],
])("no party is blamed for connections lost while a tree is signed %s", async (_, telecomSigns) => {
  const lost = telecomSigns.map(lostAtEnd);
  const [last] = lost.slice(-1);
  const job = { table, training: { num_round: 2 } };
  const openings = await opened({ ...job, earlier: lost.slice(0, -1), cheat: last, fails: last.fails });
  const [{ trees }, , telecom] = openings;
  expect([trees.length, telecom.trees.length]).toEqual([1, telecomSigns.includes(true) ? 1 : 0]);
  expect(Object.keys(trees[0].pairs).sort()).toEqual(telecom.trees.length === 1 ? ["shop", "telecom"] : ["shop"]);
  const verdict = await check(openings);
  expect([deviations(verdict), outcomeOf(verdict)]).toEqual([[], "as agreed"]);
  // The bank leaves a party out that has its signature.
  for (const party of Object.keys(trees[0].pairs)) {
    const pairs = Object.fromEntries(Object.entries(trees[0].pairs).filter(([peer]) => peer !== party));
    const found = deviations(await check([{ ...openings[0], trees: [{ ...trees[0], pairs }] }, ...openings.slice(1)]));
    expect(found).toEqual([
      expect.objectContaining({ party: "bank", what: expect.stringMatching(/lacks it$/) as string }),
    ]);
  }
  const resumed = await check(await opened({ ...job, earlier: lost }));
  expect([deviations(resumed), outcomeOf(resumed)]).toEqual([[], "as agreed"]);
});

test.each<readonly [string, FailedAttempt]>([
  ["it has gradients that the bank signed", leaving],
  ["the bank has its signature of a tree", lostAtEnd(true)],
])("shop cannot commit to other inputs when %s, nor have the bank blamed", async (_, first) => {
  const openings = await opened({
    table,
    training: { num_round: 2 },
    earlier: [first],
    cheat: { recommits: true },
    fails: /^HANDSHAKE_MISMATCH: commitment: party shop has committed to something else/,
  });
  const verdict = await check(openings);
  expect(new Set(deviations(verdict).map(({ party }) => party))).toEqual(new Set(["shop"]));
  const [bank, shop] = openings;
  expect(bank.peers["shop"].commitment, "the bank keeps the first").not.toBe(shop.own.commitment);
});

test("shop may commit anew as long as not all parties have joined", async () => {
  let joined = (): void => {};
  const hasJoined = new Promise<void>((resolve) => (joined = resolve));
  const first: FailedAttempt = {
    fails: /^PARTY_LOST: telecom cannot be reached$/,
    peer: (peer) => ({
      ...peer,
      join: async function* (...call) {
        for await (const answer of peer.join(...call)) {
          joined();
          yield answer;
        }
      },
    }),
    toTelecom: (peer) => ({
      ...peer,
      join: async function* () {
        yield hasJoined.then((): never => {
          throw new TandemError("PARTY_LOST", "telecom cannot be reached");
        });
      },
    }),
  };
  const job: VerifiedJob = { table, training: { num_round: 1 }, earlier: [first], cheat: { recommits: true } };
  const verdict = await check(await opened(job));
  expect([deviations(verdict), outcomeOf(verdict)]).toEqual([[], "as agreed"]);
});

test("the bank cannot open another commitment than the one of gradients in an unfinished tree", async () => {
  const others = table.labels.map((label, i) => (i === person ? 1 - label : label));
  const cheat: Cheat = { ...leaving, labels: () => others };
  const training = { num_round: 2 };
  const [bank, ...passives] = await opened({ table, training, cheat, fails: leaving.fails });
  const [fitting] = await opened({
    table: { ...table, labels: others },
    training,
    cheat: leaving,
    fails: leaving.fails,
  });
  const { salt, facts } = bank.opened;
  const revealed = { salt, facts: { ...facts, labels: fitting.opened.facts["labels"] } };
  const commitment = toHex(commitmentTo(fromHex(salt), revealed.facts));
  const changed = { ...bank, active: fitting.active, opened: revealed, own: { ...bank.own, commitment } };
  const found = deviations(await check([changed, ...passives]));
  expect(found).toEqual([
    { party: "bank", tree: null, what: "its opening is of another commitment than the one that it has signed" },
    { party: "bank", tree: null, what: "its opening is of another commitment than the one that it has signed" },
  ]);
  const { shop: _, ...peers } = bank.peers;
  expect(deviations(await check([{ ...bank, peers }, ...passives]))).toEqual([
    { party: "bank", tree: null, what: "it has signed messages with shop, and opens none of them" },
  ]);
});

test("labels that are invalid, and so gradients out of their range, are attributed to the bank", async () => {
  const outside = { ...table, labels: table.labels.map((label, i) => (i === 40 ? 7 : label)) };
  const cheat: Cheat = { labels: (labels) => labels.map((label) => Math.min(label, 1)) };
  const found = deviations(await check(await opened({ table: outside, training: { num_round: 1 }, cheat })));
  expect(found).toEqual([{ party: "bank", tree: null, what: "its committed data is not valid for this job" }]);
});

test("false sums that change no decision are detected where ciphertexts are checked", async () => {
  const cheat: Cheat = { passiveScheme: (scheme) => confusing(scheme, table.labels, 2) };
  const openings = await opened({ table, training: { num_round: 1 }, cheat });
  expect(deviations(await check(openings))).toEqual([
    { party: "shop", tree: 0, what: expect.stringMatching(/^the sums of node 2: not/) as string },
  ]);
  const verdict = await check(openings, new Set());
  expect(deviations(verdict)).toEqual([]);
  expect(verdict.notChecked).toEqual([expect.stringMatching(/^the ciphertexts of 1 trees/)]);
});

test.each<readonly [string, Cheat, RegExp]>([
  ["other members of a node that shop has split", { peer: anyMembers }, /^party shop: .* not the sides of node 0's/],
  ["sums of fewer instances", { passiveScheme: forgetting }, /^party shop sent a sum that this number of/],
  [
    "an outcome that does not make the sums",
    { answers: otherOutcome },
    /^party shop sent a split whose instances do not/,
  ],
])("the job itself refuses %s", async (_, cheat, message) => {
  await expectError(() => opened({ table, training: { num_round: 1 }, cheat }), "PROTOCOL_STATE", message);
});

test("an opening that differs from its commitment is attributed to its owner", async () => {
  const [bank, shop, telecom] = await opened({ table, training: { num_round: 2 } });
  const { active, opened: revealed } = bank;
  if (active === undefined) throw new Error("the bank is active");
  const changedLabels = Buffer.from(active.labels, "base64");
  changedLabels.writeDoubleLE(1 - changedLabels.readDoubleLE(80), 80);
  const cases: [Opening[], string, RegExp][] = [
    [
      [{ ...bank, active: { ...active, labels: changedLabels.toString("base64") } }, shop, telecom],
      "bank",
      /does not match its commitment: labels/,
    ],
    [
      [{ ...bank, opened: { ...revealed, facts: { ...revealed.facts, sampling: "another" } } }, shop, telecom],
      "bank",
      /not what it has committed to/,
    ],
    [[bank, { ...shop, features: [...shop.features].reverse() }, telecom], "shop", /commitment: features/],
    [[bank, shop, changedEntries(telecom)], "telecom", /chain with bank is broken/],
    [[bank, changedSignature(shop), telecom], "shop", /signature of bank in its evidence is invalid/],
    [[bank, { ...shop, trees: shop.trees.slice(1) }, telecom], "shop", /is incomplete/],
  ];
  for (const [openings, party, what] of cases) {
    const verdict = await check(openings);
    expect(verdict.records[0]).toMatchObject({ party });
    expect(verdict.records[0].what).toMatch(what);
    expect(new Set(verdict.records.map((finding) => finding.party))).toEqual(new Set([party]));
    expect(verdict.trees.every(({ state }) => state === "not checked")).toBe(true);
  }
});

function changedEntries(opening: Opening): Opening {
  return withPair(opening, (pair) => {
    const entries = Buffer.from(pair.entries, "base64");
    entries[entries.length - 1] ^= 1;
    return { ...pair, entries: entries.toString("base64") };
  });
}

function changedSignature(opening: Opening): Opening {
  return withPair(opening, (pair) => ({ ...pair, theirs: pair.own }));
}

type Pair = Opening["trees"][number]["pairs"][string];

/** Of the second tree. */
function withPair(opening: Opening, change: (pair: Pair) => Pair): Opening {
  const trees = opening.trees.map((tree, i) =>
    i === 1 ? { ...tree, pairs: { bank: change(tree.pairs["bank"]) } } : tree,
  );
  return { ...opening, trees };
}

test("without all openings only records are checked, and the verdict says so", async () => {
  const [bank, shop, telecom] = await opened({ table, training: { num_round: 1 } });
  for (const openings of [[bank], [shop], [bank, shop], [shop, telecom]]) {
    const verdict = await check(openings);
    expect(deviations(verdict)).toEqual([]);
    expect(verdict.notChecked).toEqual([expect.stringMatching(/^no tree: .* is missing/)]);
    expect(verdict.trees.every(({ state }) => state === "not checked")).toBe(true);
  }
  expect(deviations(await check([changedEntriesOf(bank)]))).toEqual([
    expect.objectContaining({ party: "bank", what: expect.stringMatching(/chain with shop is broken/) as string }),
  ]);
});

function changedEntriesOf(bank: Opening): Opening {
  const [first] = bank.trees;
  const pairs = { ...first.pairs, shop: { ...first.pairs["shop"], entries: first.pairs["telecom"].entries } };
  return { ...bank, trees: [{ ...first, pairs }] };
}
