import { expect, test } from "vitest";
import { binFeature } from "../gbdt/split/binning.ts";
import { binCategories } from "../gbdt/split/category-binning.ts";
import { featuresDigest } from "../protocol/chain/commitment.ts";
import { featureFrom, storedFeature } from "./opening.ts";

const values = Float32Array.of(3, NaN, 2, 1);

test("features are opened as they were committed to, with the order of their candidates", () => {
  const exact = binFeature("x", values, 8);
  const sketched = binFeature("x", values, 8, null, true);
  const features = [exact, sketched, binCategories("y", Float32Array.of(0, 1, 1, NaN), ["a", "b"], 4)];
  const opened = features.map((feature) => featureFrom(JSON.parse(JSON.stringify(storedFeature(feature)))));
  expect(opened).toEqual(features.map((feature) => ({ ...feature, monotone: 0 })));
  expect(opened.map((feature) => featuresDigest([feature]))).toEqual(
    features.map((feature) => featuresDigest([feature])),
  );
  expect(featuresDigest([exact])).not.toBe(featuresDigest([sketched]));
});
