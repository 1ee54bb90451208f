/** Jobs with the lattice scheme: a party that deviates is named, with tree and message; honest parties are not. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { checkOpenings } from "../src/verify/check.ts";
import { deviations, outcomeOf, type Verdict } from "../src/verify/findings.ts";
import type { Opening } from "../src/verify/opening.ts";
import { leavingBelow, markingAt, omittingAt, otherNoise } from "./support/deviating-lattice.ts";
import {
  askingOrders,
  exchanged,
  leavingAt,
  lostAtEnd,
  otherCandidate,
  otherOrder,
} from "./support/deviating-parties.ts";
import { randomTable } from "./support/tables.ts";
import { auditorPins, type Cheat, verifiedJob, type VerifiedJob } from "./support/verified-job.ts";

const root = mkdtempSync(join(tmpdir(), "tandem-verified-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;
const opened = (options: Omit<VerifiedJob, "scheme">): Promise<Opening[]> =>
  verifiedJob(join(root, String(folders++)), { ...options, scheme: "lattice" });
const check = async (openings: readonly Opening[], trees: ReadonlySet<number> | null = null): Promise<Verdict> =>
  checkOpenings(openings, { pins: await auditorPins(), trees });

const table = randomTable("verified", { rows: 90, features: [1, 2, 2], missingFraction: 0.1 });
const noise = { answer_noise: 3, min_people_share: 0.05 };
const two = { num_round: 2, max_depth: 3 };

test.each<[string, Omit<VerifiedJob, "scheme">]>([
  ["without noise", { table, training: two }],
  ["noise", { table, training: two, defences: noise }],
  ["sampled rows and columns", { table, training: { ...two, subsample: 0.7, colsample_bynode: 0.5 } }],
  ["trees that share a round", { table, training: { ...two, num_parallel_tree: 2 } }],
  ["few thresholds", { table, training: two, defences: { max_thresholds: 1 } }],
  ["attempts that are broken off", { table, training: two, earlier: [0, 1].map(leavingAt) }],
  ["no last attempt", { table, training: two, cheat: leavingBelow(1), fails: leavingBelow(1).fails }],
])("an honest job holds: %s", async (_, options) => {
  const verdict = await check(await opened(options));
  expect(deviations(verdict)).toEqual([]);
  expect(verdict.notChecked).toEqual([]);
  expect(outcomeOf(verdict)).toBe("as agreed");
});

interface Deviation {
  readonly name: string;
  readonly job?: Partial<VerifiedJob>;
  readonly cheat?: Cheat;
  readonly party: string;
  readonly tree?: number;
  readonly what: RegExp;
}

const isRoot = ({ node }: { readonly node: number }): boolean => node === 0;
const isBelow = ({ tree, node }: { readonly tree: number; readonly node: number }): boolean => tree === 1 && node > 0;
/** Two instances with the same label, and so the same gradients in the first tree. */
const [person, alike, unlike] = [0, 11, 2];
const copies = { ...table, parties: table.parties.map((own, i) => (i === 1 ? [own[1], own[1]] : own)) };

