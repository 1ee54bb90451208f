import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TandemError } from "../../base/error.ts";
import { resolveParameters } from "../../base/parameters/parameters.ts";
import { trainingParameters } from "../parameters/training-parameters.ts";
import type { Objective } from "./objective.ts";
import { baseMarginFrom, predictionsFrom, objectiveFor, type ObjectiveName } from "./objectives.ts";

const logistic = objectiveFor("binary:logistic");
const squared = objectiveFor("reg:squarederror");
const defaults = resolveParameters(trainingParameters, {});

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof TandemError) return error.code;
    throw error;
  }
  return "none";
}

/** As before training. */
function check(objective: Objective, labels: Float64Array, parameters = defaults): void {
  objective.checkLabels(labels, parameters);
  objective.checkVariety?.(labels);
}

it("has an objective for every name in the parameter table", () => {
  for (const name of trainingParameters.objective.choices)
    expect(objectiveFor(name satisfies ObjectiveName).name).toBe(name);
});

describe("binary:logistic", () => {
  const loss = (margin: number, label: number): number => Math.log1p(Math.exp(margin)) - label * margin;

  it("differentiates the log loss", () => {
    fc.assert(
      fc.property(fc.double({ min: -8, max: 8, noNaN: true }), fc.constantFrom(0, 1), (margin, label) => {
        const [g, h] = logistic.gradients(Float64Array.of(margin), Float64Array.of(label), defaults);
        const step = 1e-4;
        const [below, at, above] = [margin - step, margin, margin + step].map((m) => loss(m, label));
        expect(g[0]).toBeCloseTo((above - below) / (2 * step), 6);
        expect(h[0]).toBeCloseTo((above - 2 * at + below) / step ** 2, 4);
      }),
    );
  });

  it("keeps g and h within the bounds that it states, at any margin", () => {
    fc.assert(
      fc.property(fc.double({ min: -1e4, max: 1e4, noNaN: true }), fc.constantFrom(0, 1), (margin, label) => {
        const [g, h] = logistic.gradients(Float64Array.of(margin), Float64Array.of(label), defaults);
        expect(Math.abs(g[0])).toBeLessThanOrEqual(1);
        expect(h[0]).toBeGreaterThanOrEqual(1e-16);
        expect(h[0]).toBeLessThanOrEqual(0.25);
      }),
    );
    expect(logistic.bounds(defaults)).toEqual({ g: { min: -1, max: 1 }, h: { min: 0, max: 0.25 } });
  });

  it("starts from a probability", () => {
    expect(Object.is(baseMarginFrom(logistic, 0.5), 0)).toBe(true);
    expect(predictionsFrom("binary:logistic", Float64Array.of(baseMarginFrom(logistic, 0.2)))[0]).toBeCloseTo(0.2, 14);
    for (const bad of [0, 1, -0.1, 2, NaN]) expect(codeOf(() => baseMarginFrom(logistic, bad))).toBe("USAGE");
  });

  it("needs both classes and nothing else, and does not print the value", () => {
    expect(codeOf(() => check(logistic, Float64Array.of(0, 1), defaults))).toBe("none");
    for (const bad of [[0, 0], [1, 1], [0, 1, 0.5], [0, 1, NaN], [0, 1, 2], []]) {
      expect(codeOf(() => check(logistic, Float64Array.from(bad), defaults))).toBe("LABEL_INVALID");
    }
    expect(() => check(logistic, Float64Array.of(0, 1, 123), defaults)).toThrow(/^(?!.*123).*instance 2/);
  });
});

describe("reg:squarederror", () => {
  it("has g = margin - label and h = 1", () => {
    const [g, h] = squared.gradients(Float64Array.of(2, -1), Float64Array.of(5, -1), defaults);
    expect([...g, ...h]).toEqual([-3, 0, 1, 1]);
    expect(squared.bounds(defaults)).toEqual({ g: null, h: { min: 1, max: 1 } });
    expect(predictionsFrom("reg:squarederror", Float64Array.of(baseMarginFrom(squared, -1.5)))[0]).toBe(-1.5);
    expect(codeOf(() => baseMarginFrom(squared, Infinity))).toBe("USAGE");
  });

  it("needs finite labels", () => {
    expect(codeOf(() => check(squared, Float64Array.of(3, 3), defaults))).toBe("none");
    for (const bad of [[NaN], [Infinity], []]) {
      expect(codeOf(() => check(squared, Float64Array.from(bad), defaults))).toBe("LABEL_INVALID");
    }
  });
});

