/** Varying numbers of training rows: the paper's sec. IV-C, Table III and Fig. 6. The test rows stay the same. */
import type { MeasuredTrials } from "../trials/measured-trials.ts";
import type { ExperimentOutcome } from "./outcome.ts";
import type { Scale } from "./scale.ts";
import { pairOf, type Sweep } from "./sweep.ts";
import { sweepOutcome } from "./sweep-outcome.ts";

export function samplesSweep(scale: Scale): Sweep {
  const job = { dataset: "giveme", trees: scale.trees, keyBits: scale.keyBits } as const;
  return {
    name: "samples",
    axis: "training rows",
    variety: "numbers of training rows",
    tableReference: "Table III",
    figureReference: "Fig. 6",
    dataset: "giveme",
    points: scale.samples.map((point) => ({ ...point, ...pairOf(scale, { ...job, trainRows: point.ours }) })),
  };
}

export function samplesOutcome(scale: Scale, trials: MeasuredTrials): ExperimentOutcome {
  return sweepOutcome("Varying numbers of training rows", "sec. IV-C", samplesSweep(scale), trials);
}
