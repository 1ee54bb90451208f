/** A custom objective: log(cosh(margin - label)), squared near zero and absolute far out. */
import type { CustomObjective } from "../../src/gbdt/objective/custom-objective.ts";

export const logCosh: CustomObjective = {
  name: "log-cosh",
  bounds: { g: { min: -2, max: 2 }, h: { min: 0, max: 2 } }, // weights up to 2
  gradients(margins, labels, weights) {
    const side = margins.map((margin, i) => Math.tanh(margin - labels[i]));
    const weight = (i: number): number => weights?.[i] ?? 1;
    return { g: side.map((t, i) => weight(i) * t), h: side.map((t, i) => weight(i) * (1 - t * t)) };
  },
};