const inJob: readonly Deviation[] = [
  {
    name: "the bank marks an instance at the roots",
    cheat: { hiddenActive: markingAt(isRoot), isUnchecking: true },
    party: "bank",
    what: /^the encrypted gradients of node 0: not/,
  },
  {
    name: "the bank marks an instance below a root",
    cheat: { hiddenActive: markingAt(isBelow), isUnchecking: true },
    party: "bank",
    tree: 1,
    what: /^the encrypted gradients of node \d: not/,
  },
  {
    name: "the bank leaves an instance of a node out",
    cheat: { hiddenActive: omittingAt(isBelow), isUnchecking: true },
    party: "bank",
    tree: 1,
    what: /^the encrypted gradients of node \d: not/,
  },
  {
    name: "the bank trains with another label than it has committed to",
    cheat: { labels: (labels) => labels.map((label, i) => (i === person ? 1 - label : label)) },
    party: "bank",
    what: /^the encrypted gradients of node 0: not/,
  },
  {
    name: "the bank searches with another parameter than it has committed to",
    cheat: { training: { lambda: 60 } },
    party: "bank",
    what: /^(the order of candidates at|the decision at|the encrypted gradients of) node \d+: .* \(towards /,
  },
  {
    name: "the bank names another candidate than the best",
    cheat: { peer: otherCandidate, isUnchecking: true },
    party: "bank",
    what: /^the decision at node \d+: not/,
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
    name: "shop adds another noise",
    job: { defences: noise },
    cheat: { hiddenPassive: otherNoise(isBelow) },
    party: "shop",
    tree: 1,
    what: /^the sums of node \d: not/,
  },
  {
    name: "shop sums another column than it has committed to",
    cheat: { features: exchanged(person, unlike) },
    party: "shop",
    what: /^the hints: not/,
  },
  {
    name: "shop sums a column in which instances with equal gradients are exchanged",
    cheat: { features: exchanged(person, alike) },
    party: "shop",
    what: /^the hints: not/,
  },
  {
    name: "shop gives another order of candidates that tie",
    job: { table: copies },
    cheat: { answers: otherOrder },
    party: "shop",
    what: /^the order of candidates at node 0: not/,
  },
];

const leavesRoot = leavingAt(1);
const leavesBelow = leavingBelow(1);
const { fails } = leavesRoot;
/** The bank reads the error of the party that refuses. */
const refused = /^PROTOCOL_STATE: party (shop|telecom): node \d of tree 1 was requested with other gradients before/;
const lies: Cheat = { hiddenPassive: otherNoise(({ tree, node }) => tree === 1 && node === 0) };
const marks: Cheat = { hiddenActive: markingAt(isBelow), isUnchecking: true };
const marksRoot: Cheat = { hiddenActive: markingAt(({ tree, node }) => tree === 1 && node === 0), isUnchecking: true };

/** The second tree is not finished. */
const brokenOff: readonly Deviation[] = [
  {
    name: "marks at a root, and no second attempt",
    job: { cheat: { ...marksRoot, ...leavesRoot }, fails },
    party: "bank",
    what: /^the request of node 0: not .* \(towards/,
  },
  {
    name: "marks at a root, then true gradients, which are refused",
    job: { earlier: [{ ...marksRoot, ...leavesRoot }], fails: refused },
    party: "bank",
    what: /^the request of node 0: not .* \(towards/,
  },
  {
    name: "true gradients, then marks, which are refused, then true ones again",
    job: { earlier: [leavesRoot, { ...marksRoot, fails: refused }] },
    party: "bank",
    what: /^the request of node 0: not .* \(towards/,
  },
  {
    name: "marks below a root, and no second attempt",
    job: { cheat: { ...marks, ...leavesBelow }, fails },
    party: "bank",
    what: /^the request of node \d: not .* \(towards/,
  },
  {
    name: "marks below a root, which are refused, then true gradients",
    job: { earlier: [leavesBelow, { ...marks, fails: refused }] },
    party: "bank",
    what: /^the request of node \d: not .* \(towards/,
  },
  {
    name: "another candidate than the best, and no second attempt",
    job: { cheat: { isUnchecking: true, peer: (peer) => otherCandidate(leavingBelow(0).peer(peer)) }, fails },
    party: "bank",
    what: /^the decision at node 0: not/,
  },
  {
    name: "false sums of shop, upon which the bank makes other requests",
    job: { defences: noise, cheat: { ...lies, ...leavesBelow }, fails },
    party: "shop",
    what: /^the sums of node 0: not/,
  },
  {
    name: "false sums of shop in a second attempt, which make the bank sign a node twice",
    job: {
      defences: noise,
      earlier: [leavesBelow],
      cheat: { ...lies, ...leavesBelow, isForgetful: true },
      fails,
    },
    party: "shop",
    what: /^the sums of node 0: not/,
  },
];

test.each(inJob)("$name", async ({ job = {}, cheat = {}, party, tree = 0, what }) => {
  const openings = await opened({ table, training: two, ...job, cheat });
  const expected = [{ party, tree, what: expect.stringMatching(what) as string }];
  expect(deviations(await check(openings))).toEqual(expected);
});

test.each(brokenOff)("broken-off attempts: $name", async ({ job = {}, party, what }) => {
  const openings = await opened({ table, training: two, ...job });
  const verdict = await check(openings);
  expect(deviations(verdict)).toEqual([
    { party, tree: expect.any(Number) as number, what: expect.stringMatching(what) as string },
  ]);
});

describe("broken-off attempts: evidence that is left out", () => {
  const marked = { table, training: two, cheat: { ...marks, ...leavesBelow }, fails };
  const lied = { table, training: two, defences: noise, cheat: { ...lies, ...leavesBelow }, fails };
  const one = (party: string | null, what: RegExp, tree = 1) => [
    { party, tree, what: expect.stringMatching(what) as string },
  ];
  const withoutTree = (opening: Opening): Opening => ({
    ...opening,
    gradients: opening.gradients.filter(({ tree }) => tree === 0),
  });
  const lacksRequest = /^it has signed an answer about node \d, and its opening lacks the request$/;

  test("a passive party that leaves out signed requests of a tree is named", async () => {
    const [bank, shop, telecom] = await opened(marked);
    for (const silent of [withoutTree(telecom), { ...telecom, gradients: telecom.gradients.slice(0, -1) }])
      expect(deviations(await check([bank, shop, silent]))).toEqual(one("telecom", lacksRequest));
  });

  test("a passive party that has answered falsely, and leaves out what shows it, is named", async () => {
    const [bank, shop, telecom] = await opened(lied);
    const what = /^the sums of node 0: not/;
    expect(deviations(await check([bank, shop, telecom]))).toEqual(one("shop", what));
    expect(deviations(await check([bank, withoutTree(shop), telecom]))).toEqual(one("shop", lacksRequest));
    // It may leave out the request after its answer only.
    const first = { ...shop, gradients: shop.gradients.filter(({ tree, node }) => tree === 0 || node === 0) };
    const answers = bank.answers.filter(({ peer, node }) => peer !== "shop" || node === 0);
    expect(answers.length).toBeLessThan(bank.answers.length);
    expect(deviations(await check([{ ...bank, answers }, first, telecom]))).toEqual(one("shop", what));
  });

  test("false answers after which nothing was requested are attributed", async () => {
    const openings = await opened({ ...lied, cheat: { ...lies, ...leavesRoot } });
    expect(deviations(await check(openings))).toEqual(one("shop", /^the sums of node 0: not/));
  });

  test("an active party that deviates towards one party, and leaves out what another answered, is named", async () => {
    const [bank, shop, telecom] = await opened(marked);
    expect(bank.answers.map(({ peer }) => peer)).toContain("telecom");
    const lacking = { ...bank, answers: bank.answers.filter(({ peer }) => peer !== "telecom") };
    const what = /^the request of node \d: not .* \(towards shop\), and its evidence lacks .* telecom has signed$/;
    expect(deviations(await check([lacking, shop, withoutTree(telecom)]))).toEqual(one("bank", what));
    expect(deviations(await check([lacking, shop, telecom]))).toEqual(one("bank", /^the request of node \d: not/));
  });

  test("answers that were not signed by their party are a fault of the opening", async () => {
    const [bank, shop, telecom] = await opened(marked);
    const [answer, ...rest] = bank.answers;
    const forged = { ...answer, node: answer.node + 1 };
    expect(deviations(await check([{ ...bank, answers: [forged, ...rest] }, shop, telecom]))).toEqual(
      one("bank", /^answers in its evidence do not have a valid signature of/),
    );
  });
});

test("a party that answers falsely, and does not sign the tree, does not have the bank blamed", async () => {
  const falsely = { hiddenPassive: otherNoise(isRoot), ...lostAtEnd(true) };
  const openings = await opened({ table, training: two, defences: noise, cheat: falsely, fails: falsely.fails });
  const [bank, shop, telecom] = openings;
  expect(telecom.trees).toHaveLength(1);
  expect(deviations(await check(openings))).toMatchObject([{ party: "shop", tree: 0 }]);
  const silent = { ...shop, trees: [], gradients: [] };
  expect(deviations(await check([bank, silent, telecom]))).toMatchObject([{ party: "shop", tree: 0 }]);
});

describe("hidden outcomes", () => {
  const hidden = { table, training: { num_round: 2, max_depth: 2 }, defences: { hidden_outcomes: true } };

  test("an honest job has no finding, and the verdict says what it leaves out", async () => {
    const verdict = await check(await opened({ ...hidden, earlier: [leavesRoot] }));
    expect(deviations(verdict)).toEqual([]);
    expect(verdict.notChecked).toEqual([expect.stringMatching(/^the outcomes of splits in 2 trees: .* cannot be rec/)]);
    expect(outcomeOf(verdict)).toBe("incomplete");
  });

  test("requests after an outcome are attributed to no party", async () => {
    expect(deviations(await check(await opened({ ...hidden, cheat: marksRoot })))).toMatchObject([
      {
        party: null,
        tree: 1,
        what: expect.stringMatching(/node 0: not .*, but the outcome at node 0 from \w+ cannot/),
      },
    ]);
  });
});
