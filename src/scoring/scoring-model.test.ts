import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { expectError } from "../../test/support/expect-error.ts";
import type { ErrorCode } from "../base/error.ts";
import type { ActiveModel } from "../protocol/active/role.ts";
import { bitmapFrom } from "../wire/bitmap.ts";
import { PassiveOutcomesSchema } from "../wire/generated/tandem/v1/scoring_pb.ts";
import { ScoringModel } from "./scoring-model.ts";
import { messageBytesMax, protocolVersion } from "../wire/version.ts";

const leaf = (weight: number) => ({ kind: "leaf", weight, cover: 1, count: 1 }) as const;
const split = (
  left: number,
  rule: { owner: number } | { owner: 0; feature: number; featureName: string; threshold: number; defaultLeft: boolean },
) => ({ kind: "split", left, right: left + 1, gain: 1, cover: 2, count: 2, rule }) as const;
const own = { owner: 0, feature: 7, featureName: "age", threshold: 30, defaultLeft: true } as const;
/** Shop 1 owns two splits, shop 2 one, shop 3 none. */
const model: ActiveModel = {
  objective: "reg:squarederror",
  baseMargin: 0.5,
  passiveNames: ["shop1", "shop2", "shop3"],
  trees: [
    [split(1, { owner: 1 }), split(3, own), split(5, { owner: 2 }), leaf(1), leaf(2), leaf(4), leaf(8)],
    [split(1, { owner: 1 }), leaf(16), leaf(32)],
  ],
};

const outcomes = (
  splitCount: number,
  idCount: number,
  goesLeft: (split: number, id: number) => boolean,
  changes: MessageInitShape<typeof PassiveOutcomesSchema> = {},
) =>
  create(PassiveOutcomesSchema, {
    protocolVersion,
    splitCount,
    known: bitmapFrom(idCount, () => true),
    left: bitmapFrom(splitCount * idCount, (p) => goesLeft(Math.floor(p / idCount), p % idCount)),
    idsMax: 10,
    ...changes,
  });

test("margins: each row's leaves, from own values and the other parties' bits", () => {
  const scoring = new ScoringModel(model);
  expect(scoring.features).toEqual(["age"]);
  expect([0, 1, 2].map((party) => scoring.splitCount(party))).toEqual([2, 1, 0]);
  // Rows 0 and 1 go left at shop 1's first split, 2 and 3 right; at its second split only 3 goes left; at shop 2's
  // only 2.
  const shop1 = outcomes(2, 4, (s, id) => (s === 0 ? id < 2 : id === 3));
  const shop2 = outcomes(1, 4, (_, id) => id === 2);
  const margins = scoring.margins(
    { idCount: 4, columns: [Float32Array.of(29, 30, 0, Number.NaN)], outcomes: [shop1, shop2, null] },
    { first: 0, end: 2 },
  );
  expect(Array.from(margins)).toEqual([0.5 + 1 + 32, 0.5 + 2 + 32, 0.5 + 4 + 32, 0.5 + 8 + 16]);
});

test("the base margin is another column of the active party, and margins start from it", async () => {
  const offset = { ...model, takesBaseMargin: true as const };
  await expectError(() => new ScoringModel(offset), "FILE_FORMAT", /does not name their column/);
  const scoring = new ScoringModel({ ...offset, baseMarginColumn: "log_exposure" });
  expect(scoring.features).toEqual(["age", "log_exposure"]);
  expect(scoring.categoryNames).toEqual([null, null]);
  expect(scoring.requiredColumn).toMatchObject({ place: 1, name: "log_exposure" });
  expect([-3, 0, NaN].map((value) => scoring.requiredColumn?.isUsable(value))).toEqual([true, true, false]);
  const columns = [Float32Array.of(29, 30), Float32Array.of(-3, 7)];
  const margins = scoring.margins(
    { idCount: 2, columns, outcomes: [outcomes(2, 2, () => true), outcomes(1, 2, () => true), null] },
    { first: 0, end: 2 },
  );
  expect([...margins]).toEqual([-3 + 1 + 16, 7 + 2 + 16]);
  expect(new ScoringModel(model).requiredColumn).toBeNull();
  expect(new ScoringModel(model).baseMargins(columns)).toBeUndefined();
});

