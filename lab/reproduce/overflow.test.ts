import { describe, expect, it } from "vitest";
import { overflowOutcome, overflowWords } from "./overflow.ts";
import { encodings, overflowRows } from "./overflow-sums.ts";
import { paperDatasets } from "../trials/paper-datasets.ts";

const { default: credit } = paperDatasets;

function gradientsOf(g: readonly number[]) {
  return {
    snapshots: [{ tree: 0, g: Float64Array.from(g), h: Float64Array.from(g, () => 0.25) }],
    instanceCount: g.length,
    features: [],
  };
}

describe("sums of gradients", () => {
  it("of negative numbers only: BatchCrypt raises at four, and after that the neighbour above is wrong", () => {
    const rows = overflowRows(gradientsOf(Array.from({ length: 9 }, () => -0.5)), credit, 3, 7);
    const at = (count: number) => rows.find((row) => row.count === count)?.failures;
    expect(at(3)?.["BatchCrypt, h above g"]).toEqual({ raised: 0, wrong: 0 });
    expect(at(4)?.["BatchCrypt, h above g"].raised).toBeCloseTo(1);
    expect(at(4)?.["BatchCrypt, g above h"].raised).toBeCloseTo(1);
    expect(at(5)?.["BatchCrypt, h above g"].wrong).toBeCloseTo(1);
    expect(at(5)?.["BatchCrypt, g above h"]).toEqual({ raised: 0, wrong: 0 });
    for (const { failures } of rows) expect(failures.Proposed).toEqual({ raised: 0, wrong: 0 });
  });

  it("of positive numbers only: no encoding fails", () => {
    for (const { failures } of overflowRows(gradientsOf(Array.from({ length: 40 }, () => 0.5)), credit, 2, 7)) {
      for (const name of encodings) expect(failures[name]).toEqual({ raised: 0, wrong: 0 });
    }
  });
});

describe("what is said about it", () => {
  const gradients = gradientsOf(Array.from({ length: 64 }, (_, i) => (i % 2 === 0 ? -0.4 : 0.4)));

  it("the paper's example comes out as it is printed", () => {
    const { tables } = overflowOutcome(gradients, credit, 4, 7);
    expect(tables[1].rows).toEqual([
      ["BatchCrypt", "00 11111111", "00 11111010", "01 11111001", "01", "-7"],
      ["Proposed", "00 0000101", "00 0000000", "00 0000101", "00", "-7.04"],
    ]);
  });

  it("fits either outcome", () => {
    const rows = overflowRows(gradients, credit, 4, 7);
    expect(overflowWords(rows)).toContain("got every sum right, up to 32 values, as the paper states");
    const broken = rows.map((row) => ({
      ...row,
      failures: { ...row.failures, Proposed: { raised: row.count > 10 ? 0.5 : 0, wrong: 0 } },
    }));
    expect(overflowWords(broken)).toContain("The paper's slots failed too, first at 12 values");
    const sound = rows.map((row) => ({
      ...row,
      failures: Object.fromEntries(encodings.map((name) => [name, { raised: 0, wrong: 0 }])) as typeof row.failures,
    }));
    expect(overflowWords(sound)).toContain("BatchCrypt's slots never failed. The paper says that they would.");
  });
});
