/** Every figure against scikit-learn, scipy or lifelines: test/fixtures/evaluation/make.py names the versions. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../base/random.ts";
import { packagePath } from "../../base/package-root.ts";
import { binCounts, quantileBounds, stabilityIndex } from "../../base/statistics/stability-index.ts";
import { bootstrapped, differenceOf, estimates, usualBootstrap } from "./bootstrap.ts";
import { classFigures } from "./class-figures.ts";
import { atRate, atThreshold, cheapest, confusionAt, costOf, cutOffsOf, furthestApart, ratesOf } from "./cut-offs.ts";
import { bySize, rankedGroups } from "./ranking-figures.ts";
import { calibrationError, calibrationErrorByChance, gainTable, wilsonInterval } from "./rates.ts";
import { resampledBinary, resampledErrors } from "./resampled-rows.ts";
import { quantileFigures, residualQuantiles } from "./residuals.ts";
import { scoreCounts, scoreTenths } from "./score-tenths.ts";
import { averagePrecision, classTotals, scoreSteps } from "./score-steps.ts";
import { factorAndOffset, pointsOf, usualScale } from "./scorecard.ts";
import { baselineHazard, horizonGroups, horizonsOf, resampledConcordance, survivingParts } from "./survival-figures.ts";

const golden: Golden = JSON.parse(readFileSync(packagePath("test", "fixtures", "evaluation", "golden.json"), "utf8"));
const array = (values: readonly number[]): Float64Array => Float64Array.from(values);

interface Golden {
  readonly binary: {
    readonly scores: number[];
    readonly other: number[];
    readonly labels: number[];
    readonly weights: number[];
    readonly reference: number[];
    readonly precisionRecall: [number[], number[], number[]];
    readonly bins: { rows: number; positives: number; predicted: number; observed: number; wilson: [number, number] }[];
    readonly confusion: Record<"at" | "tp" | "fp" | "fn" | "tn" | "precision" | "recall" | "f1" | "accuracy", number>;
    readonly cheapest: { at: number; cost: number };
    readonly intervals: Record<"auc" | "brier" | "average_precision" | "difference", [number, number]>;
  } & Record<
    "auc" | "weightedAuc" | "averagePrecision" | "weightedAveragePrecision" | "ks" | "brier" | "weightedBrier" | "ece",
    number
  >;
  readonly classes: {
    readonly probabilities: number[];
    readonly labels: number[];
    readonly confusion: number[][];
    readonly classes: Record<"rows" | "precision" | "recall" | "auc" | "brier", number>[];
  };
  readonly numbers: Record<"rmse" | "mae" | "r2", number> & {
    readonly predictions: number[];
    readonly labels: number[];
    readonly residuals: [number, number][];
    readonly quantiles: Record<"levels" | "predictions" | "below" | "pinball", number[]>;
  };
  readonly survival: {
    readonly times: number[];
    readonly events: number[];
    readonly margins: number[];
    readonly concordance: number;
    readonly baseline: [number, number][];
    readonly survival: [number, number][];
  };
  readonly ranking: Record<"groups" | "labels" | "scores" | "ndcg", number[]>;
}

describe("two classes", () => {
  const { binary } = golden;
  const [scores, labels, weights] = [binary.scores, binary.labels, binary.weights].map(array);
  const rows = { scores, probabilities: scores, labels, weights: null };
  const steps = scoreSteps(scores, labels);
  const totals = classTotals(steps);
  const cutOffs = cutOffsOf(steps);

  test("AUC, KS, average precision and Brier score, with weights too", () => {
    const values = resampledBinary(rows).of(null);
    for (const [i, expected] of [binary.auc, binary.ks, binary.averagePrecision, binary.brier].entries())
      expect(values[i]).toBeCloseTo(expected, 12);
    const weighted = resampledBinary({ ...rows, weights }).of(null);
    for (const [i, expected] of [binary.weightedAuc, binary.weightedAveragePrecision, binary.weightedBrier].entries())
      expect(weighted[[0, 2, 3][i]]).toBeCloseTo(expected, 12);
    expect(averagePrecision(steps)).toBeCloseTo(binary.averagePrecision, 12);
  });

  test("a copy of a row is a row more", () => {
    const copies = new Float64Array(scores.length).fill(1);
    copies[3] = 3;
    copies[5] = 0;
    const kept = [...scores.keys()].flatMap((row) => new Array<number>(copies[row]).fill(row));
    const pick = (of: Float64Array): Float64Array => Float64Array.from(kept, (row) => of[row]);
    const again = { scores: pick(scores), probabilities: pick(scores), labels: pick(labels), weights: null };
    resampledBinary(rows)
      .of(copies)
      .forEach((value, i) => expect(value).toBeCloseTo(resampledBinary(again).of(null)[i], 12));
  });

  test("precision and recall at every cut-off", () => {
    const [thresholds, precision, recall] = binary.precisionRecall;
    expect(cutOffs).toHaveLength(thresholds.length);
    cutOffs.toReversed().forEach((cut, i) => {
      const rates = ratesOf(confusionAt(cut, totals));
      expect([cut[0], rates.precision, rates.recall]).toEqual([
        thresholds[i],
        expect.closeTo(precision[i], 11),
        expect.closeTo(recall[i], 11),
      ]);
    });
  });

  test("decisions at a threshold, at a rate and at the least cost", () => {
    const { at, tp, fp, fn, tn, ...rates } = binary.confusion;
    const confusion = confusionAt(atThreshold(cutOffs, at), totals);
    expect(confusion).toMatchObject({ tp, fp, fn, tn });
    for (const [name, value] of Object.entries(rates)) expect(ratesOf(confusion)).toHaveProperty(name, value);
    const costs = { miss: 5, falseAlarm: 1 };
    const cheap = cheapest(cutOffs, totals, costs);
    expect(costOf(confusionAt(cheap, totals), costs)).toBe(binary.cheapest.cost);
    expect(cheap[0]).toBe(binary.cheapest.at);
    const tenth = confusionAt(atRate(cutOffs, totals, 0.1), totals);
    expect(tenth.tp + tenth.fp).toBeLessThanOrEqual(40);
    const next = cutOffs[cutOffs.findIndex(([score]) => score === tenth.score) + 1];
    expect(next[1] + next[2]).toBeGreaterThan(40);
    const [, found, alarms] = furthestApart(cutOffs, totals);
    expect(found / totals.positives - alarms / totals.negatives).toBeCloseTo(binary.ks, 12);
    expect(confusionAt(atThreshold(cutOffs, 2), totals)).toMatchObject({ tp: 0, fp: 0 });
    // Where a false alarm costs more than it can bring, nothing is flagged.
    expect(cheapest(cutOffs, totals, { miss: 0, falseAlarm: 1 })).toEqual([Infinity, 0, 0]);
  });

  test("of many scores a bounded number of cut-offs is kept, the first and the last among them", () => {
    const random = new SeededRandom("cut-offs");
    const many = Float64Array.from({ length: 5000 }, () => random.uniform());
    const all = scoreSteps(
      many,
      many.map((score) => Number(score > 0.7)),
    );
    const kept = cutOffsOf(all, 50);
    expect(kept.length).toBeLessThanOrEqual(50);
    expect(kept.length).toBeGreaterThan(45);
    expect(kept[0][0]).toBe(all.scores[0]);
    expect(kept.at(-1)?.[0]).toBe(all.scores.at(-1));
    for (const [i, cut] of kept.slice(1).entries()) expect(cut[1] + cut[2] - kept[i][1] - kept[i][2]).toBeLessThan(120);
  });

  test("where the classes are furthest apart is kept of however many scores", () => {
    const random = new SeededRandom("furthest apart");
    const many = Float64Array.from({ length: 3000 }, () => random.uniform());
    const all = scoreSteps(
      many,
      many.map((score) => Number(random.uniform() < score)),
    );
    const every = cutOffsOf(all, Infinity);
    const last = every[every.length - 1];
    const totals = { positives: last[1], negatives: last[2] };
    for (const most of [5, 20, 200])
      expect(furthestApart(cutOffsOf(all, most), totals)).toEqual(furthestApart(every, totals));
  });

  test("tenths: rows, mean score, observed rate with its interval; calibration error; gain and lift", () => {
    const tenths = scoreTenths(scores, labels);
    expect(tenths).toHaveLength(binary.bins.length);
    tenths.forEach(({ rows: count, predicted, observed, from, to }, i) => {
      const bin = binary.bins[i];
      expect(count).toBe(bin.rows);
      expect(predicted).toBeCloseTo(bin.predicted, 12);
      expect(observed).toBeCloseTo(bin.observed, 12);
      expect(from).toBeLessThanOrEqual(to);
      const { low, high } = wilsonInterval(observed, count);
      expect(low).toBeCloseTo(bin.wilson[0], 12);
      expect(high).toBeCloseTo(bin.wilson[1], 12);
    });
    expect(calibrationError(tenths)).toBeCloseTo(binary.ece, 12);
    const gains = gainTable(tenths);
    expect(gains.at(-1)).toMatchObject({ depth: 1, gain: 1, negativesFound: 1, cumulativeLift: 1, ks: 0 });
    const best = binary.bins.at(-1);
    const positives = labels.reduce((sum, label) => sum + label, 0);
    expect(gains[0].gain).toBeCloseTo((best?.positives ?? 0) / positives, 12);
    expect(gains[0].lift).toBeCloseTo((best?.observed ?? 0) / (positives / labels.length), 12);
    const doubled = scoreTenths(scores, labels, new Float64Array(labels.length).fill(2));
    expect(doubled.map(({ weight, observed }) => [weight / 2, observed])).toEqual(
      tenths.map(({ weight, observed }) => [weight, observed]),
    );
  });

  test("the calibration error by chance is that of labels drawn from the predicted probabilities", () => {
    const tenths = scoreTenths(scores, labels);
    const random = new SeededRandom("calibrated");
    const draws = 1000;
    const drawn = Array.from({ length: draws }, () =>
      calibrationError(
        tenths.map((tenth) => {
          const events = Array.from({ length: tenth.rows }, () => Number(random.uniform() < tenth.predicted));
          return { ...tenth, observed: events.reduce((sum, event) => sum + event, 0) / tenth.rows };
        }),
      ),
    );
    const mean = drawn.reduce((sum, error) => sum + error, 0) / draws;
    expect(calibrationErrorByChance(tenths) / mean).toBeGreaterThan(0.97);
    expect(calibrationErrorByChance(tenths) / mean).toBeLessThan(1.03);
  });

  test("stability of scores counts rows in the tenths of the reference", () => {
    const reference = array(binary.reference);
    const bounds = quantileBounds(reference);
    const counts = scoreCounts(bounds, [reference, scores]);
    expect(counts[1]).toEqual([...binCounts(scores, bounds)].slice(0, -1));
    expect(stabilityIndex(counts[0], counts[0])).toBe(0);
    expect(stabilityIndex(counts[0], counts[1])).toBeGreaterThan(0);
  });

  test("bootstrap intervals agree with 4000 stratified resamples of numpy", async () => {
    const found = await bootstrapped(resampledBinary(rows));
    for (const name of ["auc", "brier", "average_precision"] as const) {
      const { low, high } = found.find((one) => one.name === name) ?? { low: null, high: null };
      const [from, to] = binary.intervals[name];
      // The ends of 500 resamples vary by about a tenth of the width.
      expect(Math.abs((low ?? 9) - from)).toBeLessThan((to - from) * 0.12);
      expect(Math.abs((high ?? 9) - to)).toBeLessThan((to - from) * 0.12);
    }
    expect(await bootstrapped(resampledBinary(rows))).toEqual(found);
    const other = resampledBinary({ ...rows, scores: array(binary.other) });
    const [{ low, high }] = await bootstrapped(differenceOf(resampledBinary(rows), other, 1));
    const [from, to] = binary.intervals.difference;
    expect(Math.abs((low ?? 9) - from)).toBeLessThan((to - from) * 0.12);
    expect(Math.abs((high ?? 9) - to)).toBeLessThan((to - from) * 0.12);
  });

  test("an interval from a part of the rows is about as wide as from all of them", async () => {
    const [all] = await bootstrapped(resampledBinary(rows));
    const [part] = await bootstrapped(resampledBinary(rows), { ...usualBootstrap, unitsMax: 200 });
    const width = ({ low, high }: typeof all): number => (high ?? 0) - (low ?? 0);
    expect(part.value).toBe(all.value);
    expect(width(part) / width(all)).toBeGreaterThan(0.75);
    expect(width(part) / width(all)).toBeLessThan(1.33);
  });

  test("of few rows, and of one class, there is no interval", async () => {
    const few = resampledBinary({
      ...rows,
      scores: scores.slice(0, 9),
      probabilities: null,
      labels: labels.slice(0, 9),
    });
    for (const { value, low, high } of await bootstrapped(few)) {
      expect(value).not.toBeNull();
      expect([low, high]).toEqual([null, null]);
    }
    const one = { ...rows, labels: new Float64Array(labels.length) };
    expect((await bootstrapped(resampledBinary(one)))[0]).toEqual({ name: "auc", value: null, low: null, high: null });
  });
});

test("points of a scorecard: the base is at its odds, and that many points double them", () => {
  const { basePoints, baseOdds, pointsToDouble } = usualScale;
  expect(pointsOf(1 / (1 + baseOdds), usualScale)).toBeCloseTo(basePoints, 10);
  expect(pointsOf(1 / (1 + 2 * baseOdds), usualScale)).toBeCloseTo(basePoints + pointsToDouble, 10);
  expect(pointsOf(1 / (1 + baseOdds / 4), usualScale)).toBeCloseTo(basePoints - 2 * pointsToDouble, 10);
  // The textbook's: 20 points, 600 at 50 to 1 (Siddiqi 2006): factor 28.8539, offset 487.123.
  const { factor, offset } = factorAndOffset(usualScale);
  expect([factor.toFixed(4), offset.toFixed(3)]).toEqual(["28.8539", "487.123"]);
});

test("several classes, each against the rest", () => {
  const { probabilities, labels, confusion, classes } = golden.classes;
  const found = classFigures(array(probabilities), array(labels), null);
  expect(found.confusion).toEqual(confusion);
  found.classes.forEach((figures, k) => {
    for (const name of ["rows", "auc", "precision", "recall", "brier"] as const)
      expect(figures[name]).toBeCloseTo(classes[k][name], 12);
  });
  const absent = classFigures(array([1, 0, 1, 0]), array([0, 0]), null);
  expect(absent.classes[1]).toMatchObject({ rows: 0, auc: null, precision: null, recall: null });
});

test("numbers: errors, explained variance, quantiles of residuals and of labels", () => {
  const { predictions, labels, residuals, quantiles, ...errors } = golden.numbers;
  for (const { name, value } of estimates(resampledErrors(array(predictions), array(labels), null)))
    expect(value).toBeCloseTo(errors[name as keyof typeof errors], 10);
  residualQuantiles(array(predictions), array(labels)).forEach(([level, value], i) => {
    expect(level).toBe(residuals[i][0]);
    expect(value).toBeCloseTo(residuals[i][1], 10);
  });
  const found = quantileFigures(array(quantiles.predictions), array(labels), null, quantiles.levels);
  found.forEach(({ below, pinball }, k) => {
    expect(below).toBeCloseTo(quantiles.below[k], 10);
    expect(pinball).toBeCloseTo(quantiles.pinball[k], 10);
  });
});

describe("survival", () => {
  const { survival } = golden;
  const seen = { times: array(survival.times), events: Uint8Array.from(survival.events) };
  const risks = array(survival.margins);

  test("Harrell's concordance, with equal times and equal risks", () => {
    expect(resampledConcordance(seen, risks, null).of(null)[0]).toBeCloseTo(survival.concordance, 12);
    const copies = new Float64Array(risks.length).fill(2);
    expect(resampledConcordance(seen, risks, null).of(copies)[0]).toBeCloseTo(survival.concordance, 12);
  });

  test("Kaplan and Meier's curve, and Breslow's baseline", () => {
    const at = survival.survival.map(([time]) => time);
    survivingParts(seen, null, at).forEach((part, i) => expect(part).toBeCloseTo(survival.survival[i][1], 10));
    baselineHazard(seen, risks.map(Math.exp), null, at).forEach((hazard, i) =>
      expect(hazard).toBeCloseTo(survival.baseline[i][1], 6),
    );
    const twice = new Float64Array(risks.length).fill(2);
    survivingParts(seen, twice, at).forEach((part, i) => expect(part).toBeCloseTo(survival.survival[i][1], 10));
  });

  test("groups by predicted risk cover all rows, and a perfect baseline is calibrated on the whole", () => {
    const horizons = horizonsOf(seen);
    expect(horizons).toHaveLength(3);
    const hazards = risks.map(Math.exp);
    for (const [i, hazard] of baselineHazard(seen, hazards, null, horizons).entries()) {
      const surviving = hazards.map((relative) => Math.exp(-hazard * relative));
      const groups = horizonGroups(seen, surviving, null, horizons[i]);
      expect(groups.reduce((sum, { rows }) => sum + rows, 0)).toBe(risks.length);
      const mean = (of: "predicted" | "observed"): number =>
        groups.reduce((sum, group) => sum + group.rows * group[of], 0) / risks.length;
      expect(Math.abs(mean("predicted") - mean("observed"))).toBeLessThan(0.05);
      expect(groups.at(-1)?.observed).toBeGreaterThan(groups[0].observed);
    }
  });
});

test("rankings: NDCG per group, and by the size of groups", () => {
  const { groups, labels, scores, ndcg } = golden.ranking;
  const ranked = rankedGroups(array(scores), array(labels), array(groups), null);
  ranked.ndcg.forEach((value, group) => expect(value).toBeCloseTo(ndcg[group], 12));
  const sized = bySize(ranked);
  expect(sized.map(({ from, to, groups: count }) => [from, to, count])).toEqual([
    [2, 5, 2],
    [6, 10, 1],
    [11, 20, 1],
    [21, 50, 1],
  ]);
  expect(sized[0].ndcg).toBeCloseTo((ndcg[0] + ndcg[1]) / 2, 12);
});
