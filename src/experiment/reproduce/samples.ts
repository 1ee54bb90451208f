/** Varying numbers of training rows: the paper's sec. IV-C, Table III and Fig. 6. The test rows stay the same. */
import type { MeasuredCells } from "./measured-cells.ts";
import type { ExperimentOutcome } from "./outcome.ts";
import type { Scale } from "./scale.ts";
import { accuracyTable, pairOf, type Sweep, sweepResults, timeFigure, timeTable } from "./sweep.ts";
import { sweepParagraph } from "./sweep-words.ts";

export function samplesSweep(scale: Scale): Sweep {
  const job = { dataset: "giveme", trees: scale.trees, keyBits: scale.keyBits } as const;
  return {
    name: "samples",
    axis: "training rows",
    variety: "numbers of training rows",
    tableReference: "Table III",
    figureReference: "Fig. 6",
    dataset: "giveme",
    points: scale.samples.map((point) => ({ ...point, ...pairOf(scale, { ...job, trainRows: point.run }) })),
  };
}

export function samplesOutcome(scale: Scale, cells: MeasuredCells): ExperimentOutcome {
  const sweep = samplesSweep(scale);
  const results = sweepResults(sweep, cells);
  return {
    name: "samples",
    title: "Varying numbers of training rows",
    reference: "sec. IV-C, Table III, Fig. 6",
    paragraph: sweepParagraph(sweep, results),
    tables: [accuracyTable(sweep, results), timeTable(sweep, results)],
    figures: [timeFigure(sweep, results)],
  };
}
