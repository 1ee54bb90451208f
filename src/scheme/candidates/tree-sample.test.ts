import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { binFeature } from "../../gbdt/split/binning.ts";
import { bitmapFrom } from "../../wire/bitmap.ts";
import { TreeSample } from "./tree-sample.ts";

const features = [binFeature("x", Float32Array.of(1, 2, 3, NaN, 5), 8)];

test("an empty bitmap means all instances: positions are instances", () => {
  const sample = new TreeSample(features, 5, new Uint8Array(0));
  expect(sample.count).toBe(5);
  expect(sample.bins[0]).toBe(features[0].bins);
  expect([...sample.positions(Uint32Array.of(0, 3))]).toEqual([0, 3]);
});

test("sampled instances get consecutive positions", () => {
  const sample = new TreeSample(
    features,
    5,
    bitmapFrom(5, (i) => i === 1 || i >= 3),
  );
  expect(sample.count).toBe(3);
  expect([...sample.bins[0]]).toEqual([1, 3, 4].map((i) => features[0].bins[i]));
  expect([...sample.positions(Uint32Array.of(0, 1, 2, 4))]).toEqual([0, 2]);
});

test("an empty sample and a bitmap of a wrong length are rejected", async () => {
  await expectError(() => new TreeSample(features, 5, new Uint8Array(1)), "PROTOCOL_STATE", /no instances/);
  await expectError(() => new TreeSample(features, 5, new Uint8Array(2).fill(1)), "PROTOCOL_STATE", /bitmap/);
});
