/** Varying numbers of trees: the paper's sec. IV-D, Table IV and Fig. 7. */
import type { MeasuredTrials } from "../trials/measured-trials.ts";
import type { ExperimentOutcome } from "./outcome.ts";
import type { Scale } from "./scale.ts";
import { pairOf, type Sweep } from "./sweep.ts";
import { sweepOutcome } from "./sweep-outcome.ts";

export function roundsSweep(scale: Scale): Sweep {
  return {
    name: "rounds",
    axis: "trees",
    variety: "numbers of trees",
    tableReference: "Table IV",
    figureReference: "Fig. 7",
    dataset: "default",
    points: scale.rounds.map((point) => ({
      ...point,
      ...pairOf(scale, { dataset: "default", trees: point.ours, keyBits: scale.keyBits }),
    })),
  };
}

export function roundsOutcome(scale: Scale, trials: MeasuredTrials): ExperimentOutcome {
  return sweepOutcome("Varying numbers of trees", "sec. IV-D", roundsSweep(scale), trials);
}