describe.each(["reg:pseudohubererror", "count:poisson"] as const)("%s", (name) => {
  const objective = objectiveFor(name);
  const losses = {
    "reg:pseudohubererror": (margin: number, label: number, slope: number) =>
      slope ** 2 * (Math.sqrt(1 + ((margin - label) / slope) ** 2) - 1),
    "count:poisson": (margin: number, label: number) => Math.exp(margin) - label * margin,
  };

  it("differentiates its loss, and stays within the bounds that it states", () => {
    const slope = fc.constantFrom(0.3, 1, 5);
    fc.assert(
      fc.property(
        fc.double({ min: -4, max: 4, noNaN: true }),
        fc.integer({ min: 0, max: 9 }),
        slope,
        (margin, label, huber_slope) => {
          const parameters = { ...defaults, huber_slope, max_delta_step: 0.7 };
          const [g, h] = objective.gradients(Float64Array.of(margin), Float64Array.of(label), parameters);
          const step = 1e-4;
          const [below, at, above] = [margin - step, margin, margin + step].map((m) =>
            losses[name](m, label, huber_slope),
          );
          expect(g[0]).toBeCloseTo((above - below) / (2 * step), 5);
          const enlarged = name === "count:poisson" ? Math.exp(0.7) : 1; // max_delta_step
          expect(h[0] / enlarged).toBeCloseTo((above - 2 * at + below) / step ** 2, 3);
          const bounds = objective.bounds(parameters);
          if (bounds.g !== null) expect(Math.abs(g[0])).toBeLessThanOrEqual(bounds.g.max);
          if (bounds.h !== null) expect(h[0]).toBeLessThanOrEqual(bounds.h.max);
        },
      ),
    );
  });

  it("starts from a prediction and returns to it", () => {
    expect(predictionsFrom(name, Float64Array.of(baseMarginFrom(objective, 0.4)))[0]).toBeCloseTo(0.4, 14);
  });

  it("refuses labels that it cannot use", () => {
    for (const bad of [
      [NaN],
      [Infinity, 1],
      [],
      ...(name === "count:poisson"
        ? [
            [1, -1],
            [0, 0],
          ]
        : []),
    ]) {
      expect(codeOf(() => check(objective, Float64Array.from(bad), defaults))).toBe("LABEL_INVALID");
    }
  });
});

it("pseudo-Huber gradients never leave their bounds, however far off", () => {
  const huber = objectiveFor("reg:pseudohubererror");
  for (const far of [1e10, -1e10, 1e200, -1e200, 1e308]) {
    const [g, h] = huber.gradients(Float64Array.of(far), Float64Array.of(0), { ...defaults, huber_slope: 0.3 });
    expect(Math.abs(g[0])).toBeLessThanOrEqual(0.3);
    expect(h[0]).toBeGreaterThanOrEqual(0);
  }
});

describe("multi:softprob", () => {
  const softprob = objectiveFor("multi:softprob");
  const three = { ...defaults, num_class: 3 };

  it("differentiates the log loss of the right class, with twice the hessian as XGBoost does", () => {
    const margin = fc.double({ min: -5, max: 5, noNaN: true });
    fc.assert(
      fc.property(
        fc.tuple(margin, margin, margin),
        fc.integer({ min: 0, max: 2 }),
        fc.integer({ min: 0, max: 2 }),
        (margins, label, k) => {
          const loss = (shift: number): number => {
            const moved = margins.map((m, i) => (i === k ? m + shift : m));
            return Math.log(moved.reduce((sum, m) => sum + Math.exp(m), 0)) - moved[label];
          };
          const slots = softprob.gradients(Float64Array.of(...margins), Float64Array.of(label), three);
          const step = 1e-4;
          expect(slots).toHaveLength(6);
          expect(slots[2 * k][0]).toBeCloseTo((loss(step) - loss(-step)) / (2 * step), 6);
          expect(slots[2 * k + 1][0]).toBeCloseTo((2 * (loss(step) - 2 * loss(0) + loss(-step))) / step ** 2, 4);
        },
      ),
    );
  });

  it("predicts probabilities that sum to one, at any margin, and stays within its bounds", () => {
    const far = [1e4, -1e4, 0];
    expect([...predictionsFrom("multi:softprob", Float64Array.of(...far, 0, 0, 0), 3)]).toEqual([
      1,
      0,
      0,
      1 / 3,
      1 / 3,
      1 / 3,
    ]);
    const slots = softprob.gradients(Float64Array.of(...far), Float64Array.of(1), three).map(([value]) => value);
    expect(slots.filter((_, slot) => slot % 2 === 0)).toEqual([1, -1, 0]);
    for (const h of slots.filter((_, slot) => slot % 2 === 1)) expect(h).toBe(1e-16);
  });

  it("needs a number of classes, labels among them, and more than one of them", () => {
    expect(codeOf(() => softprob.checkParameters?.(defaults))).toBe("USAGE");
    expect(softprob.outputCount?.(three)).toBe(3);
    for (const bad of [
      [0, 1, 3],
      [0, 1.5],
      [-1, 0],
      [2, 2],
    ])
      expect(codeOf(() => check(softprob, Float64Array.from(bad), three))).toBe("LABEL_INVALID");
    expect(codeOf(() => check(softprob, Float64Array.of(0, 2), three))).toBe("none");
  });
});
