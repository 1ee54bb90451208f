import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import type { ActiveRule } from "../../protocol/active/federated-tree.ts";
import type { ActiveShare, PassiveShare } from "../../store/share-files.ts";
import { sharePathOf, showActive, showPassive } from "./model-show.ts";

const model = "5".repeat(64);
const leaf = (weight: number, count: number) => ({ kind: "leaf", weight, cover: 1, count }) as const;
const own = (featureName: string, threshold: number, defaultLeft: boolean) => ({
  owner: 0,
  feature: 0,
  featureName,
  threshold,
  defaultLeft,
});
const split = (left: number, right: number, gain: number, count: number, rule: ActiveRule) =>
  ({ kind: "split", left, right, gain, cover: 1, count, rule }) as const;

const active: ActiveShare = {
  name: "bank",
  job: "spring",
  model,
  objective: "binary:logistic",
  baseMargin: -0.847297860387,
  passiveNames: ["retailer", "tele\u001b[2Jcom"],
  trees: [
    [
      split(1, 2, 41.23456, 1526, own('inc"ome\u0007', Math.fround(3.1), true)),
      split(3, 4, 2, 900, { owner: 1 }),
      leaf(0.25, 626),
      leaf(-0.123456, 400),
      split(5, 6, 1, 500, { owner: 2 }),
      leaf(1, 250),
      leaf(0, 250),
    ],
    [split(1, 2, 0.5, 1526, own("debt\\", 100, false)), leaf(1, 1000), leaf(2, 526)],
    [leaf(0.5, 1526)],
  ],
};
const passive: PassiveShare = {
  name: "retailer",
  job: "spring",
  model,
  active: "bank",
  splits: [
    { tree: 3, node: 2, feature: 1, featureName: "visits", threshold: -2.5, defaultLeft: false },
    { tree: 0, node: 4, feature: 0, featureName: "basket", threshold: Math.fround(0.1), defaultLeft: true },
    { tree: 0, node: 1, feature: 1, featureName: "visits", threshold: 7, defaultLeft: false },
  ],
};

