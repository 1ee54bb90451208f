import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TandemError } from "../base/error.ts";
import { DistinctIds, type IdOptions, type Normalisation, normalisationNames, normaliseId } from "./normalise.ts";

function refusal(raw: readonly string[], options: IdOptions): TandemError {
  try {
    DistinctIds.from(raw, options);
  } catch (error) {
    if (error instanceof TandemError) return error;
  }
  throw new Error("not refused");
}

describe("normaliseId", () => {
  test.each<[string, Normalisation[], string]>([
    ["  A b\t", [], "A b"],
    ["\u00a0Ab\u3000", [], "Ab"],
    ["MÜLLER İ", ["lowercase"], "müller i\u0307"],
    ["\uff11\uff12\uff21", ["nfkc"], "12A"],
    ["e\u0301", ["nfkc"], "\u00e9"],
    ["\ufb01x", ["nfkc"], "fix"],
    ["+49 (30) 123-456", ["digits"], "4930123456"],
    ["\uff11\uff12", ["digits"], ""],
    ["\uff11\uff12", ["digits", "nfkc"], "12"],
    ["007", ["strip-leading-zeros"], "7"],
    ["000", ["strip-leading-zeros"], "0"],
    ["0", ["strip-leading-zeros"], "0"],
    ["100", ["strip-leading-zeros"], "100"],
    ["A-007", ["strip-leading-zeros"], "A-007"],
    ["A-007", ["strip-leading-zeros", "digits"], "7"],
    ["A-007", [], "A-007"],
  ])("%j with %j is %j", (text, names, expected) => {
    expect(normaliseId(text, names)).toBe(expected);
  });

  test("again changes nothing, and the order of the names does not matter", () => {
    const names = fc.shuffledSubarray([...normalisationNames]);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), names, (text, chosen) => {
        const once = normaliseId(text, chosen);
        expect(normaliseId(once, chosen)).toBe(once);
        expect(normaliseId(text, chosen.toReversed())).toBe(once);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("DistinctIds", () => {
  test("keeps rows and records the normalisations in order of application", () => {
    const { ids, rows, normalisations } = DistinctIds.from([" b", "A ", "c"], {
      normalise: ["lowercase", "nfkc", "lowercase"],
    });
    expect([...ids]).toEqual(["b", "a", "c"]);
    expect([...rows]).toEqual([0, 1, 2]);
    expect(normalisations).toEqual(["nfkc", "lowercase"]);
  });

  test("refuses duplicates with their lines, never the id", () => {
    const error = refusal(["secret-1", "x", "y", " SECRET-1", "x "], {
      normalise: ["lowercase"],
      source: "people.csv",
      lineOf: (row) => 10 * row + 2,
    });
    expect(error.code).toBe("ID_DUPLICATE");
    expect(error.message).toContain(
      "people.csv: lines 2 and 32, 12 and 42 have the same id after normalisation (lowercase)",
    );
    expect(error.message.toLowerCase()).not.toContain("secret-1");
    expect(() => DistinctIds.from(["secret-1", " SECRET-1"])).not.toThrow();
  });

  test("lists ten pairs of lines and counts the rest", () => {
    const error = refusal(
      Array.from({ length: 26 }, (_, i) => String(Math.floor(i / 2))),
      {},
    );
    expect(error.message).toContain("lines 1 and 2, 3 and 4,");
    expect(error.message).toContain("19 and 20, and 3 more have the same id;");
  });

  test("keeps the first or the last of equal ids where asked to", () => {
    const raw = ["a", "b", "a ", "c", "b", "a"];
    const kept = (duplicates: "first" | "last"): [string, number][] => {
      const { ids, rows } = DistinctIds.from(raw, { duplicates });
      return [...ids].map((id, i): [string, number] => [id, rows[i]]).toSorted(([a], [b]) => (a < b ? -1 : 1));
    };
    expect(kept("first")).toEqual([
      ["a", 0],
      ["b", 1],
      ["c", 3],
    ]);
    expect(kept("last")).toEqual([
      ["a", 5],
      ["b", 4],
      ["c", 3],
    ]);
  });

  test("refuses empty ids and half surrogates with the line", () => {
    expect(refusal(["a", "  "], { source: "f" }).message).toBe("f, line 2: the id is empty");
    expect(refusal(["+-"], { source: "f", normalise: ["digits"] }).message).toBe(
      "f, line 1: the id is empty after normalisation",
    );
    expect(refusal(["🙂", "\ud83d"], { source: "f" })).toMatchObject({
      code: "FILE_FORMAT",
      message: "f, line 2: the id is not Unicode text",
    });
  });
});