test("margins of several outputs are side by side, with interleaved trees or leaves with a weight each", () => {
  const bits = outcomes(2, 2, (_s, id) => id === 0);
  const two = { idCount: 2, columns: [], outcomes: [bits, null, null] };
  const turns: ActiveModel = {
    ...model,
    outputCount: 2,
    trees: [
      [split(1, { owner: 1 }), leaf(1), leaf(2)],
      [split(1, { owner: 1 }), leaf(4), leaf(8)],
    ],
  };
  expect(Array.from(new ScoringModel(turns).margins(two, { first: 0, end: 2 }))).toEqual([1.5, 4.5, 2.5, 8.5]);
  const vector = (weights: number[]) => ({ ...leaf(weights[0]), weights });
  const both: ActiveModel = {
    ...model,
    outputCount: 2,
    trees: [[split(1, { owner: 1 }), vector([1, 2]), vector([4, 8])]],
  };
  expect(Array.from(new ScoringModel(both).margins(two, { first: 0, end: 1 }))).toEqual([1.5, 2.5, 4.5, 8.5]);
});

describe("batches", () => {
  const ids = Array.from({ length: 100 }, (_, i) => String(i));
  test("hold as many ids as the parties answer", () => {
    const scoring = new ScoringModel(model);
    expect(scoring.batchEnd(ids, 0, 30)).toBe(30);
    expect(scoring.batchEnd(ids, 90, 30)).toBe(100);
    expect(scoring.batchEnd(ids, 0, Number.POSITIVE_INFINITY)).toBe(100);
  });
  test("fit a message, whatever the ids' length; one id is always taken", () => {
    const long = ids.map((id) => id.repeat(200_000));
    const scoring = new ScoringModel(model);
    const end = scoring.batchEnd(long, 0, 1000);
    expect(end).toBeGreaterThan(1);
    expect(end).toBeLessThan(100);
    expect(long.slice(0, end).reduce((sum, id) => sum + id.length, 0)).toBeLessThanOrEqual(messageBytesMax);
    expect(scoring.batchEnd(["x".repeat(messageBytesMax)], 0, 1000)).toBe(1);
  });
  test("fit the outcomes of many splits", () => {
    const trees = Array.from({ length: 400_000 }, () => [split(1, { owner: 1 }), leaf(1), leaf(2)]);
    const scoring = new ScoringModel({ ...model, trees });
    const end = scoring.batchEnd(ids, 0, 1000);
    expect(end * trees.length).toBeLessThanOrEqual(messageBytesMax * 8);
    expect(end).toBeGreaterThan(10);
  });
});

describe("an answer is accepted only if", () => {
  const scoring = new ScoringModel(model);
  test("it is about the right splits and ids", () =>
    expect(
      scoring.checkOutcomes(
        0,
        outcomes(2, 5, () => true),
        5,
      ),
    ).toBeUndefined());
  test.each<[string, MessageInitShape<typeof PassiveOutcomesSchema>, ErrorCode, RegExp]>([
    [
      "another version",
      { protocolVersion: 99 },
      "HANDSHAKE_MISMATCH",
      /shop1 runs another release of Tandem .protocol version 99/,
    ],
    [
      "another number of splits",
      { splitCount: 3 },
      "PROTOCOL_STATE",
      /shop1 answers for 3 splits; our share of the model has 2/,
    ],
    ["too few outcomes", { left: new Uint8Array(1) }, "PROTOCOL_STATE", /1 bytes; 2 were expected/],
    ["too many known", { known: new Uint8Array(2) }, "PROTOCOL_STATE", /2 bytes; 1 were expected/],
    ["no ids at all", { idsMax: 0 }, "PROTOCOL_STATE", /shop1 allows no id/],
  ])("not with %s", async (_what, changes, code, says) => {
    await expectError(
      () =>
        scoring.checkOutcomes(
          0,
          outcomes(2, 5, () => true, changes),
          5,
        ),
      code,
      says,
    );
  });
});
