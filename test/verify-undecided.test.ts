/** Answers that the active party did not have to keep: a deviation after them cannot be attributed. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import type { BinnedFeature } from "../src/gbdt/split/binning.ts";
import { checkOpenings } from "../src/verify/check.ts";
import { deviations, outcomeOf, type Verdict } from "../src/verify/findings.ts";
import type { Opening } from "../src/verify/opening.ts";
import { randomTable } from "./support/tables.ts";
import { auditorPins, type Cheat, verifiedJob } from "./support/verified-job.ts";
import type { TestTable } from "./world/simulated.ts";

// The auditor's limit: any answer may be missing.
vi.mock(import("../src/party/active/job-evidence.ts"), async (original) => ({
  ...(await original()),
  answerBytesMax: 0,
}));

const root = mkdtempSync(join(tmpdir(), "tandem-undecided-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const check = async (openings: readonly Opening[]): Promise<Verdict> =>
  checkOpenings(openings, { pins: await auditorPins(), trees: null });
let folders = 0;
const table = randomTable("verified", { rows: 90, features: [1, 2, 2], missingFraction: 0.1 });

function withShop(of: TestTable, change: (columns: readonly Float32Array[]) => readonly Float32Array[]): TestTable {
  return { ...of, parties: of.parties.map((columns, party) => (party === 1 ? change(columns) : columns)) };
}

/** The last column rotated: as many instances in each bin, but different ones. */
function turned<Column extends Float32Array | Uint16Array>(column: Column): Column {
  return column.map((_, i) => column[(i + 7) % column.length]) as Column;
}

const [copies, turnedCopy] = [
  withShop(table, ([, column]) => [column, column]),
  withShop(table, ([, column]) => [column, turned(column)]),
];
const secondAs =
  (change: (first: BinnedFeature) => Uint16Array) =>
  ([first, second]: readonly BinnedFeature[]): readonly BinnedFeature[] => [first, { ...second, bins: change(first) }];

test.each<readonly [string, TestTable, Cheat["features"] & object, RegExp]>([
  ["a decision", table, (features) => features.map((f) => ({ ...f, bins: turned(f.bins) })), /^the decision at node 0/],
  ["an order that was not asked for", copies, secondAs(({ bins }) => turned(bins)), /^the order .* node 0: missing/],
  ["an order that was", turnedCopy, secondAs(({ bins }) => bins), /^the order .* node 0: unexpected/],
])(
  "without the answer in the bank's evidence the deviating party cannot be determined: %s",
  async (_, committed, features, what) => {
    const [bank, shop, telecom] = await verifiedJob(join(root, String(folders++)), {
      table: committed,
      training: { num_round: 1, max_depth: 1 },
      cheat: { features },
    });
    expect(deviations(await check([bank, shop, telecom]))).toEqual([
      { party: "shop", tree: 0, what: expect.stringMatching(/^the sums of node 0: not/) as string },
    ]);
    const trees = bank.trees.map((tree) => ({
      ...tree,
      pairs: { ...tree.pairs, shop: { ...tree.pairs["shop"], answers: {} } },
    }));
    const verdict = await check([{ ...bank, trees }, shop, telecom]);
    const [found, ...others] = deviations(verdict);
    expect(others).toEqual([]);
    expect(found).toMatchObject({ party: null, tree: 0 });
    expect(found.what).toMatch(what);
    expect(outcomeOf(verdict)).toBe("deviated");
    expect(found.what).toMatch(/\(bank towards shop\), but no party has stored the sums of node 0 from shop$/);
  },
);

test("hidden sums: no tree is checked, and no party is named", async () => {
  const openings = await verifiedJob(join(root, String(folders++)), {
    table: randomTable("hidden sums", { rows: 40, features: [1, 1, 1] }),
    training: { num_round: 1, max_depth: 1, max_bin: 4 },
    defences: { hidden_sums: true },
  });
  const verdict = await check(openings);
  expect(outcomeOf(verdict)).toBe("incomplete");
  expect(deviations(verdict)).toEqual([]);
  expect(verdict.trees.map(({ state }) => state)).toEqual(["not checked"]);
  expect(verdict.notChecked.join()).toMatch(/comparisons of hidden sums cannot be recomputed/);
});