describe("the active party sees", () => {
  test("tree weights are shown if they differ", () => {
    const dart: ActiveShare = { ...active, treeWeights: [0.25, 1, Math.fround(1 / 3)] };
    expect(showActive(dart, "text", 2)).toMatch(
      /dart: tree weights 0\.25 to 1\n[\s\S]*weight 0\.3333: multiply its leaves/,
    );
    expect(JSON.parse(showActive(dart, "json", 1))).toMatchObject({ treeWeights: dart.treeWeights, weight: 1 });
    expect(showActive(active, "text")).not.toContain("weigh");
  });

  test("where margins start, if that is a column", () => {
    const offset: ActiveShare = { ...active, takesBaseMargin: true, baseMarginColumn: "log\u0007exposure" };
    const shown = showActive(offset, "text");
    expect(shown).toContain("margins start at column 'log");
    expect(shown).not.toContain("\u0007");
  });

  test("a summary, and a tree with closed boxes", () => {
    expect(showActive(active, "text")).toBe(
      [
        `  model       ${model}`,
        "  job         spring",
        "  share of    bank, the active party",
        "  objective   binary:logistic, margins start at -0.8473",
        "  trees       3, with 7 leaves",
        "",
        "  party         splits    gain   of all gain   cover",
        "  bank               2   41.73        93.3 %       2",
        "  retailer           1       2         4.5 %       1",
        "  tele [2Jcom        1       1         2.2 %       1",
        "",
        "  own feature   splits    gain   of all gain   cover",
        '  inc"ome            1   41.23        92.2 %       1',
        "  debt\\              1     0.5         1.1 %       1",
        "",
        "  tree 0, of the trees 0 to 2; yes is the upper branch, ▣ is another party's split",
        "",
        '  ─┬─ 0: inc"ome  < 3.1 (missing: yes)   1,526 people, gain 41.23',
        "   ├─┬─ 1: ▣ retailer                    900 people, gain 2",
        "   │ ├─── 3: leaf -0.1235                400 people",
        "   │ └─┬─ 4: ▣ tele [2Jcom               500 people, gain 1",
        "   │   ├─── 5: leaf 1                    250 people",
        "   │   └─── 6: leaf 0                    250 people",
        "   └─── 2: leaf 0.25                     626 people",
      ].join("\n"),
    );
  });

  test("any other tree, also one of a single leaf", () => {
    expect(showActive(active, "text", 1)).toContain("  ─┬─ 0: debt\\ < 100 (missing: no)");
    expect(showActive(active, "text", 2)).toMatch(/\n {2}─── 0: leaf 0\.5 {3}1,526 people$/u);
  });

  test("what Graphviz draws", () => {
    expect(showActive(active, "dot")).toBe(
      [
        "digraph tree_0 {",
        '  node [shape=box, fontname="sans-serif"];',
        '  n0 [label="inc\\"ome  < 3.1 (missing: yes)\\n1,526 people\\ngain 41.23"];',
        "  n0 -> n1 [label=yes];",
        "  n0 -> n2 [label=no];",
        '  n1 [label="▣ retailer\\n900 people\\ngain 2", style=filled, fillcolor="#404040", fontcolor=white];',
        "  n1 -> n3 [label=yes];",
        "  n1 -> n4 [label=no];",
        '  n2 [label="leaf 0.25\\n626 people", shape=ellipse];',
        '  n3 [label="leaf -0.1235\\n400 people", shape=ellipse];',
        '  n4 [label="▣ tele [2Jcom\\n500 people\\ngain 1", style=filled, fillcolor="#404040", fontcolor=white];',
        "  n4 -> n5 [label=yes];",
        "  n4 -> n6 [label=no];",
        '  n5 [label="leaf 1\\n250 people", shape=ellipse];',
        '  n6 [label="leaf 0\\n250 people", shape=ellipse];',
        "}",
      ].join("\n"),
    );
    expect(showActive(active, "dot", 1)).toContain('label="debt\\\\ < 100');
  });

  test("the numbers themselves", () => {
    expect(JSON.parse(showActive(active, "json", 1))).toMatchObject({
      role: "active",
      model,
      trees: 3,
      leaves: 7,
      tree: 1,
      nodes: active.trees[1],
      parties: [{ name: "bank", splits: 2 }, { splits: 1 }, { splits: 1 }],
    });
  });

  test("no tree that there is not", () =>
    expectError(() => showActive(active, "text", 3), "USAGE", /trees 0 to 2; got 3/));
});

describe("a passive party sees", () => {
  test("its own splits by tree and node", () => {
    expect(showPassive(passive, "text")).toBe(
      [
        `  model       ${model}`,
        "  job         spring",
        "  share of    retailer, a passive party; the active one is bank",
        "  splits      3, in 2 trees",
        "",
        "  own feature   splits",
        "  visits             2",
        "  basket             1",
        "",
        "  own splits, as tree/node",
        "  0/1       visits < 7 (missing: no)",
        "  0/4       basket < 0.1 (missing: yes)",
        "  3/2       visits < -2.5 (missing: no)",
      ].join("\n"),
    );
  });

  test("those of one tree, or that it has none there", () => {
    expect(showPassive(passive, "text", 3)).toMatch(
      /own splits of tree 3, as tree\/node\n {2}3\/2 {7}visits < -2\.5 \(missing: no\)$/,
    );
    expect(showPassive(passive, "text", 1)).toMatch(/of tree 1, as tree\/node: none$/);
    expect(showPassive({ ...passive, splits: [] }, "text")).toMatch(/0, in 0 trees\n\n.*: none$/);
    expect(JSON.parse(showPassive(passive, "json", 0))).toMatchObject({
      role: "passive",
      active: "bank",
      splits: 3,
      tree: 0,
      nodes: [{ node: 1 }, { node: 4 }],
    });
  });

  test("no shape", () => expectError(() => showPassive(passive, "dot"), "USAGE", /does not know the shape/));
});

test("a job's folder stands for its share", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tandem-show-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  expect(await sharePathOf(folder)).toBe(join(folder, "share.json"));
  writeFileSync(join(folder, "share.json"), "");
  expect(await sharePathOf(join(folder, "share.json"))).toBe(join(folder, "share.json"));
  await expectError(
    () => sharePathOf(join(folder, "none")),
    "FILE_UNREADABLE",
    /none: there is no such file or folder$/,
  );
});
